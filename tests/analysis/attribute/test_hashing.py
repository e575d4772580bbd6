# SPDX-License-Identifier: BSD-3-Clause
"""Sets of numbers by hashing are those that numpy finds by sorting."""

import numpy as np
import pytest

from analysis.attribute.hashing import distinct, is_in


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_hashing_finds_what_sorting_finds(count: int) -> None:
    draw = np.random.default_rng(count)
    values = draw.integers(0, 300, count).astype(np.uint64) << np.uint64(56)  # beyond what a signed number holds
    chosen = draw.choice(values, count // 3)
    assert (is_in(values, chosen) == np.isin(values, chosen)).all()
    found, which = distinct(values)
    wanted, inverse = np.unique(values, return_inverse=True)
    assert found.dtype == values.dtype and (found == wanted).all() and (which == inverse).all()
    signed, which = distinct(values.view(np.int64))
    assert (signed == np.unique(values.view(np.int64))).all() and (signed[which] == values.view(np.int64)).all()
