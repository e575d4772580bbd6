# SPDX-License-Identifier: BSD-3-Clause
"""What a user is told about bad input."""

import pytest

from common.outcome import Failure, Outcome


def refused(call: object, *words: str) -> None:
    """Assert that ``call`` ends as bad input and that all ``words`` are in its sentence or its cure."""
    assert callable(call)
    with pytest.raises(Failure) as caught:
        call()
    assert caught.value.outcome is Outcome.BAD_INPUT
    for word in words:
        said = f"{caught.value.what} {caught.value.cure}"
        assert word in said, said
