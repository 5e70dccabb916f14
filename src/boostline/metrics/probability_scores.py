"""How good probabilities are: log loss and calibration error.

`Y` holds the relevant labels in any form that `learn` takes, `P` the probabilities that each label is relevant, (n, k).
Labels that are `unknown` count for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import whole_number
from boostline.metrics.sorted_scores import read_scores

#: Probabilities are moved so far away from 0 and 1, as scikit-learn does for float64.
_LEAST = float(np.finfo(np.float64).eps)
_BINS, _DRAWS = 15, 50


def log_loss(Y: Any, P: Any, unknown: Any = None) -> float:
    """Mean of -ln p over rows and labels, where p is the probability that was given to what happened.

    Examples
    --------
    >>> log_loss([{0}, {1}], [[0.5, 0.5], [0.5, 0.5]])
    0.6931471805599453
    """
    tally = ProbabilityTally()
    tally.update(Y, P, unknown)
    return tally.log_loss


def calibration_error(Y: Any, P: Any, *, top: int | None = 5, unknown: Any = None) -> float:
    """Expected calibration error (ECE): how far probabilities are from the share that came true.

    Probabilities are put into 15 bins of equal width; the error is the mean distance between probability and share in a
    bin, weighted by what is in it.

    Parameters
    ----------
    Y, P, unknown
        Relevant labels, probabilities and unknown labels.
    top
        Only the labels with so many highest probabilities in each row; None for all. Most labels of a row are far from
        relevant, and whoever knows how frequent they are is well calibrated on those.

    Examples
    --------
    >>> calibration_error([{0}, {1}, {0}, {0}], [[0.75, 0.25]] * 4, top=1)
    0.0
    >>> round(calibration_error([{0}, {1}, {0}, {0}], [[0.95, 0.05]] * 4, top=1), 3)
    0.2
    """
    tally = ProbabilityTally(top=top)
    tally.update(Y, P, unknown)
    return tally.calibration_error


def expected_calibration_error(P: Any, *, top: int | None = 5, seed: int = 0) -> float:
    """The `calibration_error` that perfect probabilities would have: the mean of 50 draws of labels from them.

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
    errors = []
    for _ in range(_DRAWS):
        gaps = np.bincount(_bin(chosen), chosen - (rng.random(chosen.size) < chosen), _BINS)
        errors.append(np.abs(gaps).sum() / max(1, chosen.size))
    return float(np.mean(errors))


class ProbabilityTally:
    """`log_loss` and `calibration_error` of a stream: update with one example or a block, read them at any moment.

    Cutting a stream into blocks changes no bit of them.

    Parameters
    ----------
    top
        As in `calibration_error`.

    Examples
    --------
    >>> tally = ProbabilityTally(top=1)
    >>> _ = tally.update([{0}, {1}], [[0.75, 0.25]] * 2)
    >>> _ = tally.update({0}, [0.75, 0.25])
    >>> round(tally.log_loss, 3), round(tally.calibration_error, 3)
    (0.654, 0.083)
    """

    def __init__(self, *, top: int | None = 5) -> None:
        self._top = top
        self._gaps = np.zeros(_BINS)
        self._n_judged = 0
        self._total = 0.0
        self.n = 0

    def update(self, Y: Any, P: Any, unknown: Any = None) -> FloatArray:
        """Add one example or a block; return the log loss of each row."""
        return self.update_read(*_read(Y, P, unknown))

    def update_read(self, relevant: BoolArray, known: BoolArray, p: FloatArray) -> FloatArray:
        """The same for a block of indicators (n, k) that have been read already."""
        likely = np.clip(p, _LEAST, 1 - _LEAST)
        losses = -np.where(relevant, np.log(likely), np.log1p(-likely)) * known
        values = np.asarray(losses.sum(axis=1) / np.maximum(known.sum(axis=1), 1))
        p, happened = _highest(p, relevant, known, self._top)
        # One after the other, so that blocks leave the bits of their rows.
        np.add.at(self._gaps, _bin(p), p - happened)
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


def _bin(p: FloatArray) -> NDArray[np.intp]:
    return np.clip((p * _BINS).astype(np.intp), 0, _BINS - 1)
