"""How good probabilities are: log loss and calibration error.

`Y` holds the relevant labels in any form that `learn` takes, `P` the probabilities that each label is relevant, (n, k).
Labels that are `unknown` count for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import whole_number
from boostline.metrics.sorted_scores import read_scores

#: Probabilities are moved so far away from 0 and 1, as scikit-learn does for float64.
_LEAST = float(np.finfo(np.float64).eps)


def log_loss(Y: Any, P: Any, unknown: Any = None) -> float:
    """Mean of -ln p over rows and labels, where p is the probability that was given to what happened.

    Examples
    --------
    >>> log_loss([{0}, {1}], [[0.5, 0.5], [0.5, 0.5]])
    0.6931471805599453
    """
    return float(np.mean(_log_losses(*_read(Y, P, unknown))))


def _log_losses(relevant: BoolArray, known: BoolArray, p: FloatArray) -> FloatArray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    loss = -np.where(relevant, np.log(p), np.log1p(-p))
    return np.asarray((loss * known).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def calibration_error(
    Y: Any, P: Any, *, top: int | None = 5, n_bins: int = 15, unknown: Any = None
) -> float:
    """Expected calibration error (ECE): how far probabilities are from the share that came true.

    Probabilities are put into bins of equal width; the error is the mean distance between probability and share in a
    bin, weighted by what is in it.

    Parameters
    ----------
    Y, P, unknown
        Relevant labels, probabilities and unknown labels.
    top
        Only the labels with so many highest probabilities in each row; None for all. Most labels of a row are far from
        relevant, and whoever knows how frequent they are is well calibrated on those.
    n_bins
        Number of bins.

    Examples
    --------
    >>> calibration_error([{0}, {1}, {0}, {0}], [[0.75, 0.25]] * 4, top=1)
    0.0
    >>> round(calibration_error([{0}, {1}, {0}, {0}], [[0.95, 0.05]] * 4, top=1), 3)
    0.2
    """
    relevant, known, p = _read(Y, P, unknown)
    p, relevant = _highest(p, relevant, known, top)
    return _binned(p, relevant, n_bins)


def expected_calibration_error(
    P: Any, *, top: int | None = 5, n_bins: int = 15, draws: int = 50, seed: int = 0
) -> float:
    """The `calibration_error` that perfect probabilities would have: labels are drawn from the probabilities.

    With few rows even perfect probabilities are off by chance. Compare a model's error with this one.

    Examples
    --------
    >>> import numpy as np
    >>> few, many = np.full((20, 5), 0.3), np.full((20000, 5), 0.3)
    >>> expected_calibration_error(few) > 0.03 > 0.005 > expected_calibration_error(many)
    True
    """
    p = np.atleast_2d(read_scores(P, "P")).astype(np.float64)
    chosen, _ = _highest(p, np.zeros(p.shape, np.bool_), np.ones(p.shape, np.bool_), top)
    rng = np.random.default_rng(seed)
    errors = [
        _binned(chosen, rng.random(chosen.size) < chosen, n_bins)
        for _ in range(whole_number(draws, "draws", 1))
    ]
    return float(np.mean(errors))


class ProbabilityTally:
    """`log_loss` and `calibration_error` of a stream: update with one example or a block, read them at any moment.

    Cutting a stream into blocks changes no bit of them.

    Parameters
    ----------
    top, n_bins
        As in `calibration_error`.

    Examples
    --------
    >>> tally = ProbabilityTally(top=1)
    >>> _ = tally.update([{0}, {1}], [[0.75, 0.25]] * 2)
    >>> _ = tally.update({0}, [0.75, 0.25])
    >>> round(tally.log_loss, 3), round(tally.calibration_error, 3)
    (0.654, 0.083)
    """

    def __init__(self, *, top: int | None = 5, n_bins: int = 15) -> None:
        self._top = None if top is None else whole_number(top, "top", 1)
        self._gaps = np.zeros(whole_number(n_bins, "n_bins", 1))
        self._n_judged = 0
        self._total = 0.0
        self.n = 0

    def update(self, Y: Any, P: Any, unknown: Any = None) -> FloatArray:
        """Add one example or a block; return the log loss of each row."""
        return self.update_read(*_read(Y, P, unknown))

    def update_read(self, relevant: BoolArray, known: BoolArray, p: FloatArray) -> FloatArray:
        """The same for a block of indicators (n, k) that have been read already."""
        values = _log_losses(relevant, known, p)
        p, happened = _highest(p, relevant, known, self._top)
        place = np.clip((p * len(self._gaps)).astype(np.intp), 0, len(self._gaps) - 1)
        # One after the other, so that blocks leave the bits of their rows.
        np.add.at(self._gaps, place, p - happened)
        self._total = float(np.add.accumulate(np.concatenate(([self._total], values)))[-1])
        self._n_judged += p.size
        self.n += len(values)
        return values

    @property
    def log_loss(self) -> float:
        """Mean over the rows so far; NaN before the first."""
        return self._total / self.n if self.n else np.nan

    @property
    def calibration_error(self) -> float:
        """Of the highest labels of the rows so far; NaN before the first."""
        return float(np.abs(self._gaps).sum() / self._n_judged) if self._n_judged else np.nan


def _read(Y: Any, P: Any, unknown: Any) -> tuple[BoolArray, BoolArray, FloatArray]:
    p = read_scores(P, "P")
    if p.size and (p.min() < 0 or p.max() > 1):
        bad = p.min() if p.min() < 0 else p.max()
        raise ValueError(f"P has the value {bad:g}, but must have probabilities, in [0, 1]")
    is_single = p.ndim == 1
    sets = LabelSpace(p.shape[-1]).read(Y, 1 if is_single else len(p), is_single, unknown, "Y")
    rows: FloatArray = np.atleast_2d(p).astype(np.float64)
    if not len(rows):
        raise ValueError("P has no rows, but must have at least one for a mean")
    hidden = sets.is_unknown
    known: BoolArray = np.ones(rows.shape, np.bool_)
    if hidden is not None:
        known &= ~hidden
    return sets.is_relevant, known, rows


def _highest(
    p: FloatArray, relevant: BoolArray, known: BoolArray, top: int | None
) -> tuple[FloatArray, BoolArray]:
    if top is None:
        return p[known], relevant[known]
    top = whole_number(top, "top", 1)
    order = np.argsort(np.where(known, -p, np.inf), axis=1, kind="stable")[:, :top]
    kept = np.take_along_axis(known, order, axis=1)
    return (
        np.take_along_axis(p, order, axis=1)[kept],
        np.take_along_axis(relevant, order, axis=1)[kept],
    )


def _binned(p: FloatArray, happened: BoolArray, n_bins: int) -> float:
    n_bins = whole_number(n_bins, "n_bins", 1)
    if not p.size:
        return 0.0
    place = np.minimum((p * n_bins).astype(np.intp), n_bins - 1)
    gaps = np.bincount(place, p, n_bins) - np.bincount(place, happened, n_bins)
    return float(np.abs(gaps).sum() / p.size)
