"""Two figures of the binomial distribution, without SciPy."""

from __future__ import annotations

import math


def binomial_tail(successes: int, trials: int, probability: float) -> float:
    """P(X >= successes) for X binomial: the p-value of "fails no more often than promised".

    Examples
    --------
    >>> round(binomial_tail(2, 3, 0.5), 12)
    0.5
    """
    if successes <= 0:
        return 1.0
    if probability <= 0:
        return 0.0
    if probability >= 1:
        return 1.0
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(j + 1)
        - math.lgamma(trials - j + 1)
        + j * math.log(probability)
        + (trials - j) * math.log1p(-probability)
        for j in range(successes, trials + 1)
    ]
    return min(1.0, math.fsum(math.exp(value) for value in logs))


def failure_limit(failures: int, trials: int) -> float:
    """One-sided upper 95 % limit of Clopper and Pearson for the probability of a failure.

    It is the p at which as few failures have probability .05.

    Examples
    --------
    >>> round(failure_limit(0, 59), 3)  # the rule of three: about 3 / 59
    0.05
    """
    if failures >= trials:
        return 1.0
    low, high = failures / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        as_few = 1.0 - binomial_tail(failures + 1, trials, middle)
        low, high = (middle, high) if as_few > 0.05 else (low, middle)
    return high
