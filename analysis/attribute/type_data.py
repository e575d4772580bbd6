# SPDX-License-Identifier: BSD-3-Clause
"""kernel-types.toml: what the kernel's debug information does not say."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_DATA = Path(__file__).with_name("kernel-types.toml")


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


def load_type_data(path: Path = _DATA) -> TypeData:
    """Read kernel-types.toml."""
    with open(path, "rb") as handle:
        data: dict[str, Any] = tomllib.load(handle)
    caches = {name: [types] if isinstance(types, str) else list(types) for name, types in data["caches"].items()}
    leaves, bases = frozenset(data["leaf"]["types"]), frozenset(data["base"]["types"])
    return TypeData(caches, leaves, bases, data["array"], data["instance"], data["buffer"], frozenset(data["union"]["preferred"]))
