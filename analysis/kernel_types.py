# SPDX-License-Identifier: BSD-3-Clause
"""Field of a C type at a byte offset, and the type that lives in a slab cache."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import drgn

_DATA = Path(__file__).with_name("kernel-types.toml")


@dataclass(frozen=True)
class TypeData:
    """The contents of kernel-types.toml."""

    caches: dict[str, list[str]]
    leaves: frozenset[str]
    bases: frozenset[str] = frozenset()
    arrays: list[dict[str, str]] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)


def load_type_data(path: Path = _DATA) -> TypeData:
    """Read kernel-types.toml."""
    with open(path, "rb") as handle:
        data: dict[str, Any] = tomllib.load(handle)
    caches = {name: [types] if isinstance(types, str) else list(types) for name, types in data["caches"].items()}
    leaves, bases = frozenset(data["leaf"]["types"]), frozenset(data["base"]["types"])
    return TypeData(caches, leaves, bases, data["array"], data["instance"])


def short_name(type_name: str) -> str:
    """``struct dentry`` -> ``dentry``: how a type is named in a label."""
    for keyword in ("struct ", "union ", "enum "):
        if type_name.startswith(keyword):
            return type_name[len(keyword) :]
    return type_name


class Fields:
    """Field paths within types; every (type, offset) is resolved once."""

    def __init__(self, program: drgn.Program, data: TypeData) -> None:
        self._program = program
        self._data = data
        self._types: dict[str, drgn.Type | None] = {}
        self._paths: dict[tuple[str, int], str | None] = {}
        self._canonical: dict[tuple[str, int], tuple[str, int]] = {}

    def type(self, name: str) -> drgn.Type | None:
        """The type called ``name``, or None where the debug information lacks it."""
        if name not in self._types:
            try:
                self._types[name] = self._program.type(name)
            except (LookupError, SyntaxError):
                self._types[name] = None
        return self._types[name]

    def register(self, name: str, kind: drgn.Type) -> str:
        """Make ``kind``, a type without a name of its own such as a variable's array, known as ``name``; returns ``name``."""
        self._types[name] = kind
        return name

    def spelling(self, name: str) -> str:
        """How C spells the type that is known here as ``name``."""
        kind = self.type(name)
        return name if kind is None or not name.startswith("typeof(") else kind.type_name()

    def offset_of_base(self, type_name: str, base: str) -> int | None:
        """Where in ``type_name`` the first member of type ``base`` is embedded, at any depth; None if there is none."""
        kind = self.type(type_name)
        return None if kind is None else _find_embedded(kind, base)

    def canonical(self, type_name: str, offset: int) -> tuple[str, int]:
        """The innermost base type (kernel-types.toml) around the byte, and the offset in it.

        A ``struct ext2_inode_info`` begins with members of its own and embeds a ``struct inode``: byte 96 may be
        ``inode.i_lock`` at 88, the name that is the same for every file system.
        """
        key = (type_name, offset)
        if key not in self._canonical:
            kind = self.type(type_name)
            found = None if kind is None else self._innermost_base(kind, offset)
            self._canonical[key] = found or key
        return self._canonical[key]

    def _innermost_base(self, kind: drgn.Type, offset: int) -> tuple[str, int] | None:
        plain = _untypedef(kind)
        if plain.kind == drgn.TypeKind.ARRAY and _size(plain.type):
            return self._innermost_base(plain.type, offset % _size(plain.type))
        if plain.kind not in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) or not plain.is_complete():
            return None
        here = (_full_name(plain), offset) if plain.tag and _full_name(plain) in self._data.bases else None
        assert plain.members is not None
        for member in plain.members:
            start = member.bit_offset // 8
            if start <= offset < start + _size(member.type) and not member.bit_field_size:
                return self._innermost_base(member.type, offset - start) or here
        return here

    def size(self, name: str) -> int:
        """Bytes of the type called ``name``; 0 if it is unknown or incomplete."""
        kind = self.type(name)
        return _size(kind) if kind is not None else 0

    def is_scalar(self, name: str) -> bool:
        """Whether the type has no members (or its members are of no interest: a leaf of kernel-types.toml)."""
        kind = self.type(name)
        return kind is None or self._is_leaf(kind) or _untypedef(kind).kind not in _COMPOUND

    def type_of_cache(self, cache: str) -> str | None:
        """Name of the type whose objects the slab cache holds, or None.

        The type may be larger than the object: ``task_struct`` and ``kmem_cache`` end in an array cut to the machine's needs.
        """
        return next((name for name in self._data.caches.get(cache, []) if self.size(name)), None)

    def path(self, type_name: str, offset: int) -> str | None:
        """Members that lead to the byte at ``offset``: ``d_lockref.lock_count``.

        Of a union the first member that reaches the byte is taken. Array elements are ``[]``. The path ends at a member whose
        type is a leaf of kernel-types.toml. None if the type is unknown, has no members or ends before ``offset``.
        """
        key = (type_name, offset)
        if key not in self._paths:
            kind = self.type(type_name)
            inside = kind is not None and 0 <= offset < _size(kind) and not self._is_leaf(kind)
            self._paths[key] = (self._walk(kind, offset) or None) if inside else None
        return self._paths[key]

    def paths(self, type_name: str, start: int, end: int) -> list[str]:
        """The distinct field paths of the bytes [start, end), in order; holes between members have none."""
        found: dict[str, None] = {}
        for offset in range(max(start, 0), min(end, self.size(type_name))):
            if path := self.path(type_name, offset):
                found[path] = None
        return list(found)

    def members(self, type_name: str) -> list[tuple[int, drgn.Type, str]]:
        """(offset, type, path) of every scalar or pointer inside the type, arrays of at most 64 elements unrolled."""
        kind = self.type(type_name)
        return [] if kind is None else list(_scalars(kind, 0, ""))

    def _walk(self, kind: drgn.Type, offset: int) -> str:
        plain = _untypedef(kind)
        if plain.kind == drgn.TypeKind.ARRAY:
            element = _size(plain.type)
            return _join("[]", self._walk(plain.type, offset % element)) if element else "[]"
        if plain.kind not in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) or not plain.is_complete():
            return ""
        assert plain.members is not None
        for member in plain.members:
            start = member.bit_offset // 8
            size = -(-member.bit_field_size // 8) if member.bit_field_size else _size(member.type)
            if not start <= offset < start + size:
                continue
            inner = "" if self._is_leaf(member.type) else self._walk(member.type, offset - start)
            if member.name is None and not inner:
                continue  # a hole inside an anonymous member
            return _join(member.name or "", inner)
        return ""

    def _is_leaf(self, kind: drgn.Type) -> bool:
        while kind.kind == drgn.TypeKind.TYPEDEF:
            if kind.name in self._data.leaves:
                return True
            kind = kind.type
        return kind.kind in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) and _full_name(kind) in self._data.leaves


