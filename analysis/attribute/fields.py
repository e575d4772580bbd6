# SPDX-License-Identifier: BSD-3-Clause
"""Fields of C types: the path of members that leads to a byte, and the type that lives in a slab cache."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import drgn

from analysis.attribute.type_data import TypeData


def short_name(type_name: str) -> str:
    """``struct dentry`` -> ``dentry``: how a type is named in a label."""
    for keyword in ("struct ", "union ", "enum "):
        if type_name.startswith(keyword):
            return type_name[len(keyword) :]
    return type_name


class Layout:
    """A type's members in plain Python, each tagged type read from drgn once: walking it costs no call into drgn.

    ``tag`` is ``struct dentry`` or None for anything without a tag, ``size`` in bytes (0: incomplete). ``element`` is set for
    arrays, ``members`` is empty for scalars.
    """

    def __init__(self, fields: "Fields", kind: drgn.Type) -> None:
        self._fields = fields
        self.is_leaf = False
        while kind.kind == drgn.TypeKind.TYPEDEF:
            self.is_leaf |= kind.name in fields.data.leaves
            kind = kind.type
        self.kind = kind
        self.size = _size(kind)
        self.is_compound = kind.kind in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION)
        self.is_union = kind.kind == drgn.TypeKind.UNION
        self.tag = _full_name(kind) if self.is_compound and kind.tag else None
        self.is_leaf |= self.tag in fields.data.leaves

    @cached_property
    def element(self) -> "Layout | None":
        """What an array is made of."""
        if self.kind.kind != drgn.TypeKind.ARRAY:
            return None
        element = self._fields.layout(self.kind.type)
        return element if element.size else None

    @cached_property
    def length(self) -> int:
        """Elements of an array."""
        return int(self.kind.length or 0) if self.kind.kind == drgn.TypeKind.ARRAY else 0

    @cached_property
    def members(self) -> "list[Member]":
        """Members of a structure or union, in its order."""
        if not self.is_compound or not self.kind.is_complete():
            return []
        found = []
        for member in self.kind.members or []:
            bits = member.bit_field_size
            layout = self._fields.layout(member.type)
            size = (member.bit_offset % 8 + bits + 7) // 8 if bits else layout.size
            found.append(Member(member.name or "", member.bit_offset // 8, size, bool(bits), layout))
        return found


@dataclass(frozen=True)
class Member:
    """A member at byte ``start``; a bit field covers the ``size`` bytes its bits lie in."""

    name: str
    start: int
    size: int
    is_bit_field: bool
    layout: Layout


class Fields:
    """Field paths within types; every (type, offset) is resolved once."""

    def __init__(self, program: drgn.Program, data: TypeData) -> None:
        self._program = program
        self.data = data
        self._named: dict[str, Layout | None] = {}
        self._spellings: dict[str, str] = {}
        self._tagged: dict[str, Layout] = {}
        self._paths: dict[tuple[str, int], str | None] = {}
        self._canonical: dict[tuple[str, int], tuple[str, int]] = {}
        self._embedded: dict[tuple[str, str], int | None] = {}

    def layout(self, kind: drgn.Type) -> Layout:
        """The layout of a type; the same object each time for a complete tagged one."""
        made = Layout(self, kind)
        if made.tag is None or not made.size or kind.kind == drgn.TypeKind.TYPEDEF:
            return made
        return self._tagged.setdefault(made.tag, made)

    def _layout_of(self, name: str) -> Layout | None:
        """The layout of the type called ``name``, or None where the debug information lacks it."""
        if name not in self._named:
            try:
                self._named[name] = self.layout(self._program.type(name))
            except (LookupError, SyntaxError):
                self._named[name] = None
        return self._named[name]

    def register(self, name: str, kind: drgn.Type) -> str:
        """Make ``kind``, a type without a name of its own such as a variable's array, known as ``name``; returns ``name``."""
        self._named[name] = self.layout(kind)
        self._spellings[name] = kind.type_name()
        return name

    def spelling(self, name: str) -> str:
        """How C spells the type that is known here as ``name``."""
        return self._spellings.get(name, name)

    def size(self, name: str) -> int:
        """Bytes of the type called ``name``; 0 if it is unknown or incomplete."""
        layout = self._layout_of(name)
        return layout.size if layout else 0

    def is_scalar(self, name: str) -> bool:
        """Whether the type has no members (or its members are of no interest: a leaf of kernel-types.toml)."""
        layout = self._layout_of(name)
        return layout is None or layout.is_leaf or not (layout.is_compound or layout.element)

    def is_scalar_array(self, name: str) -> bool:
        """Whether the type is an array whose elements have no members."""
        layout = self._layout_of(name)
        element = layout.element if layout else None
        return element is not None and not element.is_compound and element.element is None

    def type_of_cache(self, cache: str) -> str | None:
        """Name of the type whose objects the slab cache holds, or None.

        The type may be larger than the object: ``task_struct`` and ``kmem_cache`` end in an array cut to the machine's needs.
        """
        return next((name for name in self.data.caches.get(cache, []) if self.size(name)), None)

    def offset_of_base(self, type_name: str, base: str) -> int | None:
        """Where in ``type_name`` the first member of type ``base`` is embedded, at any depth; None if there is none."""
        key = (type_name, base)
        if key not in self._embedded:
            layout = self._layout_of(type_name)
            self._embedded[key] = None if layout is None else _find_embedded(layout, base)
        return self._embedded[key]

    def canonical(self, type_name: str, offset: int) -> tuple[str, int]:
        """The innermost base type (kernel-types.toml) around the byte, and the offset in it.

        A ``struct ext2_inode_info`` begins with members of its own and embeds a ``struct inode``: byte 96 may be
        ``inode.i_lock`` at 88, the name that is the same for every file system.
        """
        key = (type_name, offset)
        if key not in self._canonical:
            layout = self._layout_of(type_name)
            found = None if layout is None else self._innermost_base(layout, offset)
            self._canonical[key] = found or key
        return self._canonical[key]

    def _innermost_base(self, layout: Layout, offset: int) -> tuple[str, int] | None:
        if layout.element:
            return self._innermost_base(layout.element, offset % layout.element.size)
        here = (layout.tag, offset) if layout.tag and layout.tag in self.data.bases else None
        for member in layout.members:
            if not member.is_bit_field and member.start <= offset < member.start + member.size:
                return self._innermost_base(member.layout, offset - member.start) or here
        return here

    def path(self, type_name: str, offset: int) -> str | None:
        """Members that lead to the byte at ``offset``: ``d_lockref.lock_count``.

        Of a union the first member that reaches the byte is taken, or one that kernel-types.toml prefers. Array elements are
        ``[]``. The path ends at a member whose type is a leaf there. None if the type is unknown, has no members or ends
        before ``offset``.
        """
        layout = self._layout_of(type_name)
        if layout is not None and layout.element and 0 <= offset < layout.size:
            offset %= layout.element.size  # all elements of an array are alike
        key = (type_name, offset)
        if key not in self._paths:
            inside = layout is not None and 0 <= offset < layout.size
            self._paths[key] = (_walk(layout, offset, self.data.preferred) or None) if layout and inside else None
        return self._paths[key]

    def member_offset(self, type_name: str, member: str) -> int | None:
        """Offset of a direct member (anonymous structures looked into), or None."""
        layout = self._layout_of(type_name)
        return None if layout is None or not layout.is_compound else _member_offset(layout, member)

    def scalars(self, type_name: str) -> list[tuple[int, drgn.Type]]:
        """(offset, type) of every scalar or pointer inside the type, arrays of at most 64 elements unrolled."""
        layout = self._layout_of(type_name)
        return [] if layout is None else _scalars(layout, 0)


