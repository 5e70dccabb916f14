"""Potentials phi^n(s) of OnlineBMR (Equation 1 of the paper), exact wherever they can be.

phi^n(s) is the expected loss once n more labels have been drawn i.i.d. from the baseline u_gamma
and added to the votes s. For a loss that is a sum over pairs only Z_n = X_r - X_l matters, a lazy
random walk whose law does not depend on the pair or on time::

    step    +1       -1             0
    prob    a        a + gamma      1 - 2a - gamma        a = (1 - gamma |Y|) / k

    phi^n(s) = w_Y * sum over pairs of g_n(s[r] - s[l]),     g_n(d) = E pair(d + Z_n)

Costs need only the steps D_n(d) = g_n(d + 1) - g_n(d), because adding e_j to s moves only the
pairs that contain j. `step_table` tabulates them for the compiled core; `potential` and `costs`
compute single values from the law of Z_n, and are what the tables are tested against.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import BoolArray, FloatArray
from boostline.losses import Exponential, GeneralLoss, Hinge, Loss, PairLoss, Rank
from boostline.potentials.walk import baseline, exponential_rate, walk_law


def pair_potential(
    loss: PairLoss, n: int, d: ArrayLike, n_labels: int, n_relevant: int, edge: float
) -> FloatArray:
    """g_n(d) = E pair(d + Z_n), exact at every real d.

    Examples
    --------
    >>> float(pair_potential(Rank(), 1, 0.0, n_labels=4, n_relevant=1, edge=0.2).round(12))
    0.4
    """
    x = np.asarray(d, dtype=np.float64)
    if isinstance(loss, Exponential):
        rate = exponential_rate(n_labels, n_relevant, edge)
        return np.asarray(np.exp(x) * rate**n, dtype=np.float64)
    law = walk_law(n, n_labels, n_relevant, edge)
    if isinstance(loss, Rank):
        # tail[j] = P(Z >= j - n); at a real d strictly between the integers m and m + 1 the
        # potential is P(Z >= -m), at an integer the tie counts half.
        tail: FloatArray = np.append(np.cumsum(law[::-1])[::-1], 0.0)
        floor = np.floor(x)
        first = np.clip(n - floor, 0, 2 * n + 1).astype(np.int64)
        after = np.clip(n - floor + 1, 0, 2 * n + 1).astype(np.int64)
        at_tie = np.asarray(x == floor, dtype=bool)
        halfway: FloatArray = 0.5 * (tail[first] + tail[after])
        return np.where(at_tie, halfway, tail[first])
    if isinstance(loss, Hinge):
        # With y = d + margin: E(y + Z)_+ is linear between integer y, and at them a sum of tails.
        tail = np.cumsum(law[::-1])  # tail[j] = P(Z >= n - j)
        at_integers = np.concatenate([[0.0], np.cumsum(tail)])  # y = -n .. n + 1
        y = x + loss.margin
        inside = np.interp(y, np.arange(-n, n + 2), at_integers)
        return np.where(y > n + 1, y + float((law * np.arange(-n, n + 1)).sum()), inside)
    if not isinstance(loss, PairLoss):
        raise TypeError(f"loss {loss.name!r} does not split into pairs; use potentials.potential")
    z = np.arange(-n, n + 1, dtype=np.float64)
    # No matrix product: the rounding of BLAS depends on the CPU.
    return np.asarray((loss.pair(x[..., None] + z) * law).sum(axis=-1), dtype=np.float64)


def potential(
    loss: Loss,
    n: int,
    scores: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    *,
    irrelevant: ArrayLike | None = None,
    draws: int = 1000,
    seed: int | Sequence[int] = 0,
) -> tuple[float, float]:
    """phi^n(s), exact for sums over pairs, else a Monte Carlo mean; and its standard error, 0 if exact.

    Parameters
    ----------
    loss
        Any loss; `GeneralLoss` is the one that needs Monte Carlo.
    n
        Learners still to come.
    relevant, irrelevant
        Indicators of length k; irrelevant defaults to the complement (labels in neither are
        unknown: they take votes but form no pair).
    draws, seed
        Of the Monte Carlo estimate; several numbers make one seed.

    Examples
    --------
    >>> value, error = potential(Hinge(), 1, [0.0, 0.0], np.array([True, False]), edge=0.2)
    >>> round(value, 12), error
    (0.8, 0.0)
    """
    s, mask, rest = _example(scores, relevant, irrelevant)
    if not mask.any() or not rest.any():
        return 0.0, 0.0
    if isinstance(loss, GeneralLoss):
        walks = _draw_votes(mask, n, edge, draws, seed)
        found = loss.values(mask, s + walks)
        return float(found.mean()), float(_standard_error(found))
    pair_loss = _need_pairs(loss)
    differences = s[rest][:, None] - s[mask][None, :]
    g = pair_potential(pair_loss, n, differences, len(mask), int(mask.sum()), edge)
    return float(g.mean()), 0.0


def start_potential(
    loss: PairLoss, n_learners: int, n_labels: int, n_relevant: int, edge: float
) -> float:
    """phi^N(0), the promised loss per round: it depends on the example through |Y| only.

    Examples
    --------
    >>> round(start_potential(Rank(), 1, 4, 1, 0.2), 12)  # .2 for a wrong vote, .4 / 2 for a tie
    0.4
    """
    return float(pair_potential(loss, n_learners, 0.0, n_labels, n_relevant, edge))


def start_slope(
    loss: PairLoss, n_learners: int, n_labels: int, n_relevant: int, edge: float
) -> float:
    """Slope of phi^N(0) in the edge: -N ((1 - p) D_{N-1}(-1) + p D_{N-1}(0)) with p = |Y| / k; never positive.

    At an edge of 1 / |Y| or above it is the slope from the left at 1 / |Y|.

    Examples
    --------
    >>> round(start_slope(Rank(), 1, 4, 1, 0.2), 12)  # phi^1(0) is 1/2 - edge / 2
    -0.5
    """
    g = pair_potential(loss, n_learners - 1, np.array([-1.0, 0.0, 1.0]), n_labels, n_relevant, edge)
    share = n_relevant / n_labels
    return -n_learners * float((1.0 - share) * (g[1] - g[0]) + share * (g[2] - g[1]))


def costs(
    loss: Loss,
    n: int,
    scores: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    *,
    irrelevant: ArrayLike | None = None,
    draws: int = 1000,
    seed: int | Sequence[int] = 0,
) -> tuple[FloatArray, FloatArray]:
    """Costs c[l] = phi^n(s + e_l) up to a constant, and their standard errors (0 when exact).

    For a sum over pairs the constant is phi^n(s), so relevant labels cost <= 0 and irrelevant ones
    >= 0. A Monte Carlo estimate uses the same draws for all labels, is centred, and its standard
    errors are those of the centred costs.

    Examples
    --------
    >>> c, error = costs(Hinge(), 0, [0.0, 0.0, 0.0], np.array([True, False, False]), edge=0.1)
    >>> c, float(error.max())
    (array([-1. ,  0.5,  0.5]), 0.0)
    """
    s, mask, rest = _example(scores, relevant, irrelevant)
    result = np.zeros(len(mask))
    if not mask.any() or not rest.any():
        return result, np.zeros(len(mask))
    if isinstance(loss, GeneralLoss):
        walks = s + _draw_votes(mask, n, edge, draws, seed)
        found = np.stack([loss.values(mask, walks + e) for e in np.eye(len(mask))], axis=1)
        found = found - found.mean(axis=1, keepdims=True)
        return found.mean(axis=0), _standard_error(found)
    pair_loss = _need_pairs(loss)
    d = s[rest][:, None] - s[mask][None, :]
    here, below, above = (
        pair_potential(pair_loss, n, d + move, len(mask), int(mask.sum()), edge)
        for move in (0.0, -1.0, 1.0)
    )
    result[mask] = (below - here).sum(axis=0) / d.size
    result[rest] = (above - here).sum(axis=1) / d.size
    return result, np.zeros(len(mask))


def _example(
    scores: ArrayLike, relevant: ArrayLike, irrelevant: ArrayLike | None
) -> tuple[FloatArray, BoolArray, BoolArray]:
    mask = np.asarray(relevant, dtype=bool)
    rest = ~mask if irrelevant is None else np.asarray(irrelevant, dtype=bool)
    s = np.asarray(scores, dtype=np.float64)
    if s.shape != mask.shape or rest.shape != mask.shape or mask.ndim != 1:
        raise ValueError(
            f"scores has shape {s.shape}, relevant {mask.shape} and irrelevant {rest.shape}, but "
            "all must be (n_labels,)"
        )
    if (mask & rest).any():
        raise ValueError(f"label {np.flatnonzero(mask & rest)[0]} is relevant and irrelevant")
    return s, mask, rest


def _draw_votes(
    mask: BoolArray, n: int, edge: float, draws: int, seed: int | Sequence[int]
) -> FloatArray:
    if draws < 2:
        raise ValueError(f"draws is {draws}, but a standard error needs at least 2")
    if n == 0:  # nothing is random: one row, exact
        return np.zeros((1, len(mask)))
    rng = np.random.default_rng(seed)
    u = baseline(mask, edge)
    return rng.multinomial(n, u / u.sum(), size=draws).astype(np.float64)


def _standard_error(draws: FloatArray) -> FloatArray:
    if len(draws) == 1:
        return np.zeros(draws.shape[1:])
    return np.asarray(draws.std(axis=0, ddof=1) / math.sqrt(len(draws)), dtype=np.float64)


def _need_pairs(loss: Loss) -> PairLoss:
    if not isinstance(loss, PairLoss):
        raise TypeError(f"loss is {loss!r}, but must be a PairLoss or a GeneralLoss")
    return loss
