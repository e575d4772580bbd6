# SPDX-License-Identifier: BSD-3-Clause
"""kernel-types.toml: what the kernel's debug information does not say."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("kernel-types.toml")


@dataclass(frozen=True)
class UntypedPointer:
    """A member declared ``void *``: ``member`` and ``told_by`` are paths, of which the first that a kernel has counts;
    ``points_at`` is what ``told_by`` says -> types, of which the first that a kernel has counts. The objects are those of the
    list ``list``, linked by ``link``, or without one those of the type's slab caches."""

    type_name: str
    member: tuple[str, ...]
    told_by: tuple[str, ...]
    points_at: dict[str, tuple[str, ...]]
    list: str = ""
    link: str = ""


@dataclass(frozen=True)
class Ring:
    """An array of pointers to rings in a driver's private data, and members of a ring; kernel-types.toml has the meanings."""

    rings: str
    number: str
    descriptors: str
    descriptor: str
    buffers: str
    page: str = ""


@dataclass(frozen=True)
class NetworkDevice:
    """A network driver: the variable with its ``net_device_ops``, the type of its private data, arrays of pointers to objects in
    that, and its rings."""

    operations: str
    private: str
    objects: tuple[str, ...]
    rings: tuple[Ring, ...]


@dataclass(frozen=True)
class TypeData:
    """The contents of kernel-types.toml."""

    caches: dict[str, list[str]]
    leaves: frozenset[str]
    bases: frozenset[str] = frozenset()
    arrays: list[dict[str, str]] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)
    buffers: list[dict[str, str]] = field(default_factory=list)
    preferred: frozenset[str] = frozenset()
    pointers: tuple[UntypedPointer, ...] = ()
    network_devices: tuple[NetworkDevice, ...] = ()


def load_type_data(path: Path = _DATA) -> TypeData:
    """Read kernel-types.toml."""
    with open(path, "rb") as handle:
        data: dict[str, Any] = tomllib.load(handle)
    return TypeData(
        caches={name: list(_several(types)) for name, types in data["caches"].items()},
        leaves=frozenset(data["leaf"]["types"]),
        bases=frozenset(data["base"]["types"]),
        arrays=data["array"],
        instances=data["instance"],
        buffers=data["buffer"],
        preferred=frozenset(data["union"]["preferred"]),
        pointers=tuple(map(_pointer, data["pointer"])),
        network_devices=tuple(map(_network_device, data["network_device"])),
    )


def _pointer(entry: dict[str, Any]) -> UntypedPointer:
    return UntypedPointer(
        type_name=entry["type"],
        member=_several(entry["member"]),
        told_by=_several(entry["told_by"]),
        points_at={word: _several(types) for word, types in entry["points_at"].items()},
        list=entry.get("list", ""),
        link=entry.get("link", ""),
    )


def _network_device(entry: dict[str, Any]) -> NetworkDevice:
    rings = tuple(Ring(**ring) for ring in entry["ring"])
    return NetworkDevice(entry["operations"], entry["private"], _several(entry["objects"]), rings)


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
