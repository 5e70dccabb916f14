"""Plain NumPy versions of the scorers of the core, one row at a time: what they compute, without any trick.

``score(x)`` gives the raw scores of a dense row (NaN: missing) and changes nothing; ``learn(x, y, importance)`` takes
targets 1 (relevant), 0 (irrelevant) and -1 (unknown).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]


def is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


class ScaleTwin:
    """Running scale of features and the scaled view of a row (``feature_scale.hpp``, ``row_scale.hpp``)."""

    def __init__(self, n_features: int) -> None:
        self.n = 0
        self.known, self.nonzero, self.sum, self.squares = np.zeros((4, n_features))
        self.mean, self.m2 = np.zeros((2, n_features))  # Welford, zeros included
        self.is_dense = np.zeros(n_features, bool)

    def learn(self, x: Array) -> None:
        self.n += 1
        seen = ~np.isnan(x)
        value = np.where(seen, x, 0.0)
        self.known += seen
        self.nonzero += seen & (value != 0)
        self.squares += value**2
        delta = np.where(seen, value - self.mean, 0.0)
        self.mean = self.mean + delta / np.maximum(self.known, 1)
        self.m2 = self.m2 + delta * (value - self.mean)
        if self.n % 256 == 0 or is_power_of_two(self.n):
            self.is_dense = 2 * self.nonzero > self.known

    def apply(self, x: Array) -> tuple[Array, Array]:
        """The scaled row, and which features take part in it."""
        seen = ~np.isnan(x)
        value = np.where(seen, x, 0.0)
        root_mean_square = np.sqrt(self.squares / np.maximum(self.nonzero, 1))
        sparse = ~self.is_dense & (value != 0) & (root_mean_square > 0)
        out = np.zeros(len(x))
        out[sparse] = np.clip(value[sparse] / root_mean_square[sparse], -5, 5)
        if sparse.any():
            out[sparse] /= np.sqrt((out[sparse] ** 2).sum())
        deviation = np.sqrt(self.m2 / np.maximum(self.known, 1))
        varying = self.is_dense & (deviation > 1e-9 * np.abs(self.mean)) & (deviation > 0)
        dense = varying & seen
        scaled = np.clip((value[dense] - self.mean[dense]) / deviation[dense], -5, 5)
        out[dense] = scaled / np.sqrt(max(varying.sum(), 1))
        return out, sparse | dense


def hash_buckets(n_features: int, n_hashed: int) -> Array:
    """The bucket of each feature: the finaliser of splitmix64, modulo the number of buckets."""
    z = np.arange(n_features, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(n_hashed)).astype(int)


def rough_inverse_sqrt(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """A guess from the bits and a step of Newton's method: to 1.8e-3."""
    y = (np.uint32(0x5F375A86) - (x.view(np.uint32) >> np.uint32(1))).view(np.float32)
    z = y * (np.float32(1.5) - np.float32(0.5) * (x * (y * y)))
    return z.astype(np.float32)


class LinearTwin:
    """Logistic regression for each label by AdaGrad with replay (``learners/linear/linear.cpp``).

    Weights and the sums of their squares are kept in single precision.
    """

    def __init__(
        self,
        n_labels: int,
        n_features: int,
        seed: int = 0,
        n_replays: int = 16,
        memory: int = 4000,
        learning_rate: float = 0.3,
        n_hashed: int = 0,
    ) -> None:
        self.buckets = hash_buckets(n_features, n_hashed) if n_hashed else None
        n_inputs = n_hashed or n_features
        self.scale = ScaleTwin(n_inputs)
        self.seed, self.n_replays, self.memory, self.rate = seed, n_replays, memory, learning_rate
        self.weights, self.squares = (
            np.zeros((n_inputs, n_labels), np.float32),
            np.full((n_inputs, n_labels), 1e-8, np.float32),
        )
        self.bias, self.bias_squares = np.full(n_labels, -3.0), np.full(n_labels, 1e-8)
        self.rows: list[tuple[Array, Array, float]] = []  # (x, y, importance), oldest first

    def read(self, x: Array) -> Array:
        if self.buckets is None:
            return x
        return np.bincount(self.buckets, np.nan_to_num(x), len(self.weights))

    def probabilities(self, u: Array) -> Array:
        return 1 / (1 + np.exp(-np.clip(self.bias + u @ self.weights, -30, 30)))

    def score(self, x: Array) -> Array:
        return self.probabilities(self.scale.apply(self.read(x))[0])

    def step(self, x: Array, y: Array, importance: float) -> None:
        u, active = self.scale.apply(x)
        weight = np.where(y < 0, 0.0, importance)
        gradient = weight * (self.probabilities(u) - y)
        self.bias_squares += gradient**2
        self.bias -= self.rate * gradient / np.sqrt(self.bias_squares)
        is_table = 2 * self.scale.is_dense.sum() >= len(self.scale.is_dense)
        penalty = np.where(self.scale.is_dense & is_table, 1e-4, 1e-3)[active, None]
        e = u[active, None] * gradient + penalty * weight * self.weights[active]
        self.squares[active] += e**2
        self.weights[active] -= self.rate * e * rough_inverse_sqrt(self.squares[active])

    def learn(self, x: Array, y: Array, importance: float = 1.0) -> None:
        x = self.read(x)
        t = self.scale.n
        self.scale.learn(x)
        self.step(x, y, importance)
        for q in range(self.n_replays if self.rows else 0):
            draw = np.random.Generator(
                np.random.Philox(counter=t * self.n_replays + q, key=self.seed)
            ).random()
            self.step(*self.rows[-1 - int(draw * len(self.rows))])
        self.rows = [*self.rows, (x, y, importance)][-self.memory :]


