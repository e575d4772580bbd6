# SPDX-License-Identifier: BSD-3-Clause
"""What several trials say of one figure: mean, range, and from three on the interval that holds the true mean.

And how far the means of two such figures are apart.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Student's t, the value that 2.5 % lie above, by degrees of freedom from 2 on (any table of the distribution).
_T = (
    *(4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
FEWEST = 3
"""Trials from which on there is an interval: of two it would be nearly thirteen times as wide as they are apart."""


@dataclass(frozen=True)
class Estimate:
    """``half_width`` is that of the 95 % confidence interval of the mean (Student's t); None below `FEWEST` trials."""

    mean: float
    low: float
    high: float
    count: int
    half_width: float | None

    @property
    def width(self) -> float | None:
        """Half the interval as a share of the mean; None without an interval or with a mean of 0."""
        if self.half_width is None:
            return None
        return self.half_width / self.mean if self.mean else (0.0 if not self.half_width else None)

    def within(self, share: float) -> bool:
        """Whether the mean is known to ``share`` of itself."""
        return self.width is not None and self.width <= share


def estimate(values: Iterable[float]) -> Estimate:
    """The estimate from one value of each trial, of which there is at least one."""
    given = list(values)
    count, mean = len(given), math.fsum(given) / len(given)
    half = None
    if count >= FEWEST:
        variance = math.fsum((value - mean) ** 2 for value in given) / (count - 1)
        half = _t(count - 1) * math.sqrt(variance / count)
    return Estimate(mean, min(given), max(given), count, half)


def ratio(amounts: Sequence[float], works: Sequence[float]) -> Estimate:
    """What is spent for a unit of work, from samples of a longer time: the ``amount`` of each, and the work done in it.

    The ratio of the sums and its standard error (Cochran, Sampling Techniques, 3rd edition, 6.4). ``low`` and ``high`` are of
    samples in which work was done.

    Raises:
        ValueError: no work was done.
    """
    count, work = len(works), math.fsum(works)
    if work <= 0:
        raise ValueError("a ratio to no work")
    mean = math.fsum(amounts) / work
    each = [amount / one for amount, one in zip(amounts, works, strict=True) if one > 0]
    half = None
    if count >= FEWEST:
        squares = math.fsum((amount - mean * one) ** 2 for amount, one in zip(amounts, works, strict=True))
        half = _t(count - 1) * math.sqrt(squares / (count * (count - 1))) / (work / count)
    return Estimate(mean, min(each), max(each), count, half)


@dataclass(frozen=True)
class Shift:
    """By how much one mean is away from another, as a share of it, and half the 95 % interval of that share."""

    share: float
    half_width: float

    @property
    def least(self) -> float:
        """What it is shown to be away, either way; 0 where it may be chance."""
        return max(0.0, abs(self.share) - self.half_width)


def shift(values: Sequence[float], base: Sequence[float]) -> Shift:
    """Of the mean of ``values`` from that of ``base``, samples that vary by chance, both as much (Student's t, pooled).

    Raises:
        ValueError: fewer than four values together, none on a side, or a base whose mean is 0.
    """
    freedom = len(values) + len(base) - 2
    if not values or not base or freedom < 2:
        raise ValueError(f"{len(values)} and {len(base)} values are too few to say how far apart they are")
    mean, other = (math.fsum(one) / len(one) for one in (values, base))
    if not other:
        raise ValueError("no share of a mean that is 0")
    squares = math.fsum((value - mean) ** 2 for value in values) + math.fsum((value - other) ** 2 for value in base)
    error = math.sqrt(squares / freedom * (1 / len(values) + 1 / len(base)))
    return Shift(mean / other - 1, _t(freedom) * error / abs(other))


def _t(freedom: int) -> float:
    """Student's t; beyond the table its last value: the interval is a little too wide then."""
    return _T[min(freedom, len(_T) + 1) - 2]
