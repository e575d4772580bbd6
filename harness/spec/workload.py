# SPDX-License-Identifier: BSD-3-Clause
"""Workloads: what runs in the guest, as ``workloads/<application>/workload.toml`` states it, and what a user asks of it.

A user writes ``application[:variant][:key=value,...]``, for example ``micro:ping-pong:a=0,b=47``; the variant may be left out
(``micro:iterations=100``), then it is the application's default one. ``size=NAME`` stands for the parameters of one of its sizes.
A folder that lies anywhere else is written as its path: ``./mine:plain``. `parse` resolves that to a `Job` with every parameter
filled in.
"""

import difflib
import re
import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from common.once import remembered
from common.outcome import Failure, bad_input
from common.paths import WORKLOADS, given_path
from harness.spec import workload_folder
from harness.spec.machine_schema import schema

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_KEY = re.compile(r"[a-z0-9][a-z0-9_]*")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NOTHING: Mapping[str, str] = MappingProxyType({})
_SIZE = "size"
_DEFAULT_SIZE = "default"
CORES = "cores"
"""In `Workload.grows_with`: the number of cores."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: a whole number from ``low`` to ``high``, or, when ``values`` is not empty, one of them."""

    name: str
    summary: str
    default: str
    low: int = 0
    high: int = 0
    multiple: int = 1
    """The number must be a multiple of this."""
    values: tuple[str, ...] = ()
    every_variant: bool = False
    """Every variant has it, whether it lists it or not."""
    core_index: bool = False
    """The number is an index into the online cores: the job needs more cores than it."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Of values that need it: the part of the machine (machines/schema.toml) that engine and kernel must have."""
    otherwise: str = ""
    """The default where the part that `default` needs is lacking; empty if there is none."""

    @property
    def allowed(self) -> str:
        """What it can be, for messages and listings."""
        if self.values:
            return "one of " + ", ".join(self.values)
        multiple = f", a multiple of {self.multiple}" if self.multiple > 1 else ""
        return f"a whole number from {self.low} to {self.high}{multiple}"

    def default_without(self, lacking: Container[str]) -> str:
        """The default where these parts are lacking."""
        return self.otherwise if self.otherwise and self.needs.get(self.default) in lacking else self.default

    def read(self, text: str) -> str:
        """``text`` in its one spelling.

        Raises:
            ValueError: it is not allowed.
        """
        if self.values:
            if text not in self.values:
                raise ValueError(text)
            return text
        if not _WHOLE.fullmatch(text) or not self.low <= int(text) <= self.high or int(text) % self.multiple:
            raise ValueError(text)
        return str(int(text))


@dataclass(frozen=True)
class Variant:
    """One variant of a workload, with the parameters it takes (defaults are the variant's own where it states some)."""

    name: str
    summary: str
    unit: str
    """What one unit of work is: a plural noun."""
    needs_cores_min: int
    parameters: Mapping[str, Parameter]
    distinct: tuple[str, ...] = ()
    """Parameters of which no two may be equal."""


@dataclass(frozen=True)
class Size:
    """Parameters that go together under one name; what is not among them has its default."""

    name: str
    summary: str
    parameters: Mapping[str, str]
    """A variant takes those that it has."""
    machine: Mapping[str, str]
    """Keys of the machine that a point of this size has where it does not set them itself."""
    workload: str = ""
    """Another workload, whose size of this name is meant; empty: its own."""


