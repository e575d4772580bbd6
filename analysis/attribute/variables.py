# SPDX-License-Identifier: BSD-3-Clause
"""Static variables and functions of the kernel image, and static per-CPU variables: their symbols and declared types."""

import drgn
import numpy as np

from analysis.attribute.fields import Fields
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import I64, Kind, Located, Place, Subject, Subjects
from analysis.attribute.symbol_table import Symbol


class Variables:
    """Finds the variable or function at an address; each address is looked up once."""

    def __init__(self, kernel: GuestKernel, fields: Fields, subjects: Subjects) -> None:
        self._kernel = kernel
        self._fields = fields
        self._subjects = subjects
        self._known: dict[int, tuple[int, int]] = {}
        self._code_end = kernel.symbols.address("_etext") or kernel.symbols.address("_text") or 0

    def locate(self, rows: I64, place: Place, result: Located) -> None:
        """Enter what lies in the kernel image at ``rows`` of ``place``."""
        unique, inverse = np.unique(place.va[rows], return_inverse=True)
        found = [self.at(int(address), Kind.STATIC) for address in unique]
        result.subject[rows] = np.array([subject for subject, _ in found], np.int32)[inverse]
        starts = np.array([start for _, start in found], np.uint64)[inverse]
        result.object[rows] = starts
        result.offset[rows] = (place.va[rows] - starts).astype(np.int64)

    def at(self, address: int, kind: Kind) -> tuple[int, int]:
        """(subject, address of its start) of the variable or function at an address of the kernel image, or of the variable at
        an address as the kernel writes per-CPU pointers."""
        if address not in self._known:
            symbol = self._kernel.symbols.covering(address)
            if symbol is None:
                self._known[address] = (self._subjects.number(Subject(Kind.UNKNOWN, "kernel image")), address)
            elif kind == Kind.STATIC and (symbol.is_function or address < self._code_end):
                self._known[address] = (self._subjects.number(Subject(Kind.CODE, symbol.name)), symbol.address)
            else:
                subject = Subject(kind, symbol.name, self._type(symbol))
                self._known[address] = (self._subjects.number(subject), symbol.address)
        return self._known[address]

    def _type(self, symbol: Symbol) -> str | None:
        try:
            variable = self._kernel.program.variable(symbol.name, symbol.file or None)
        except (LookupError, drgn.BadDataError):
            return None
        if variable.address_ != symbol.address:  # of another file with the same last component
            return None
        name = f"typeof({symbol.name})@{symbol.file}" if symbol.file else f"typeof({symbol.name})"
        return self._fields.register(name, variable.type_)
