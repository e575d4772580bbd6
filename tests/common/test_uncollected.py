# SPDX-License-Identifier: BSD-3-Clause
"""The collector of cycles is off in the body, and afterwards as it was."""

import gc

import pytest

from common.uncollected import uncollected


def test_it_is_as_it_was_afterwards() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyError), uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
