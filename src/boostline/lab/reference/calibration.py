"""Probabilities from scores, written for reading: the twin of ``models/ranker/calibration.hpp``, for up to 256 labels.

logit P(label l is relevant) = offset[l] + slope[l] (c + tilt of the row (c + 2) + level of the row), where
c = curve(logit q[l]) + rank_r(logit(r q[l])), q is the row's scores as a distribution, and r the label's rank in it.
The level of the row is level(ln sum q^2) plus a linear function of ln sum v^2, of the mean of ln (k v) and of ln s, of
all votes v that depend on the row, where s is what a vote summed to before it was made shares; the tilt is another such
function. Everything is fitted by Newton steps on the logistic loss, one row at a time. The logits of the highest labels
of a row go through one more curve, which is fitted to these labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MEMORY, FIRST_MEMORY, NEWEST_ROWS = 8000.0, 500.0, 0.1
LABEL_MEMORY, CUT_MEMORY, SHARED_CUT_MEMORY = 200.0, 400.0, 4000.0
OFFSET_PRIOR, SLOPE_PRIOR = 50.0, 300.0
FIRST_ROWS = 100
RANKED = 16  # so many labels of a row have a rank
MOST_VOTES, LEVEL_PRIOR, TILT_PRIOR, MEAN_MEMORY, ROWS_OF_STEP = 16, 20.0, 200.0, 1000, 16
PIVOT = -2.0  # the logit that no tilt moves


class PiecewiseLinear:
    """Hat functions over knots at equal distances, with their Hessian as a full matrix."""

    def __init__(
        self, low: float, step: float, n: int, slope: float, stiffness: float, hold: float = 0.1
    ) -> None:
        self.low, self.step, self.n, self.hold = low, step, n, hold
        self.values = slope * (low + step * np.arange(n))
        between = np.diff(np.eye(n), axis=0)
        self.prior = hold * np.eye(n) + stiffness * between.T @ between
        self.hessian = np.zeros((n, n))

    def hats(self, x: FloatArray) -> FloatArray:
        """Values of the hat functions at x, (len(x), n)."""
        z = np.clip((x - self.low) / self.step, 0, self.n - 1)
        return np.asarray(np.maximum(0.0, 1 - np.abs(z[:, None] - np.arange(self.n))))

    def beyond(self, x: FloatArray) -> FloatArray:
        """How far x is outside of the knots."""
        return np.asarray(x - np.clip(x, self.low, self.low + self.step * (self.n - 1)))

    def learn(
        self, hats: FloatArray, gradient: FloatArray, curvature: FloatArray, share: float
    ) -> None:
        """A share of one Newton step."""
        self.hessian += hats.T @ (curvature[:, None] * hats)
        step = np.linalg.solve(self.hessian + self.prior, hats.T @ gradient)
        self.values = self.values + share * step

    def rising(self, slope: float) -> FloatArray:
        """The nearest values that rise by the slope at least: pool adjacent violators."""
        rise = slope * self.step * np.arange(self.n)
        pools = [
            [v, w, 1]
            for v, w in zip(self.values - rise, np.diag(self.hessian) + self.hold, strict=True)
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


class RowSpread:
    """Two linear functions of what describes the votes on a row, with their Hessians.

    Votes are (n, k + 1), with what they summed to before they were made shares in the last column.
    """

    def __init__(self, n_votes: int) -> None:
        n = 3 * min(n_votes, MOST_VOTES)
        self.means = np.zeros(n)
        self.weights, self.gradients = np.zeros((2, n)), np.zeros((2, n))  # of level and tilt
        self.hessians = np.zeros((2, n, n))
        self.rows, self.variance = 0, 0.0  # that the means are over; of what is said of the level

    def describe(self, votes: FloatArray) -> FloatArray:
        """What is known of the row."""
        v, sums = votes[:MOST_VOTES, :-1], votes[:MOST_VOTES, -1]
        v = v + 0.01 / v.shape[1]
        v = v / v.sum(axis=1, keepdims=True)
        concentrated, flat = np.log((v**2).sum(axis=1)), np.log(v * v.shape[1]).mean(axis=1)
        many = np.log(np.maximum(sums, 0.05))
        return np.asarray(np.column_stack([concentrated, flat, many]).ravel())

    def at(self, votes: FloatArray) -> tuple[float, float]:
        """Level and tilt of the row."""
        level, tilt = self.weights @ self._from_mean(votes)
        unknown = 1 - self._trust() ** 2
        return float(level + unknown * self.variance / 2), float(np.clip(tilt, -0.8, 4.0))

    def _trust(self) -> float:
        return self.rows / (self.rows + 10)

    def _from_mean(self, votes: FloatArray) -> FloatArray:
        return np.asarray(self._trust() * (self.describe(votes) - self.means))

    def learn(
        self, votes: FloatArray, gradients: FloatArray, curvatures: FloatArray, rows: int
    ) -> None:
        """With the derivatives in level and tilt: a Newton step for every 16 rows."""
        from_mean = self._from_mean(votes)
        said = self.weights[0] @ from_mean
        self.variance += self._trust() * (min(said**2, 4.0) - self.variance) / (self.rows + 1)
        self.means = self.means + (self.describe(votes) - self.means) / (self.rows + 1)
        self.rows = min(self.rows + 1, MEAN_MEMORY)
        self.hessians += curvatures[:, None, None] * np.outer(from_mean, from_mean)
        self.gradients += gradients[:, None] * from_mean
        if rows % ROWS_OF_STEP == 0:
            for i, prior in enumerate((LEVEL_PRIOR, TILT_PRIOR)):
                matrix = self.hessians[i] + prior * np.eye(len(from_mean))
                self.weights[i] += np.linalg.solve(matrix, self.gradients[i])
            self.gradients[:] = 0.0


class Calibration:
    """Offsets and slopes of the labels, the shared curve and level, and the thresholds.

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

    def __init__(self, n_labels: int, *, is_distribution: bool, n_votes: int = 0) -> None:
        self.spread = RowSpread(n_votes if is_distribution else 0)
        self.is_distribution = is_distribution
        self.curve = PiecewiseLinear(-11.0, 16 / 23, 24, 1.0, 30.0)
        self.level = PiecewiseLinear(-8.0, 0.5, 17, 0.0, 2.0)
        self.of_ranks = [PiecewiseLinear(-5.0, 1.0, 11, 0.0, 10.0) for _ in range(7)]
        self.last = PiecewiseLinear(-4.0, 0.5, 17, 1.0, 100.0, 100.0)
        self.rows = 0
        self.offset, self.slope = np.zeros(n_labels), np.ones(n_labels)
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

    def probabilities(self, scores: FloatArray, votes: FloatArray | None = None) -> FloatArray:
        """P(relevant) of each label."""
        z = self._logits(scores, votes)
        last = self.last.hats(z) @ self.last.rising(0.05) + self.last.beyond(z)
        return _sigmoid(np.where(_ranks(scores) <= RANKED, last, z))

    def _logits(self, scores: FloatArray, votes: FloatArray | None) -> FloatArray:
        """Before the last curve."""
        u, *_ = self._inner(scores, votes)
        return np.asarray(self.offset + self.slope * u)

    def micro_threshold(self) -> float:
        """F / 2 of the micro-F1."""
        return float((self.cut[0] + 1) / (self.cut[1] + 3))

    def macro_thresholds(self) -> FloatArray:
        """F / 2 of each label's own F1."""
        common = self.micro_threshold()
        return np.asarray((self.cuts[:, 0] + 2 * common) / (self.cuts[:, 1] + 2))

    def learn(
        self,
        scores: FloatArray,
        relevant: NDArray[np.bool_],
        weight: float = 1.0,
        votes: FloatArray | None = None,
    ) -> None:
        """Learn from scores and votes that were given before the example was learned; all labels are known."""
        u, c, by, hats, row, group, of_rank = self._inner(scores, votes)
        z, last_p = self._logits(scores, votes), self.probabilities(scores, votes)
        p = _sigmoid(z)
        micro, macro = self.micro_threshold(), self.macro_thresholds()
        self.rows += 1
        keep = 1 - 1 / min(FIRST_MEMORY + NEWEST_ROWS * self.rows, MEMORY)
        self.last.hessian *= 1 - 1 / min(self.rows + 1, MEMORY)
        self.spread.hessians *= keep
        for function in (self.curve, self.level, *self.of_ranks):
            function.hessian *= keep
        error, v = weight * (relevant - p), weight * (p * (1 - p) + 1e-12)
        gradient, curvature = error * self.slope, v * self.slope**2
        share = (
            1 + 2 * min(1.0, self.rows / FIRST_ROWS)
        ) / 3  # three functions step for the same error
        self.curve.learn(hats, by * gradient, by**2 * curvature, share)
        self.level.learn(row, np.array([gradient.sum()]), np.array([curvature.sum()]), share)
        if votes is not None:
            x = np.stack([np.ones(len(c)), c - PIVOT])
            self.spread.learn(votes, share * x @ gradient, x**2 @ curvature, self.rows)
        for g, function in enumerate(self.of_ranks):
            here = group == g
            function.learn(of_rank[here], by * gradient[here], by**2 * curvature[here], share)
        highest = _ranks(scores) <= RANKED
        errors, curvatures = relevant - last_p, last_p * (1 - last_p)
        self.last.learn(
            self.last.hats(z[highest]), weight * errors[highest], weight * curvatures[highest], 1.0
        )
        for label in range(len(p)):
            x = np.array([1.0, u[label]])
            old = self.hessian[label] * max(0.0, 1 - v[label] / LABEL_MEMORY)
            self.hessian[label] = old + v[label] * np.outer(x, x)
            matrix = self.hessian[label] + np.diag([OFFSET_PRIOR, SLOPE_PRIOR])
            step = np.linalg.solve(matrix, error[label] * x)
            self.offset[label] += step[0]
            self.slope[label] = np.clip(self.slope[label] + step[1], 0.3, 4.0)
        named = last_p > macro
        counted = np.column_stack([named & relevant, named.astype(int) + relevant])
        self.cuts[named | relevant] *= 1 - 1 / CUT_MEMORY
        self.cuts += weight * counted
        named = last_p > micro
        right, both = (named & relevant).sum(), named.sum() + relevant.sum()
        self.cut = self.cut * (1 - 1 / SHARED_CUT_MEMORY) + weight * np.array([right, both])

    def _inner(
        self, scores: FloatArray, votes: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, float, FloatArray, FloatArray, NDArray[np.intp], FloatArray]:
        """What is multiplied by the slopes, c, 1 + tilt; hats of curve and level; groups of ranks and their hats."""
        q = self.distribution(scores)
        x = _logit(q)
        hats = self.curve.hats(x)
        row = self.level.hats(np.array([np.log((q**2).sum())]))
        rank = _ranks(q)
        has_rank = rank <= RANKED
        group = np.where(rank <= 5, rank - 1, np.where(rank <= 8, 5, 6))
        shares = _logit(np.where(has_rank, np.minimum(rank * q, 1.0), 0.0))
        of_rank = self.of_ranks[0].hats(shares)
        values = np.array([function.rising(0.0) for function in self.of_ranks])
        c = hats @ self.curve.rising(0.05) + 0.5 * self.curve.beyond(x)
        c = c + (of_rank * values[group]).sum(axis=1)
        level, tilt = (0.0, 0.0) if votes is None else self.spread.at(votes)
        u = c + tilt * (c - PIVOT) + row @ self.level.values + level
        return u, c, 1 + tilt, hats, row, group, of_rank


def _ranks(scores: FloatArray) -> NDArray[np.intp]:
    rank = np.empty(len(scores), np.intp)
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return rank


def _sigmoid(z: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.minimum(z, 30))))


def _logit(q: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(q, 1e-300)) - np.log(np.maximum(1 - q, 1e-9)))