@dataclass(frozen=True)
class Workload:
    """One application as its workload.toml states it."""

    name: str
    """As the guest knows it."""
    summary: str
    default_variant: str
    variants: Mapping[str, Variant]
    packages: tuple[str, ...]
    """Debian packages of the image that it needs."""
    smallest: Mapping[str, str]
    """Parameters of its smallest size that are not at their lower bound, see `smallest`."""
    folder: Path
    work: str = ""
    """The parameter in proportion to which its region is work; empty where there is none."""
    grows_with: tuple[str, ...] = ()
    """What a run's time on the host is about in proportion to: whole-number parameters and `CORES`."""
    flags: tuple[str, ...] = ()
    """Of the compiler, after ours."""
    content: str = ""
    """Of a folder that is not one of workloads/: digits that stand for its files."""
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """By name. `default` is not among them: it is what the parameters' defaults say."""
    disk_parameters: tuple[str, ...] = ()
    """Parameters of which the workload's disk is made, see `on_disk`."""
    disk_where: Mapping[str, str] = field(default_factory=dict)
    """The values that parameters have where it is."""

    def on_disk(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """Those of a job's ``parameters`` of which its disk is made; where it has the same disk as others, none."""
        if any(parameters.get(key) != value for key, value in self.disk_where.items()):
            return {}
        return {key: parameters[key] for key in self.disk_parameters if key in parameters}

    @property
    def label(self) -> str:
        """How points and tables name it: ``micro``, or of another folder ``mine@`` and its content."""
        return f"{self.name}@{self.content}" if self.content else self.name


@dataclass(frozen=True)
class Job:
    """A workload with variant and parameters resolved: what one run does."""

    workload: Workload
    variant_definition: Variant
    parameters: Mapping[str, str]
    """Every parameter of the variant, defaults included, in the order of names."""
    machine: Mapping[str, str] = field(default_factory=dict)
    """See `Size.machine`."""

    @property
    def name(self) -> str:
        """See `Workload.label`."""
        return self.workload.label

    @property
    def variant(self) -> str:
        return self.variant_definition.name

    @property
    def unit(self) -> str:
        return self.variant_definition.unit

    @property
    def needs_cores_min(self) -> int:
        """Cores without which it cannot run: the variant's number, and one more than the largest index of a core."""
        known = self.variant_definition.parameters
        indexes = [int(value) + 1 for key, value in self.parameters.items() if known[key].core_index]
        return max([self.variant_definition.needs_cores_min, *indexes])

    def job(self) -> str:
        """The value of ``mosbench.job=`` on the kernel's command line."""
        return f"{self.workload.name}:{self.variant}:" + ",".join(f"{key}={value}" for key, value in self.parameters.items())

    def environment(self, cores: Sequence[int]) -> dict[str, str]:
        """What the guest's init puts into the environment of the run script, for online CPUs ``cores``."""
        fixed = {
            "MOSBENCH_WORKLOAD": self.workload.name,
            "MOSBENCH_VARIANT": self.variant,
            "MOSBENCH_CORES": " ".join(map(str, cores)),
            "MOSBENCH_NCORES": str(len(cores)),
        }
        return fixed | {f"P_{key.upper()}": value for key, value in self.parameters.items()}


def is_name(text: str) -> bool:
    """Whether a workload or a variant may be called that."""
    return bool(_NAME.fullmatch(text))


def names() -> list[str]:
    """Names of all workloads, sorted."""
    return sorted(path.parent.name for path in WORKLOADS.glob("*/workload.toml"))


def load_all() -> list[Workload]:
    """All workloads, sorted by name."""
    return [load(name) for name in names()]


@remembered
def load(name: str) -> Workload:
    """The workload of that name in workloads/, or the one in the folder of that path.

    Raises:
        Failure: bad-input, when there is none or one of its files is wrong; the sentence names what is known.
    """
    if workload_folder.is_folder_name(name):
        folder = given_path(name).resolve()
        workload_folder.check(folder)
        # One of ours is itself, however it is written.
        content = "" if folder.parent == WORKLOADS else workload_folder.content(folder)
        return load_file(folder / workload_folder.DEFINITION, content)
    known = names()
    if name not in known:
        raise _unknown("workload", name, known)
    return load_file(WORKLOADS / name / workload_folder.DEFINITION)


def load_labelled(label: str, folder: str) -> Workload:
    """The workload that a point names by `Workload.label`, with the path of its folder where it is not one of workloads/.

    Raises:
        Failure: bad-input, when it is not there, or no longer what it was when the point was made.
    """
    found = load(folder or label)
    if found.label != label:
        raise bad_input(
            f"The point is of the workload {label}, and the folder {folder} is {found.label} now.",
            "Write the point again: it is another one with the folder as it is.",
        )
    return found


@cache
def load_file(path: Path, content: str = "") -> Workload:
    """Read one workload.toml (with packages.txt and flags.txt beside it); ``content`` is that of the `Workload`.

    Raises:
        Failure: bad-input, naming file and key.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise bad_input(f"{path} cannot be read as TOML: {error}.", "Correct the file.") from error
    return _Reader(path).workload(data, content)


def parse(text: str, lacking: Mapping[str, str] = _NOTHING) -> Job:
    """Resolve ``application[:variant][:key=value,...]``; ``lacking`` as `check_parts` takes it.

    Raises:
        Failure: bad-input, one sentence naming what is known or allowed.
    """
    name, _, rest = text.partition(":")
    workload = load(name)
    first, _, settings = rest.partition(":")
    if "=" in first:
        if settings:
            raise bad_input(
                f"The workload {text!r} has something after its parameters.", "Write application[:variant][:key=value,...]."
            )
        first, settings = "", first
    variant_name = first or workload.default_variant
    if variant_name not in workload.variants:
        raise _unknown(f"variant of {name}", variant_name, workload.variants)
    variant = workload.variants[variant_name]
    values = {key: parameter.default_without(lacking) for key, parameter in variant.parameters.items()}
    given = _settings(text, settings)
    size = None if _SIZE in variant.parameters else _size(workload, given.pop(_SIZE, _DEFAULT_SIZE))
    if size is not None and size.workload:
        return parse(
            f"{size.workload}:" + ",".join(f"{key}={value}" for key, value in ({_SIZE: size.name} | given).items()), lacking
        )
    if size is not None:
        values |= {key: value for key, value in size.parameters.items() if key in values}
    for key, value in given.items():
        parameter = variant.parameters.get(key)
        if parameter is None:
            raise _unknown(f"parameter of {name}:{variant_name}", key, variant.parameters)
        try:
            values[key] = parameter.read(value)
        except ValueError:
            raise bad_input(f"{name}:{variant_name} cannot have {key}={value}.", f"{key} is {parameter.allowed}.") from None
    for i, one in enumerate(variant.distinct):
        for other in variant.distinct[i + 1 :]:
            if values[one] == values[other]:
                raise bad_input(
                    f"{name}:{variant_name} cannot have {one} and {other} both {values[one]}.",
                    f"Give {one} and {other} different values.",
                )
    check_parts(name, variant, values, lacking)
    return Job(workload, variant, dict(sorted(values.items())), {} if size is None else size.machine)


def _size(workload: Workload, name: str) -> Size | None:
    if name == _DEFAULT_SIZE:
        return None
    if name not in workload.sizes:
        raise _unknown(f"size of {workload.name}", name, (_DEFAULT_SIZE, *workload.sizes))
    return workload.sizes[name]


def at_size(text: str, size: str, others: Mapping[str, str] = MappingProxyType({})) -> str:
    """A workload's text with this size in place of its own, as it is where the workload has no such size.

    What it gives beside the size stays, but for ``others``, and goes before what the size says; not so where the size is another
    workload's.

    Raises:
        Failure: bad-input, as `parse`.
    """
    job = parse(text)
    if size not in job.workload.sizes:
        return text
    if other := job.workload.sizes[size].workload:
        return f"{other}:{_SIZE}={size}"
    name, _, rest = text.partition(":")
    first, _, settings = rest.partition(":")
    settings = first if "=" in first else settings
    given = _settings(text, settings) | dict(others) | {_SIZE: size}
    return f"{name}:{job.variant}:" + ",".join(f"{key}={value}" for key, value in given.items())


def check_parts(name: str, variant: Variant, values: Mapping[str, str], lacking: Mapping[str, str]) -> None:
    """Refuse values of parameters that need a part of the machine which is ``lacking``: part -> who has none, for people.

    Raises:
        Failure: bad-input, naming the value and who lacks what it needs.
    """
    for key, parameter in variant.parameters.items():
        part = parameter.needs.get(values[key], "")
        if part in lacking:
            raise bad_input(
                f"{name}:{variant.name} with {key}={values[key]} needs a {part}, which {lacking[part]} does not have.",
                f"Give {key}={parameter.otherwise}." if parameter.otherwise else "Use another engine or kernel.",
            )


def smallest(name: str, variant: str = "", **more: str) -> str:
    """The text of a workload (default: its default variant) at its smallest size, for cycle-level engines and quick checks.

    Every whole number is at its lower bound, except what the workload's table ``smallest`` states. ``more`` are others.
    """
    workload = load(name)
    chosen = workload.variants[variant or workload.default_variant]
    values = {key: str(parameter.low) for key, parameter in chosen.parameters.items() if not parameter.values}
    values |= {key: value for key, value in workload.smallest.items() if key in chosen.parameters} | more
    return f"{name}:{chosen.name}:" + ",".join(f"{key}={value}" for key, value in sorted(values.items()))


def _settings(text: str, settings: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for setting in filter(None, settings.split(",")):
        key, equals, value = setting.partition("=")
        if not equals or not key or not value:
            raise bad_input(
                f"{setting!r} in the workload {text!r} is not key=value.", "Write application[:variant][:key=value,...]."
            )
        if key in given:
            raise bad_input(f"The workload {text!r} gives {key} twice.", f"Give {key} once.")
        given[key] = value
    return given


def _unknown(what: str, name: str, known: Iterable[str]) -> Failure:
    all_known = sorted(known)
    close = difflib.get_close_matches(name, all_known, 1)
    cure = f"Did you mean {close[0]}? " if close else ""
    return bad_input(f"There is no {what} called {name!r}.", cure + f"Known: {', '.join(all_known) or 'none'}.")


class _Reader:
    """Turns the contents of one workload.toml into a `Workload`, naming the file and the key in what it finds wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _wrong(self, key: str, why: str) -> Failure:
        return bad_input(f"{self._path}: {key} {why}.", "Correct the file.")

    def _take(self, table: dict[str, Any], where: str, key: str, kind: type, default: Any = None) -> Any:
        value = table.pop(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self._wrong(f"{where}{key}", "is missing" if value is None else f"is not of type {kind.__name__}")
        return value

    def _end(self, table: Mapping[str, Any], where: str) -> None:
        if table:
            raise self._wrong(f"{where}{min(table)}", "is not a key that is known there")

    def workload(self, data: dict[str, Any], content: str) -> Workload:
        name = self._take(data, "", "name", str)
        if name != self._path.parent.name or not is_name(name):
            raise self._wrong(
                "name", f"is not the folder's, {self._path.parent.name}, or not lower-case letters, digits and hyphens"
            )
        summary = self._take(data, "", "summary", str)
        unit = self._take(data, "", "unit", str)
        needs = self._take(data, "", "needs_cores_min", int, 1)
        tables = self._take(data, "", "parameters", dict, {})
        parameters = {key: self._parameter(key, self._take(tables, "parameters.", key, dict)) for key in list(tables)}
        tables = self._take(data, "", "variants", dict)
        variants = {
            key: self._variant(key, self._take(tables, "variants.", key, dict), unit, needs, parameters) for key in list(tables)
        }
        default = self._take(data, "", "default_variant", str)
        if default not in variants:
            raise self._wrong("default_variant", "is not one of the variants")
        smallest = {key: str(value) for key, value in self._take(data, "", "smallest", dict, {}).items()}
        for key, value in smallest.items():
            if key not in parameters:
                raise self._wrong(f"smallest.{key}", "is no parameter")
            self._check_default(parameters[key], value, f"smallest.{key}")
        tables = self._take(data, "", "sizes", dict, {})
        sizes = {key: self._size(key, self._take(tables, "sizes.", key, dict), parameters) for key in list(tables)}
        work = self._take(data, "", "work", str, "")
        if work and any(work not in one.parameters or one.parameters[work].values for one in variants.values()):
            raise self._wrong("work", f"is {work}, which is not a whole number that every variant takes")
        grows_with = tuple(self._take(data, "", "grows_with", list, []))
        for key in grows_with:
            if key != CORES and (key not in parameters or parameters[key].values):
                raise self._wrong("grows_with", f"has {key}, which is neither {CORES} nor a whole-number parameter")
        disk = dict(self._take(data, "", "disk", dict, {}))
        disk_parameters = tuple(self._take(disk, "disk.", "parameters", list, []))
        disk_where = {key: str(value) for key, value in self._take(disk, "disk.", "where", dict, {}).items()}
        self._end(disk, "disk.")
        for key in (*disk_parameters, *disk_where):
            if key not in parameters:
                raise self._wrong("disk", f"speaks of {key}, which is no parameter")
        for key, value in disk_where.items():
            self._check_default(parameters[key], value, f"disk.where.{key}")
        self._end(data, "")
        packages = workload_folder.package_names(self._path.with_name("packages.txt"))
        flags = workload_folder.compiler_flags(self._path.with_name("flags.txt"))
        return Workload(
            name=name,
            summary=summary,
            default_variant=default,
            variants=variants,
            packages=packages,
            smallest=smallest,
            folder=self._path.parent,
            work=work,
            grows_with=grows_with,
            flags=flags,
            content=content,
            sizes=sizes,
            disk_parameters=disk_parameters,
            disk_where=disk_where,
        )

    def _size(self, name: str, table: dict[str, Any], known: Mapping[str, Parameter]) -> Size:
        where = f"sizes.{name}."
        table = dict(table)
        if not is_name(name) or name == _DEFAULT_SIZE or _SIZE in known:
            raise self._wrong(
                where.rstrip("."), f"is not lower-case letters, is {_DEFAULT_SIZE}, or there is a parameter {_SIZE}"
            )
        summary = self._take(table, where, "summary", str)
        changes = {key: str(value) for key, value in self._take(table, where, "machine", dict, {}).items()}
        other = self._take(table, where, "workload", str, "")
        if other and table:
            raise self._wrong(where.rstrip("."), f"is that of {other}, and so has no parameters")
        if unknown := sorted(changes.keys() - schema().keys):
            raise self._wrong(f"{where}machine.{unknown[0]}", "is no key of a machine")
        for key, value in table.items():
            if key not in known:
                raise self._wrong(f"{where}{key}", "is no parameter")
            self._check_default(known[key], str(value), f"{where}{key}")
        return Size(name, summary, {key: str(value) for key, value in table.items()}, changes, other)

    def _parameter(self, name: str, table: dict[str, Any]) -> Parameter:
        where = f"parameters.{name}."
        table = dict(table)
        if not _KEY.fullmatch(name):
            raise self._wrong(where.rstrip("."), "is not lower-case letters, digits and underscores")
        values = self._take(table, where, "values", list, [])
        numbers = {} if values else {"low": self._take(table, where, "min", int), "high": self._take(table, where, "max", int)}
        parameter = Parameter(
            name=name,
            summary=self._take(table, where, "summary", str),
            default=str(self._take(table, where, "default", str if values else int)),
            multiple=self._take(table, where, "multiple", int, 1),
            values=tuple(map(str, values)),
            every_variant=self._take(table, where, "every_variant", bool, False),
            core_index=self._take(table, where, "core_index", bool, False),
            needs=self._take(table, where, "needs", dict, {}),
            otherwise=self._take(table, where, "otherwise", str, ""),
            **numbers,
        )
        self._end(table, where)
        self._check_default(parameter, parameter.default, where + "default")
        for value, part in parameter.needs.items():
            self._check_default(parameter, value, f"{where}needs.{value}")
            if part not in schema().parts:
                raise self._wrong(f"{where}needs.{value}", f"is {part}, which is no part of a machine")
        if parameter.otherwise:
            self._check_default(parameter, parameter.otherwise, where + "otherwise")
            if parameter.default not in parameter.needs or parameter.otherwise in parameter.needs:
                raise self._wrong(where + "otherwise", "is there for a default that needs something, and needs nothing itself")
        return parameter

    def _check_default(self, parameter: Parameter, value: str, key: str) -> None:
        try:
            parameter.read(value)
        except ValueError:
            raise self._wrong(key, f"is {value}, not {parameter.allowed}") from None

    def _variant(self, name: str, table: dict[str, Any], unit: str, needs: int, known: Mapping[str, Parameter]) -> Variant:
        where = f"variants.{name}."
        table = dict(table)
        if not is_name(name):
            raise self._wrong(where.rstrip("."), "is not lower-case letters, digits and hyphens")
        listed = self._take(table, where, "parameters", list, list(known))
        defaults = self._take(table, where, "defaults", dict, {})
        distinct = self._take(table, where, "distinct", list, [])
        takes = [key for key in known if known[key].every_variant or key in listed]
        for key in [*listed, *defaults, *distinct]:
            if key not in (known if key in listed else takes):
                raise self._wrong(where.rstrip("."), f"speaks of {key}, which is no parameter of it")
        for key, value in defaults.items():
            self._check_default(known[key], str(value), f"{where}defaults.{key}")
        variant = Variant(
            name=name,
            summary=self._take(table, where, "summary", str),
            unit=self._take(table, where, "unit", str, unit),
            needs_cores_min=self._take(table, where, "needs_cores_min", int, needs),
            parameters={key: _with_default(known[key], defaults.get(key)) for key in takes},
            distinct=tuple(distinct),
        )
        self._end(table, where)
        return variant


def _with_default(parameter: Parameter, default: object) -> Parameter:
    if default is None:
        return parameter
    return replace(parameter, default=str(default))


def listed(text: str) -> list[str]:
    """Workloads separated by commas, where a workload's own parameters may have commas: "micro:stat:a=1,b=2,memcached"."""
    out: list[str] = []
    for piece in filter(None, text.split(",")):
        if "=" in piece and ":" not in piece and out and "=" in out[-1]:
            out[-1] += f",{piece}"
        else:
            out.append(piece)
    return out
