"""Probabilities from scores, written for reading: the twin of ``models/ranker/calibration.hpp``, for up to 256 labels.

logit P(label l is relevant) = offset[l] + steepness[l] curve(x + slope(concentration of the votes) (x + 2) +
level(concentration of the scores) + sums(ln of the votes' sum)), where x = logit q[l], and q is the row's scores as a
distribution. The concentration of shares q is ln sum q^2; that of the votes is their mean by the learners' weights, and
so is the ln of what they summed to before they were normalised. The functions are piecewise linear and fitted by Newton
steps on the logistic loss, one row at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

FloatArray = NDArray[np.float64]

MEMORY, FIRST_MEMORY, NEWEST_ROWS = 8000.0, 500.0, 0.1
LABEL_MEMORY, CUT_MEMORY, SHARED_CUT_MEMORY = 200.0, 400.0, 4000.0
LABEL_PRIOR = np.diag([50.0, 300.0])  # of offset and steepness
FIRST_ROWS = 100
PIVOT = -2.0  # the logit that no slope moves


class PiecewiseLinear:
    """Hat functions over knots at equal distances, with their Hessian as a full matrix."""

    def __init__(self, low: float, step: float, n: int, slope: float, stiffness: float) -> None:
        self.low, self.step, self.n = low, step, n
        self.values = slope * (low + step * np.arange(n))
        between = np.diff(np.eye(n), axis=0)
        self.prior = 0.1 * np.eye(n) + stiffness * between.T @ between
        self.hessian = np.zeros((n, n))

    def hats(self, x: FloatArray) -> FloatArray:
        """Values of the hat functions at x, (len(x), n)."""
        z = np.clip((x - self.low) / self.step, 0, self.n - 1)
        return np.asarray(np.maximum(0.0, 1 - np.abs(z[:, None] - np.arange(self.n))))

    def at(self, x: float) -> float:
        """The function at x."""
        return float((self.hats(np.array([x])) @ self.values)[0])

    def rising_at(self, x: FloatArray) -> FloatArray:
        """The nearest function that rises; beyond the knots it goes on with half the step."""
        beyond = x - np.clip(x, self.low, self.low + self.step * (self.n - 1))
        return np.asarray(self.hats(x) @ self.rising(0.05) + 0.5 * beyond)

    def rise_at(self, x: FloatArray) -> FloatArray:
        """Its slope there."""
        z = (x - self.low) / self.step
        left = np.clip(z, 0, self.n - 2).astype(int)
        slopes = np.diff(self.rising(0.05))[left] / self.step
        return np.where((z < 0) | (z > self.n - 1), 0.5, slopes)

    def learn(
        self, x: FloatArray, gradient: FloatArray, curvature: FloatArray, keep: float, share: float
    ) -> None:
        """A share of one Newton step."""
        hats = self.hats(x)
        self.hessian = keep * self.hessian + hats.T @ (curvature[:, None] * hats)
        step = np.linalg.solve(self.hessian + self.prior, hats.T @ gradient)
        self.values = self.values + share * step

    def rising(self, slope: float) -> FloatArray:
        """The nearest values that rise by the slope at least: pool adjacent violators."""
        rise = slope * self.step * np.arange(self.n)
        pools = [
            [v, w, 1] for v, w in zip(self.values - rise, np.diag(self.hessian) + 0.1, strict=True)
        ]
        i = 0
        while i + 1 < len(pools):
            (v0, w0, n0), (v1, w1, n1) = pools[i], pools[i + 1]
            if v0 < v1:
                i += 1
                continue
            pools[i : i + 2] = [[(v0 * w0 + v1 * w1) / (w0 + w1), w0 + w1, n0 + n1]]
            i = max(i - 1, 0)
        return np.asarray(np.concatenate([np.full(int(n), v) for v, _, n in pools]) + rise)


class Calibration:
    """The shared functions, and the thresholds.

    Votes are (n, k + 1), with what they summed to before they were normalised in the last column; ``weights`` are those
    of their learners.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> twin = Calibration(3, is_distribution=True)
    >>> for _ in range(500):
    ...     scores = rng.dirichlet([1.0, 1.0, 1.0])
    ...     twin.learn(scores, scores == scores.max())
    >>> twin.probabilities(np.array([0.8, 0.1, 0.1])).round(1)
    array([1., 0., 0.])
    """

    def __init__(self, n_labels: int, *, is_distribution: bool) -> None:
        self.is_distribution = is_distribution
        self.curve = PiecewiseLinear(-11.0, 16 / 23, 24, 1.0, 30.0)
        self.level = PiecewiseLinear(-8.0, 0.5, 17, 0.0, 2.0)
        self.sums = PiecewiseLinear(-4.0, 0.5, 17, 0.0, 5.0)
        self.slope = PiecewiseLinear(-8.0, 0.5, 17, 0.0, 50.0)
        self.rows = 0
        self.offset, self.steepness = np.zeros(n_labels), np.ones(n_labels)
        self.hessian = np.zeros((n_labels, 2, 2))
        self.cut = np.zeros(2)  # named rightly; named plus relevant
        self.cuts = np.zeros((n_labels, 2))

    def distribution(self, scores: FloatArray) -> FloatArray:
        """The scores as q."""
        if not self.is_distribution:
            deviation = scores.std()
            equal = deviation <= abs(scores.mean()) * 1e-13
            scores = np.exp(0 * scores if equal else 2 * (scores - scores.max()) / deviation)
        return np.asarray(scores / scores.sum())

    def describe(
        self, scores: FloatArray, votes: FloatArray | None, weights: FloatArray | None
    ) -> tuple[float, float, float]:
        """Concentration of the scores; concentration and ln sum of the votes."""
        own = float(np.log((self.distribution(scores) ** 2).sum()))
        if votes is None or weights is None:
            return own, 0.0, 0.0
        v, sums, w = votes[:, :-1] + 0.01 / (votes.shape[1] - 1), votes[:, -1], weights + 1e-3
        v = v / v.sum(axis=1, keepdims=True)
        concentration = w @ np.log((v**2).sum(axis=1)) / w.sum()
        reporting = sums > 0
        logs = np.log(np.maximum(sums[reporting], 0.05))
        log_sum = w[reporting] @ logs / w[reporting].sum() if reporting.any() else 0.0
        return own, float(concentration), float(log_sum)

    def probabilities(
        self, scores: FloatArray, votes: FloatArray | None = None, weights: FloatArray | None = None
    ) -> FloatArray:
        """P(relevant) of each label; it never rises along the ranking."""
        order = np.argsort(-scores, kind="stable")
        p = self._of_labels(scores, votes, weights)
        p[order] = -isotonic_regression(-p[order]).x
        return p

    def _of_labels(
        self, scores: FloatArray, votes: FloatArray | None, weights: FloatArray | None
    ) -> FloatArray:
        """The same, each label by itself."""
        inner = self.curve.rising_at(self._inner(scores, votes, weights))
        return _sigmoid(self.offset + self.steepness * inner)

    def _inner(
        self, scores: FloatArray, votes: FloatArray | None, weights: FloatArray | None
    ) -> FloatArray:
        """What the curve is applied to."""
        own, concentration, log_sum = self.describe(scores, votes, weights)
        x, tilt = _logit(self.distribution(scores)), np.clip(self.slope.at(concentration), -0.8, 4)
        return np.asarray(x + tilt * (x - PIVOT) + self.level.at(own) + self.sums.at(log_sum))

    def micro_threshold(self) -> float:
        """F / 2 of the micro-F1."""
        return float((self.cut[0] + 1) / (self.cut[1] + 3))

    def macro_threshold(self) -> float:
        """The mean of `label_thresholds`, over labels with evidence."""
        of_labels = self.label_thresholds()[self.cuts[:, 1] > 0]
        return float(of_labels.mean()) if len(of_labels) else self.micro_threshold()

    def label_thresholds(self) -> FloatArray:
        """F / 2 of each label's own F1."""
        common = self.micro_threshold()
        return np.asarray((self.cuts[:, 0] + 2 * common) / (self.cuts[:, 1] + 2))

    def learn(
        self,
        scores: FloatArray,
        relevant: NDArray[np.bool_],
        weight: float = 1.0,
        votes: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        """Learn from scores and votes that were given before the example was learned; all labels are known."""
        p = self._of_labels(scores, votes, weights)
        micro, of_labels = self.micro_threshold(), self.label_thresholds()
        own, concentration, log_sum = self.describe(scores, votes, weights)
        u, x = self._inner(scores, votes, weights), _logit(self.distribution(scores)) - PIVOT
        rise, inner = self.steepness * self.curve.rise_at(u), self.curve.rising_at(u)
        self.rows += 1
        keep = 1 - 1 / min(FIRST_MEMORY + NEWEST_ROWS * self.rows, MEMORY)
        # Four functions step for the same error.
        share = (1 + 2 * min(1.0, self.rows / FIRST_ROWS)) / 3
        error, v = weight * (relevant - p), weight * (p * (1 - p) + 1e-12)
        self.curve.learn(u, self.steepness * error, self.steepness**2 * v, keep, share)
        for function, at, of_row in (
            (self.level, own, rise),
            (self.sums, log_sum, rise),
            (self.slope, concentration, rise * np.maximum(x, -50.0)),
        ):
            sums = np.array([of_row @ error]), np.array([of_row**2 @ v])
            function.learn(np.array([at]), *sums, keep, share)
        for label in range(len(p)):
            line = np.array([1.0, inner[label]])
            old = self.hessian[label] * max(0.0, 1 - v[label] / LABEL_MEMORY)
            self.hessian[label] = old + v[label] * np.outer(line, line)
            step = np.linalg.solve(self.hessian[label] + LABEL_PRIOR, error[label] * line)
            self.offset[label] += step[0]
            self.steepness[label] = np.clip(self.steepness[label] + step[1], 0.3, 4.0)
        named = p > of_labels
        counted = np.column_stack([named & relevant, named.astype(int) + relevant])
        self.cuts[named | relevant] *= 1 - 1 / CUT_MEMORY
        self.cuts += weight * counted
        named = p > micro
        right, both = (named & relevant).sum(), named.sum() + relevant.sum()
        self.cut = self.cut * (1 - 1 / SHARED_CUT_MEMORY) + weight * np.array([right, both])


def _sigmoid(z: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.minimum(z, 30))))


def _logit(q: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(q, 1e-300)) - np.log(np.maximum(1 - q, 1e-9)))
