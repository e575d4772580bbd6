# SPDX-License-Identifier: BSD-3-Clause
"""Sets of numbers by hashing: rows are millions, and numpy sorts them."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_U64 = npt.NDArray[np.uint64]
_Integer = TypeVar("_Integer", np.int64, np.uint64)


def is_in(values: _U64, chosen: _U64) -> npt.NDArray[np.bool_]:
    """For each of ``values`` whether it is one of ``chosen``, which may repeat and need no order."""
    found: npt.NDArray[np.bool_] = pc.is_in(pa.array(values), value_set=pa.array(chosen)).to_numpy(zero_copy_only=False)
    return found


def distinct(values: npt.NDArray[_Integer]) -> tuple[npt.NDArray[_Integer], npt.NDArray[np.int64]]:
    """The distinct ones of ``values``, sorted, and for each value which of them it is."""
    coded = pa.array(values).dictionary_encode()
    found: npt.NDArray[_Integer] = coded.dictionary.to_numpy()
    order = np.argsort(found)
    place = np.empty(len(found), np.int64)
    place[order] = np.arange(len(found))
    return found[order], place[coded.indices.to_numpy()]
