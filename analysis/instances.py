# SPDX-License-Identifier: BSD-3-Clause
"""Which dentry, which inode, which socket: a name for one object, from its own members."""

import drgn
import numpy as np
import numpy.typing as npt

from analysis.attribution import Attribution, Located
from analysis.kernel_types import has_member


class Instances:
    """Names objects of types whose members say which one they are (kernel-types.toml, table ``instance``)."""

    def __init__(self, attribution: Attribution) -> None:
        self._attribution = attribution
        self._expressions = attribution.data.instances

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
        for base, expression in self._expressions.items():
            kind = fields.type(type_name)
            if kind is None:
                return None
            offset = 0 if base == type_name else fields.offset_of_base(type_name, base)
            if offset is None:
                continue
            try:
                value = drgn.Object(self._attribution.kernel.program, base, address=address + offset)
                for part in expression.split("."):
                    if not has_member(value.type_, part):
                        return None
                    value = value.member_(part)
                return _text(value)
            except (drgn.FaultError, LookupError, TypeError, ValueError):
                return None
        return None


def _text(value: drgn.Object) -> str | None:
    kind = value.type_
    while kind.kind == drgn.TypeKind.TYPEDEF:
        kind = kind.type
    if kind.kind in (drgn.TypeKind.POINTER, drgn.TypeKind.ARRAY):
        text = value.string_().decode(errors="replace")
        return text if text.isprintable() and text else None
    return str(int(np.int64(value.value_())))
