"""Where the relevant labels end: a zero point for ranking scores, learned from the stream.

A ranking says which label is more relevant, not how many are. To name a set, scores need a zero point. Here it is
learned from scores that were given *before* their example was learned, so nothing is tested on what it was fitted to:

1.  A score is measured in its own example: z = (score - mean) / standard deviation over the labels, squeezed to
    u = z / (1 + |z|) in (-1, 1). That does not change when a booster's weights, and with them its scores, grow.
2.  For each label two histograms of u are kept, one of the times it was relevant and one of the times it was not.
    They slowly forget (half of them within about 1,100 examples), so the zero point follows drift.
3.  Micro-F1 is largest where a label is named exactly when that adds more than F/2 true positives per named label, F
    being the micro-F1 reached (Lipton, Elkan and Naryanaswamy, 2014). F is that of the best common threshold, and the
    threshold of a label is where its histogram, with some of the common one mixed in, gains most by that rule.

Thresholds are renewed at fixed numbers of examples, so a block gives exactly what the loop of single calls gives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.label_sets import UNKNOWN

FloatArray = NDArray[np.float64]

_BINS = 32
#: Examples between two renewals; at first they come after 1, 2, 4, 8, 16 and 32.
_PERIOD = 64
#: What a renewal keeps of the histograms: half is forgotten after 17 renewals.
_KEEP = 0.96
#: A label's own histogram counts as much as the common one once it has so many examples.
_COMMON_EXAMPLES = 100.0
_ROUNDING = 1e-13
_KINDS = ("label", "common")


def check_zero_point(kind: str) -> None:
    """Refuse what is no kind of zero point."""
    if kind not in _KINDS:
        raise ValueError(f"zero_point is {kind!r}, but must be one of {', '.join(_KINDS)}")


class ZeroPoint:
    """Thresholds that turn ranking scores into label sets, learned from scores given before learning.

    Parameters
    ----------
    n_labels
        Number of labels, k.
    per_label
        A threshold for each label. Without it one serves all labels; then `decide` keeps the order of the scores, which
        costs a little micro-F1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(2000, 8))
    >>> zero = ZeroPoint(8)
    >>> zero.observe(scores, scores.argsort().argsort() >= 6)  # the two best of eight are relevant
    >>> named = zero.decide(rng.normal(size=(1000, 8))) > 0
    >>> round(named.sum(axis=1).mean())
    2
    """

    def __init__(self, n_labels: int, *, per_label: bool = True) -> None:
        self.per_label = per_label
        self.n_examples = 0
        self.thresholds: FloatArray = np.zeros(n_labels)
        self._counts = np.zeros((2, n_labels, _BINS))  # of irrelevant labels, of relevant ones
        self._mass = 0.0  # weight of the examples in the histograms
        # Examples since the last renewal wait here: counting them together is what keeps single calls cheap.
        self._n_waiting = 0
        self._scores = np.zeros((_PERIOD, n_labels))
        self._relevance = np.zeros((_PERIOD, n_labels), dtype=np.int8)
        self._weights = np.zeros(_PERIOD)

    def decide(self, scores: FloatArray) -> FloatArray:
        """Measure scores, (k,) or (n, k), from the zero point: a label is named where the result is above 0."""
        return _relative(scores) - self.thresholds

    def observe(self, scores: FloatArray, relevance: NDArray[Any], weights: Any = 1.0) -> None:
        """Learn from scores (n, k) given before their examples were learned.

        ``relevance`` has 1 for relevant, 0 for irrelevant and -1 for unknown labels; unknown ones count for nothing.
        """
        done, n = 0, len(scores)
        weights = np.broadcast_to(np.asarray(weights, dtype=np.float64), (n,))
        while done < n:
            last = min(n, done + _next_renewal(self.n_examples) - self.n_examples)
            here = slice(self._n_waiting, self._n_waiting + last - done)
            self._scores[here] = scores[done:last]
            self._relevance[here] = relevance[done:last]
            self._weights[here] = weights[done:last]
            self._count(last - done)
            done = last

    def observe_one(self, scores: FloatArray, relevance: NDArray[Any], weight: float = 1.0) -> None:
        """Learn from one example; the same as `observe` with one row, but faster."""
        here = self._n_waiting
        self._scores[here] = scores
        self._relevance[here] = relevance
        self._weights[here] = weight
        self._count(1)

    def add_labels(self, n: int) -> None:
        """Make room for ``n`` new labels, which start from what is common to the others."""
        self._renew()
        self._counts = np.concatenate([self._counts, np.zeros((2, n, _BINS))], axis=1)
        k = len(self.thresholds) + n
        self._scores, self._relevance = np.zeros((_PERIOD, k)), np.zeros((_PERIOD, k), np.int8)
        self._choose()

    def _count(self, n: int) -> None:
        self._n_waiting += n
        due = _next_renewal(self.n_examples)
        self.n_examples += n
        if self.n_examples == due:
            self._renew()

    def _renew(self) -> None:
        """Move the waiting examples into the histograms and choose new thresholds."""
        n, k = self._n_waiting, len(self.thresholds)
        relevance, weights = self._relevance[:n], self._weights[:n]
        bins = ((_relative(self._scores[:n]) + 1) * (_BINS / 2)).astype(np.intp)
        np.minimum(bins, _BINS - 1, out=bins)
        bins += _BINS * np.arange(k) + (_BINS * k) * (relevance == 1)
        counted = weights[:, None] * (relevance != UNKNOWN)
        new = np.bincount(bins.ravel(), counted.ravel(), 2 * k * _BINS)
        self._counts *= _KEEP
        self._counts += new.reshape(2, k, _BINS)
        self._mass = self._mass * _KEEP + float(weights.sum())
        self._n_waiting = 0
        self._choose()

    def _choose(self) -> None:
        irrelevant, relevant = self._counts.sum(axis=1)
        true, false = _from_right(relevant), _from_right(irrelevant)
        if true[0] == 0:  # nothing to learn from yet
            self.thresholds = np.zeros(self._counts.shape[1])
            return
        half = float((true / (true + false + true[0])).max())  # F/2
        gain = relevant * (1 - half) - irrelevant * half
        if self.per_label:
            common = gain * (_COMMON_EXAMPLES / (self._counts.shape[1] * self._mass))
            gains = self._counts[1] * (1 - half) - self._counts[0] * half + common
            self.thresholds = _best_cut(gains)
        else:
            self.thresholds = np.full(self._counts.shape[1], _best_cut(gain[None])[0])


def _next_renewal(n: int) -> int:
    return 1 << n.bit_length() if n < _PERIOD else (n // _PERIOD + 1) * _PERIOD


def _relative(scores: FloatArray) -> FloatArray:
    """Scores in standard deviations from their example's mean, squeezed to (-1, 1); 0 where all are equal."""
    k = scores.shape[-1]
    # z / (1 + |z|) with z = centred / deviation. Equal scores differ from their mean by rounding: that is no order.
    if scores.ndim == 1:  # the same in scalars, which is quicker
        mean = float(np.add.reduce(scores)) / k
        centred = scores - mean
        deviation = math.sqrt(float(np.add.reduce(centred * centred)) / k)
        if deviation <= abs(mean) * _ROUNDING:
            return np.zeros(k)
        return np.asarray(centred / (np.abs(centred) + deviation))
    means = np.add.reduce(scores, axis=1, keepdims=True) / k
    centred = scores - means
    deviations = np.sqrt(np.add.reduce(centred * centred, axis=1, keepdims=True) / k)
    equal = deviations <= np.abs(means) * _ROUNDING
    return np.asarray(np.where(equal, 0.0, centred / (np.abs(centred) + deviations + equal)))


def _from_right(counts: FloatArray) -> FloatArray:
    return np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]


def _best_cut(gain: FloatArray) -> FloatArray:
    """The threshold in [-1, 1] above which most is gained; the middle of a plateau."""
    gains = np.empty((len(gain), _BINS + 2))
    gains[:, :_BINS] = _from_right(gain)
    gains[:, _BINS:] = 0.0, -np.inf  # to name no label; and an end to every plateau
    at_best = gains >= gains.max(axis=1, keepdims=True) - 1e-9
    first = at_best.argmax(axis=1)
    at_best |= np.arange(_BINS + 2) < first[:, None]
    last = at_best.argmin(axis=1) - 1
    return np.asarray((first + last) / _BINS - 1.0)