def _walk(layout: Layout, offset: int, preferred: Collection[str]) -> str:
    if layout.is_leaf:
        return ""
    if layout.element:
        return _join("[]", _walk(layout.element, offset % layout.element.size, preferred))
    first = ""
    for member in layout.members:
        if not member.start <= offset < member.start + member.size:
            continue
        path = _join(member.name, _walk(member.layout, offset - member.start, preferred))
        if path in preferred or (path and not layout.is_union):
            return path
        first = first or path  # empty for a hole inside an anonymous member
    return first


def _scalars(layout: Layout, base: int) -> list[tuple[int, drgn.Type]]:
    if layout.element:
        if layout.length > 64:
            return []
        return [entry for i in range(layout.length) for entry in _scalars(layout.element, base + i * layout.element.size)]
    if layout.is_compound:
        parts = (member for member in layout.members if not member.is_bit_field)
        return [entry for member in parts for entry in _scalars(member.layout, base + member.start)]
    return [(base, layout.kind)]


def _member_offset(layout: Layout, name: str) -> int | None:
    for member in layout.members:
        if member.name == name:
            return member.start
        if not member.name and (inner := _member_offset(member.layout, name)) is not None:
            return member.start + inner
    return None


def _find_embedded(layout: Layout, base: str) -> int | None:
    if layout.tag == base:
        return 0
    for member in layout.members:
        if (inner := _find_embedded(member.layout, base)) is not None:
            return member.start + inner
    return None


def _join(head: str, tail: str) -> str:
    return head + tail if not head or not tail or tail.startswith("[") else f"{head}.{tail}"


def _full_name(kind: drgn.Type) -> str:
    return f"{'struct' if kind.kind == drgn.TypeKind.STRUCT else 'union'} {kind.tag}"


def _size(kind: drgn.Type) -> int:
    """Bytes of a type; 0 for incomplete ones and functions."""
    try:
        return int(drgn.sizeof(kind))
    except TypeError:
        return 0


def has_member(kind: drgn.Type, name: str) -> bool:
    """Whether a structure, or what a pointer points to, has a member ``name``."""
    while kind.kind in (drgn.TypeKind.TYPEDEF, drgn.TypeKind.POINTER):
        kind = kind.type
    return kind.kind in (drgn.TypeKind.STRUCT, drgn.TypeKind.UNION) and kind.is_complete() and bool(kind.has_member(name))
