# SPDX-License-Identifier: BSD-3-Clause
"""Which of many numbers are among others, by hashing: `numpy.isin` sorts, and rows are millions."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_U64 = npt.NDArray[np.uint64]


def is_in(values: _U64, chosen: _U64) -> npt.NDArray[np.bool_]:
    """For each of ``values`` whether it is one of ``chosen``, which may repeat and need no order."""
    found: npt.NDArray[np.bool_] = pc.is_in(pa.array(values), value_set=pa.array(chosen)).to_numpy(zero_copy_only=False)
    return found
