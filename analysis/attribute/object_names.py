# SPDX-License-Identifier: BSD-3-Clause
"""Which dentry, which inode, which socket: a name for one object, from its own members."""

import re
from functools import partial

import drgn
import numpy as np
import numpy.typing as npt

from analysis.attribute.fields import has_member
from analysis.attribute.locate import Attribution
from analysis.attribute.page_cache import inode_name
from analysis.attribute.subjects import Located


class Instances:
    """Names objects of types whose members say which one they are (kernel-types.toml, table ``instance``)."""

    def __init__(self, attribution: Attribution) -> None:
        self._attribution = attribution
        self._templates = attribution.data.instances

    def names(self, located: Located, rows: npt.NDArray[np.int64]) -> list[str | None]:
        """One entry per located address: a name for those in ``rows`` that have one, None for the others."""
        names: list[str | None] = [None] * len(located.subject)
        known: dict[tuple[str, int], str | None] = {}
        for row in rows:
            subject = self._attribution.subjects[int(located.subject[row])]
            if subject.type_name is None or not int(located.object[row]):
                continue
            key = (subject.type_name, int(located.object[row]))
            if key not in known:
                known[key] = self._name(*key)
            names[int(row)] = known[key]
        return names

    def _name(self, type_name: str, address: int) -> str | None:
        fields = self._attribution.fields
        for base, template in self._templates.items():
            offset = fields.offset_of_base(type_name, base)
            if offset is None:
                continue
            try:
                thing = drgn.Object(self._attribution.kernel.program, base, address=address + offset)
                if base == "struct inode" and (name := inode_name(thing)):
                    return name
                return _MEMBER.sub(partial(_replacement, thing), template)
            except drgn.FaultError:
                self._attribution.kernel.walks.give_up("names of objects")
                return None
            except (LookupError, TypeError, ValueError):
                return None
        return None


_MEMBER = re.compile(r"\{([^}]+)\}")


def _replacement(thing: drgn.Object, match: re.Match[str]) -> str:
    return _text(thing, match[1])


def _text(thing: drgn.Object, path: str) -> str:
    """The member of ``thing`` that ``path`` leads to, as text.

    Raises:
        LookupError, ValueError: there is no such member, or it is no name.
    """
    value = thing
    for part in path.split("."):
        if not has_member(value.type_, part):
            raise LookupError(part)
        value = value.member_(part)
    kind = value.type_
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    if kind.kind not in (drgn.TypeKind.POINTER, drgn.TypeKind.ARRAY):
        return str(int(value.value_()))
    text = str(value.string_().decode(errors="replace"))
    if not text or not text.isprintable():
        raise ValueError(path)
    return text