_COMPOUND = (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION, drgn.TypeKind.ARRAY)


def _join(head: str, tail: str) -> str:
    return head + tail if not head or not tail or tail.startswith("[") else f"{head}.{tail}"


def _full_name(kind: drgn.Type) -> str:
    return f"{'struct' if kind.kind == drgn.TypeKind.STRUCT else 'union'} {kind.tag}"


def _untypedef(kind: drgn.Type) -> drgn.Type:
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    return kind


def _size(kind: drgn.Type) -> int:
    """Bytes of a type; 0 for incomplete ones and functions."""
    try:
        return int(drgn.sizeof(kind))
    except TypeError:
        return 0


def _scalars(kind: drgn.Type, base: int, path: str) -> list[tuple[int, drgn.Type, str]]:
    plain = _untypedef(kind)
    if plain.kind == drgn.TypeKind.ARRAY:
        size = _size(plain.type)
        length = plain.length or 0
        if not size or length > 64:
            return []
        return [entry for i in range(length) for entry in _scalars(plain.type, base + i * size, _join(path, "[]"))]
    if plain.kind in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION):
        if not plain.is_complete():
            return []
        assert plain.members is not None
        return [
            entry
            for member in plain.members
            if not member.bit_field_size
            for entry in _scalars(member.type, base + member.bit_offset // 8, _join(path, member.name or ""))
        ]
    return [(base, plain, path)]


def _find_embedded(kind: drgn.Type, base: str) -> int | None:
    plain = _untypedef(kind)
    if plain.kind not in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) or not plain.is_complete():
        return None
    if plain.tag and _full_name(plain) == base:
        return 0
    assert plain.members is not None
    for member in plain.members:
        if not member.bit_field_size and (inner := _find_embedded(member.type, base)) is not None:
            return int(member.bit_offset) // 8 + inner
    return None


def has_member(kind: drgn.Type, name: str) -> bool:
    """Whether a structure, or what a pointer points to, has a member ``name``."""
    while kind.kind in (drgn.TypeKind.TYPEDEF, drgn.TypeKind.POINTER):
        kind = kind.type
    return kind.kind in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) and kind.is_complete() and bool(kind.has_member(name))