class NearestTwin:
    """Labels of the nearest of the last points (``nearest_memory.hpp``); points are kept in single precision."""

    def __init__(self, n_labels: int, n_neighbours: int = 40, memory: int = 4000) -> None:
        self.n_neighbours, self.memory = n_neighbours, memory
        self.points: list[Array] = []  # oldest first, as the next two
        self.targets: list[Array] = []
        self.importance: list[float] = []
        self.relevant, self.known = np.zeros((2, n_labels))

    def score(self, point: ArrayLike) -> Array:
        frequency = np.where(
            self.known > 0, self.relevant / np.where(self.known > 0, self.known, 1), 0.0
        )
        if not self.points:
            return frequency
        product, square = np.zeros((2, len(self.points)), np.float32)
        own_square = np.float32(0)
        for theirs, own in zip(np.array(self.points).T, np.asarray(point, np.float32), strict=True):
            product += theirs * own
            square += theirs * theirs
            own_square += own * own
        distance = np.maximum((square + own_square) - 2 * product, 0).astype(float)
        age = np.arange(len(distance))[::-1]
        nearest = np.lexsort((age, distance))[: self.n_neighbours]
        x = distance[nearest] / (distance[nearest].max() + 1e-12)
        weight = np.maximum((1 - x) / (x + 0.05), 0) * np.array(self.importance)[nearest]
        y = np.array(self.targets)[nearest]
        votes: Array = frequency + weight @ np.where(y < 0, frequency, y)
        return np.asarray(votes / (1 + weight.sum()))

    def add(self, point: ArrayLike, y: Array, importance: float = 1.0) -> None:
        self.known += importance * (y >= 0)
        self.relevant += importance * (y > 0)
        self.points = [*self.points, np.asarray(point, np.float32)][-self.memory :]
        self.targets = [*self.targets, np.asarray(y, float)][-self.memory :]
        self.importance = [*self.importance, importance][-self.memory :]


class NeighboursTwin:
    """The nearest of the last rows on a common scale (``learners/neighbours/neighbours.cpp``)."""

    def __init__(
        self, n_labels: int, n_features: int, n_neighbours: int = 40, memory: int = 4000
    ) -> None:
        self.scale = ScaleTwin(n_features)
        self.nearest = NearestTwin(n_labels, n_neighbours, memory)
        self.rows: list[Array] = []

    def score(self, x: Array) -> Array:
        return self.nearest.score(self.scale.apply(x)[0])

    def learn(self, x: Array, y: Array, importance: float = 1.0) -> None:
        self.nearest.add(self.scale.apply(x)[0], y, importance)
        self.rows = [*self.rows, x][-self.nearest.memory :]
        self.scale.learn(x)
        if self.scale.n % 512 == 0 or is_power_of_two(self.scale.n):
            self.nearest.points = [self.scale.apply(row)[0].astype(np.float32) for row in self.rows]


class RecencyTwin:
    """Fading counts of the labels (``learners/linear/recency.cpp``)."""

    def __init__(self, n_labels: int, decay: float) -> None:
        self.decay, self.counts, self.total = decay, np.zeros(n_labels), 0.0

    def score(self, x: Array | None = None) -> Array:
        return self.counts.copy()

    def learn(self, x: Array, y: Array, importance: float = 1.0) -> None:
        share = self.counts / self.total if self.total > 0 else self.counts
        self.counts = self.decay * self.counts + importance * np.where(y < 0, share, y)
        self.total = self.decay * self.total + importance
