# SPDX-License-Identifier: BSD-3-Clause
"""Large arrays that boot code allocates in one piece, hash tables above all: kernel-types.toml says which pointers lead there."""

import re
from collections.abc import Iterable, Iterator

import drgn

from analysis.attribute.areas import Area
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import Kind


def evaluate(kernel: GuestKernel, expression: str) -> drgn.Object:
    """The object an expression of kernel-types.toml names: ``tcp_hashinfo.ehash``, ``node_data[3]``.

    Raises:
        LookupError: the kernel has no such variable or member, or a pointer on the way is null.
        drgn.FaultError: a pointer on the way leads to memory that is not mapped.
    """
    name, *rest = re.findall(r"\w+|\[\d+\]", expression)
    value = kernel.program.variable(name)
    for part in rest:
        if value.type_.kind == drgn.TypeKind.POINTER and not value.value_():
            raise LookupError(f"{expression}: null before {part}")
        value = value[int(part[1:-1])] if part.startswith("[") else value.member_(part)
    return value


def boot_arrays(kernel: GuestKernel, entries: Iterable[dict[str, str]]) -> Iterator[Area]:
    """The arrays of kernel-types.toml that this kernel has."""
    seen: set[int] = set()
    for entry in entries:
        for pointer in _expand(kernel, entry["pointer"]):
            try:
                value = evaluate(kernel, pointer)
                if "since" in entry and entry["since"] not in str(value.type_):
                    continue
                address, element = value.value_(), value.type_.type
                count = _count(kernel, entry)
                size = drgn.sizeof(element)
            except (LookupError, TypeError, ValueError, AttributeError):
                continue  # not of this kernel
            except drgn.FaultError:
                kernel.walks.give_up("boot arrays")
                continue
            if address and address not in seen and 0 < count < 1 << 32:
                seen.add(address)
                while element.kind == drgn.TypeKind.TYPEDEF and element.type.kind != drgn.TypeKind.INT:
                    element = element.type
                yield Area(address, address + count * size, Kind.BOOT, pointer, element.type_name())


def _expand(kernel: GuestKernel, pointer: str) -> list[str]:
    """``node_data[]`` -> one expression per element of the array."""
    if not pointer.endswith("[]"):
        return [pointer]
    try:
        length = kernel.program.variable(pointer[:-2]).type_.length or 0
    except LookupError:
        return []
    return [f"{pointer[:-2]}[{index}]" for index in range(length)]


def _count(kernel: GuestKernel, entry: dict[str, str]) -> int:
    if "mask" in entry:
        return int(evaluate(kernel, entry["mask"])) + 1
    if "shift" in entry:
        return 1 << int(evaluate(kernel, entry["shift"]))
    if "right_shift" in entry:
        return 1 << (32 - int(evaluate(kernel, entry["right_shift"])))
    return int(entry["count"]) if entry["count"].isdigit() else int(evaluate(kernel, entry["count"]))
