# SPDX-License-Identifier: BSD-3-Clause
"""How tables name a byte: ``dentry.d_lockref.lock_count``, ``runqueues.__lock``, ``kmalloc-64``, ``user memory``."""

from analysis.attribute.fields import Fields, short_name
from analysis.attribute.subjects import USER_MEMORY, Kind, Subject

_HOLE = "(padding)"  # between members


def label(what: Subject, offset: int, fields: Fields) -> str:
    """The name of the byte at ``offset`` of an object."""
    if what.type_name is None:
        return _untyped(what)
    if what.kind == Kind.BOOT and fields.is_scalar(what.type_name):
        return f"{what.name}[]"
    prefix, type_name = what.name, what.type_name
    if not type_name.startswith("typeof("):
        type_name, offset = fields.canonical(type_name, offset)
        prefix = short_name(type_name)
    path = fields.path(type_name, offset)
    if path is None:
        return prefix if fields.is_scalar(type_name) else f"{prefix}.{_HOLE}"
    return prefix + path if path.startswith("[") else f"{prefix}.{path}"


def _untyped(what: Subject) -> str:
    if what.kind in (Kind.SLAB, Kind.STATIC, Kind.PER_CPU, Kind.VMALLOC, Kind.BOOT, Kind.DRIVER):
        return what.name
    return {
        Kind.CODE: f"code of {what.name}",
        Kind.ANONYMOUS: USER_MEMORY,
        Kind.PAGE_CACHE: f"page cache ({what.name.split(':')[0]})",
    }.get(what.kind, str(what.kind))


def labels_in(what: Subject, offset: int, end: int, fields: Fields) -> list[str]:
    """The names of the bytes [offset, end) of one object, in order; a hole between members adds nothing."""
    if what.type_name is None or fields.is_scalar_array(what.type_name):
        return [label(what, max(offset, 0), fields)]
    found: dict[str, None] = {}
    for byte in range(max(offset, 0), min(end, fields.size(what.type_name))):
        found[label(what, byte, fields)] = None
    # A byte between the members of an inner structure is labelled with that structure alone.
    return [
        name for name in found if _HOLE not in name and not any(other.startswith((f"{name}.", f"{name}[")) for other in found)
    ]
