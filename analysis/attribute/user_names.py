# SPDX-License-Identifier: BSD-3-Clause
"""Names of the application's own code and static data: user address -> process -> mapped file -> function or variable.

Addresses of user code are those of all processes together: which one was there is not recorded. Where several have different code
at an address, only those count that have its page in memory; what is left is named by all, `a | b`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol

import numpy as np
import numpy.typing as npt

from analysis.attribute.hashing import distinct
from analysis.attribute.processes import USER_END, Mapping, Process
from analysis.attribute.source_lines import USER, CodeMap, Frame, Site
from analysis.attribute.subjects import USER_MEMORY
from analysis.attribute.user_module import UserModule

Files = Callable[[str], Path | None]
"""Absolute path of a file on the workload's disk -> a copy on this host; None if there is none."""
_DISK = "ext2"  # the file system of the workload's disk
_MOST_NAMES = 3


class UserNames:
    """Resolves user addresses of ``processes``, which are found when they are first needed."""

    def __init__(self, processes: Callable[[], Sequence[Process]], files: Files) -> None:
        self._find = processes
        self._files = files
        self._modules: dict[tuple[str, str], UserModule] = {}
        self._sites: dict[int, Site] = {}
        self._data: dict[int, str | None] = {}

    @cached_property
    def _processes(self) -> Sequence[Process]:
        return self._find()

    @cached_property
    def _by_code(self) -> Sequence[Sequence[Process]]:
        """Processes that have the same code at the same places, together: a server may have forked hundreds."""
        alike = defaultdict[tuple[Mapping, ...], list[Process]](list)
        for process in self._processes:
            alike[tuple(mapping for mapping in process.mappings if mapping.is_code and mapping.file)].append(process)
        return list(alike.values())

    def _module(self, mapping: Mapping) -> UserModule:
        key = (mapping.file_system, mapping.file)
        if key not in self._modules:
            file = self._files(mapping.file) if mapping.file_system == _DISK else None
            self._modules[key] = UserModule(PurePosixPath(mapping.file).name, file)
        return self._modules[key]

    def sites(self, counters: Iterable[int]) -> dict[int, Site]:
        """The site of each program counter of user code; `USER` where no process that is alive has code there."""
        return {counter: self._site(counter) for counter in counters}

    def _site(self, counter: int) -> Site:
        if counter not in self._sites:
            self._sites[counter] = self._joined(counter) if 0 < counter < USER_END else USER
        return self._sites[counter]

    def _joined(self, counter: int) -> Site:
        places: dict[tuple[str, int], tuple[Mapping, bool]] = {}
        for alike in self._by_code:
            mapping = alike[0].at(counter)
            if mapping is None or not mapping.is_code or not mapping.file:
                continue
            key = (mapping.file, counter - mapping.start + mapping.offset)
            _, in_memory = places.get(key, (mapping, False))
            places[key] = (mapping, in_memory or any(process.has_page(counter) for process in alike))
        some_in_memory = any(in_memory for _, in_memory in places.values())
        chosen = {key: mapping for key, (mapping, in_memory) in places.items() if in_memory or not some_in_memory}
        found: dict[str, Site] = {}
        for (_, offset), mapping in sorted(chosen.items(), key=lambda item: item[0]):
            module = self._module(mapping)
            site = module.code(module.address(offset), offset)
            found.setdefault(site.function, site)
        if not found:
            return USER
        if len(found) == 1:
            return next(iter(found.values()))
        names = list(found)
        return Site((Frame(" | ".join(names[:_MOST_NAMES]) + (" | ..." if len(names) > _MOST_NAMES else ""), "", 0),))

    def variable(self, address: int) -> str | None:
        """``counter (a.out)`` for an address in static data of a file that a process has mapped there; None for other memory."""
        if address not in self._data:
            names = {name for process in self._processes if (name := self._variable(process, address)) is not None}
            self._data[address] = " | ".join(sorted(names)) or None
        return self._data[address]

    def _variable(self, process: Process, address: int) -> str | None:
        first = process.first_of_file(address)
        if first is None:
            return None
        module = self._module(first)
        bias = module.bias(first.start)
        name = None if bias is None else module.variable(address - bias)
        return None if name is None else f"{name} ({module.name})"


class Code:
    """Program counters of kernel and application -> sites."""

    def __init__(self, kernel: CodeMap, user: UserNames) -> None:
        self._kernel = kernel
        self._user = user

    def sites(self, counters: Sequence[int]) -> list[Site]:
        """The site of each; 0 is user code of which nothing is known."""
        in_kernel = self._kernel.resolve(counter for counter in counters if counter >= USER_END)
        in_user = self._user.sites(counter for counter in counters if counter < USER_END)
        return [in_kernel[counter] if counter >= USER_END else in_user[counter] for counter in counters]


class Labels(Protocol):
    """Labels of rows: distinct texts, and the number of each row's."""

    texts: list[str]
    codes: npt.NDArray[np.int64]
    typed: list[bool]


def name_user_data(labels: Labels, virtual: npt.NDArray[np.uint64], user: UserNames) -> None:
    """Put the variable's name behind the label of user memory that is static data: ``user memory: counter (a.out)``.

    ``virtual`` is the address of each row, 0 where it is not known.
    """
    if USER_MEMORY not in labels.texts:
        return
    rows = np.nonzero((labels.codes == labels.texts.index(USER_MEMORY)) & (virtual != 0) & (virtual < USER_END))[0]
    addresses, inverse = distinct(virtual[rows])
    numbers = {text: number for number, text in enumerate(labels.texts)}
    found = labels.codes[rows]
    for place, address in enumerate(addresses.tolist()):
        if (name := user.variable(address)) is not None:
            number = numbers.setdefault(f"{USER_MEMORY}: {name}", len(numbers))
            found[inverse == place] = number
    labels.codes[rows] = found
    labels.typed += [False] * (len(numbers) - len(labels.texts))
    labels.texts = list(numbers)
