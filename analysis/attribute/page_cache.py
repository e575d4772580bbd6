# SPDX-License-Identifier: BSD-3-Clause
"""Files: what the page cache holds, and what inodes are called."""

import drgn
import numpy as np

from analysis.attribute.fields import has_member
from analysis.attribute.guest_kernel import GuestKernel
from analysis.attribute.subjects import I64, Kind, Located, Place, Subject, Subjects


class PageCache:
    """Names the files behind pages of the page cache."""

    def __init__(self, kernel: GuestKernel, subjects: Subjects) -> None:
        self._kernel = kernel
        self._subjects = subjects
        self._files: dict[int, str] = {}

    def locate(self, rows: I64, place: Place, result: Located) -> None:
        """Enter the files, whose ``struct address_space`` are the owners, at ``rows`` of ``place``."""
        mappings, inverse = np.unique(place.owner[rows], return_inverse=True)
        numbers = [self._subjects.number(Subject(Kind.PAGE_CACHE, self._file(int(mapping)))) for mapping in mappings]
        result.subject[rows] = np.array(numbers, np.int32)[inverse]

    def _file(self, mapping: int) -> str:
        """``ext2:libc.so.6``: file system and last component of the name of the file behind a struct address_space."""
        if mapping not in self._files:
            self._files[mapping] = str(Kind.PAGE_CACHE)
            with self._kernel.walks.attempt("names of files"):
                inode = drgn.Object(self._kernel.program, "struct address_space", address=mapping).host
                if inode.value_():  # the swap cache has none
                    self._files[mapping] = inode.i_sb.s_type.name.string_().decode(errors="replace")
                    self._files[mapping] += f":{inode_name(inode)}"
        return self._files[mapping]


def inode_name(inode: drgn.Object) -> str:
    """Name of a directory entry of a struct inode; empty if it has none.

    Raises:
        drgn.FaultError, LookupError: it is no inode.
    """
    program = inode.prog_
    dentry = program.type("struct dentry")
    first = inode.i_dentry
    if has_member(first.type_, "first"):  # an hlist since 3.6
        link = first.first.value_()
    else:
        link = first.next.value_()
        if link == first.address_:
            return ""
    if not link:
        return ""
    member = "d_alias" if has_member(dentry, "d_alias") else "d_u.d_alias"
    name = drgn.Object(program, dentry, address=link - drgn.offsetof(dentry, member)).d_name.name
    return str(name.string_().decode(errors="replace"))
