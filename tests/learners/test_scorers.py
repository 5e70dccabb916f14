"""Linear, ridge, kernel, neighbours, recency and the committee: against twins, and in hard weather."""

import numpy as np
import pytest
from model_zoo import ZOO, K
from numpy_twins import LinearTwin, NeighboursTwin, RecencyTwin

import boostline as bl
from boostline.learners import (
    Committee,
    Kernel,
    Linear,
    Neighbours,
    OutputNeighbours,
    Recency,
    Ridge,
    Tracker,
)

#: Of the zoo; the others see no features.
SCORERS = [
    "linear",
    "linear-hashed",
    "sparse-linear",
    "ridge",
    "ridge-forgetting",
    "tracker",
    "kernel",
    "neighbours",
    "committee",
    "committee-few-features",
]


def stream(n=200, d=7, seed=0, zeros=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 30, size=d) + rng.normal(size=d) * 5
    X[rng.random((n, d)) < zeros] = 0.0
    Y = rng.random((n, K)) < 0.2
    Y |= (X[:, :K] - X[:, :K].mean(axis=0)) / X[:, :K].std(axis=0) > 0.8
    return X, Y


@pytest.mark.parametrize("name", SCORERS)
def test_it_learns(name):
    X, Y = stream(600)
    scores = ZOO[name].make().learn(X, Y)
    late = slice(300, None)
    frequency = np.tile(Y.mean(axis=0), (300, 1))
    assert bl.metrics.rank_loss(Y[late], scores[late]) < 0.85 * bl.metrics.rank_loss(
        Y[late], frequency
    )


def proportional(raw):
    votes = np.maximum(raw, 0) + 1e-6
    return votes / votes.sum()


def soft_clip(raw):
    votes = (raw + np.sqrt(raw * raw + 0.003**2)) / 2 + 1e-9
    return votes / votes.sum()


def compare_votes(learner, twin, encode, X, Y, tolerance):
    model = bl.LabelRanker(K, learners=[learner], drift=None)
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        expected = encode(twin.score(x))
        np.testing.assert_allclose(
            model.votes(x)[0], expected, rtol=tolerance, atol=tolerance, err_msg=f"row {t}"
        )
        model.learn(x, y)
        if isinstance(learner, Tracker) or (y.any() and not y.all()):
            twin.learn(x, y.astype(float))


@pytest.mark.parametrize("zeros", [0.0, 0.8])
def test_linear_is_its_twin(zeros):
    X, Y = stream(150, zeros=zeros)
    twin = LinearTwin(K, 7, seed=3, n_replays=4, memory=50)
    compare_votes(Linear(n_replays=4, memory=50, seed=3), twin, proportional, X, Y, 1e-5)


def test_hashed_features_are_added_and_missing_ones_add_nothing():
    X, Y = stream(150, zeros=0.4)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    twin = LinearTwin(K, 7, seed=3, n_replays=4, memory=50, n_hashed=3)
    learner = Linear(n_replays=4, memory=50, n_hashed=3, seed=3)
    compare_votes(learner, twin, proportional, X, Y, 1e-5)


@pytest.mark.parametrize("zeros", [0.0, 0.8])
def test_neighbours_are_their_twin(zeros):
    X, Y = stream(200, zeros=zeros)
    twin = NeighboursTwin(K, 7, n_neighbours=7, memory=60)
    compare_votes(Neighbours(n_neighbours=7, memory=60), twin, proportional, X, Y, 1e-9)


def test_recency_is_its_twin():
    X, Y = stream(100)
    compare_votes(Recency(0.9), RecencyTwin(K, 0.9), proportional, X, Y, 1e-12)


class TrackerTwin:
    """One step along each row, 4 step (y - p) / (1 + |u|^2), on the features as scaled before it."""

    def __init__(self, d, step):
        self.rows, self.weights, self.bias, self.step = [], np.zeros((d, K)), np.full(K, -3.0), step

    def _input(self, x):
        if not self.rows:
            return np.zeros(len(x))
        rows = np.array(self.rows)
        sd = rows.std(axis=0)
        ok = sd > 1e-9 * np.abs(rows.mean(axis=0))
        u = np.where(ok, (x - rows.mean(axis=0)) / np.where(ok, sd, 1), 0)
        return np.clip(u, -5, 5)

    def score(self, x):
        return 1 / (1 + np.exp(-(self._input(x) @ self.weights + self.bias)))

    def learn(self, x, y):
        u = self._input(x)
        steps = 4 * self.step / (1 + u @ u) * (y - self.score(x))
        self.weights += np.outer(u, steps)
        self.bias += steps
        self.rows.append(x)


@pytest.mark.parametrize("step", [0.2, 0.8])
def test_a_tracker_is_its_twin(step):
    X, Y = stream(200)
    compare_votes(Tracker(step), TrackerTwin(7, step), proportional, X, Y, 1e-8)


def test_a_tracker_follows_frequencies_that_swing():
    """Where a label is frequent for a while, the bias of all rows is wrong; that of the last ones is not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 5))
    phase = 2 * np.pi * (np.arange(6000)[:, None] / 1500 + np.arange(K) / K)
    Y = X[:, np.arange(K) % 5] + 2 * np.sin(phase) > 1.5
    loss = {}
    for learner in (Tracker(0.8), Ridge(), Ridge(forgetting=0.99)):
        model = bl.LabelRanker(K, learners=[learner], drift=None)
        loss[learner] = bl.metrics.rank_loss(Y[2000:], model.learn(X, Y)[2000:])
    assert loss[Tracker(0.8)] < min(loss[Ridge()], loss[Ridge(forgetting=0.99)])


class BatchRidge:
    """Ridge regression solved anew for every row, on the features as each was computed at its step."""

    def __init__(self, d, ridge=3.0):
        self.rows, self.inputs, self.targets, self.ridge, self.d = [], [], [], ridge, d

    def _input(self, x):
        if not self.rows:
            return np.r_[np.zeros(self.d), 1.0]
        rows = np.array(self.rows)
        sd = rows.std(axis=0)
        ok = sd > 1e-9 * np.abs(rows.mean(axis=0))
        u = np.where(ok, (x - rows.mean(axis=0)) / np.where(ok, sd, 1), 0)
        return np.r_[np.clip(u, -5, 5) / np.sqrt(self.d), 1.0]

    def score(self, x):
        z = self._input(x)
        if not self.inputs:
            return np.zeros(K)
        Z, T = np.array(self.inputs), np.array(self.targets)
        return z @ np.linalg.solve(Z.T @ Z + self.ridge * np.eye(self.d + 1), Z.T @ T)

    def learn(self, x, y):
        self.inputs.append(self._input(x))
        self.targets.append(y)
        self.rows.append(x)


def test_ridge_is_batch_ridge_at_every_step():
    X, Y = stream(120)
    compare_votes(Ridge(), BatchRidge(7), soft_clip, X, Y, 1e-6)


class BatchKernel:
    """Kernel ridge regression solved anew for every row, with the scale of the last rebuild."""

    def __init__(self, landmarks, ridge=0.3, jitter=1e-3):
        self.X, self.Y, self.M, self.ridge, self.jitter = [], [], landmarks, ridge, jitter
        self.scale = None

    def _u(self, X):
        mean, inverse, _ = self.scale
        return np.clip((X - mean) * inverse, -5, 5) / np.sqrt(max((inverse > 0).sum(), 1))

    def _kernel(self, A, B):
        return np.exp(-np.linalg.norm(A[:, None] - B[None], axis=2) / self.scale[2]) + 1

    def score(self, x):
        if self.scale is None:
            return np.mean(self.Y, axis=0) if self.Y else np.zeros(K)
        U, T, u = self._u(np.array(self.X)), np.array(self.Y), self._u(x[None])
        if len(U) < self.M:
            Q = self._kernel(U, U) + self.ridge * np.eye(len(U))
            return (self._kernel(u, U) @ np.linalg.solve(Q, T))[0]
        # landmarks are the first M rows: least squares on their kernel, penalised by K
        L = U[: self.M]
        KMM = self._kernel(L, L) + self.jitter * np.eye(self.M)
        KNM = np.vstack([KMM, self._kernel(U[self.M :], L)])
        A = np.linalg.solve(KNM.T @ KNM + self.ridge * KMM, KNM.T @ T)
        return (self._kernel(u, L) @ A)[0]

    def learn(self, x, y):
        self.X.append(x)
        self.Y.append(y)
        t = len(self.X)
        if t <= self.M and (t == self.M or (t >= 32 and t & (t - 1) == 0)):
            X = np.array(self.X)
            mean, sd = X.mean(axis=0), X.std(axis=0)
            ok = (sd > 1e-9 * np.abs(mean)) & (sd > 0)
            self.scale = (mean, np.where(ok, 1 / np.where(ok, sd, 1), 0), 1.0)
            U = self._u(X)
            h = np.sqrt(2 * ((U - U.mean(axis=0)) ** 2).sum(axis=1).mean() + 1e-12)
            self.scale = (*self.scale[:2], h)


@pytest.mark.gate
@pytest.mark.parametrize("zeros", [0.0, 0.9])
def test_kernel_is_batch_kernel_ridge_at_every_step(zeros):
    """Distances are in single precision, and, while there are not all landmarks, products with the inverse."""
    X, Y = stream(220, zeros=zeros)
    compare_votes(Kernel(n_landmarks=100, ridge=0.3), BatchKernel(100), soft_clip, X, Y, 1e-4)


def test_repeated_rows_do_not_break_the_kernel():
    X, Y = stream(40)
    X, Y = np.repeat(X, 10, axis=0), np.repeat(Y, 10, axis=0)
    scores = bl.LabelRanker(K, learners=[Kernel(n_landmarks=100)]).learn(X, Y)
    assert np.isfinite(scores).all()


def test_recursive_least_squares_does_not_drift():
    """After 30,000 steps the weights still are those of a fresh solve."""
    rng = np.random.default_rng(0)
    n, d = 30_000, 5
    X = rng.normal(size=(n, d))
    Y = X[:, :K] + 0.5 * rng.normal(size=(n, K)) > 0.5
    model = bl.LabelRanker(K, learners=[Ridge()], drift=None)
    twin = BatchRidge(d)
    kept = Y.any(axis=1) & ~Y.all(axis=1)
    X, Y = X[kept], Y[kept]
    model.learn(X, Y)
    count = np.arange(len(X))[:, None]
    mean = np.vstack([np.zeros(d), np.cumsum(X, axis=0)[:-1]]) / np.maximum(count, 1)
    square = np.vstack([np.zeros(d), np.cumsum(X * X, axis=0)[:-1]]) / np.maximum(count, 1)
    sd = np.sqrt(np.maximum(square - mean**2, 0))
    u = np.where(sd > 1e-6, (X - mean) / np.where(sd > 1e-6, sd, 1), 0)
    Z = np.column_stack([np.clip(u, -5, 5) / np.sqrt(d), np.ones(len(X))])
    solved = np.linalg.solve(Z.T @ Z + twin.ridge * np.eye(d + 1), Z.T @ Y)
    ours = model.state()["arrays"]["learners.0.weights"].reshape(d + 1, K)
    np.testing.assert_allclose(ours, solved, rtol=1e-6, atol=1e-8)


def test_forgetting_follows_a_target_that_turns_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 5))
    Y = X[:, :K] > 0.3
    Y[600:] = Y[600:, ::-1]
    loss = {}
    for forgetting in (1.0, 0.98):
        model = bl.LabelRanker(K, learners=[Ridge(forgetting=forgetting)], drift=None)
        loss[forgetting] = bl.metrics.rank_loss(Y[800:], model.learn(X, Y)[800:])
    assert loss[0.98] < 0.5 * loss[1.0]


@pytest.mark.parametrize(
    "build",
    [
        lambda: Linear(n_replays=-1),
        lambda: Linear(learning_rate=0.0),
        lambda: Ridge(ridge=0.0),
        lambda: Tracker(step=0.0),
        lambda: Tracker(step=1.5),
        lambda: Kernel(n_landmarks=5),
        lambda: Neighbours(n_neighbours=0),
        lambda: Recency(decay=1.5),
        lambda: Committee([OutputNeighbours()]),
        lambda: Committee([OutputNeighbours(), Kernel()]),
        lambda: Committee([]),
    ],
)
def test_bad_settings_are_refused(build):
    with pytest.raises(ValueError):
        build()


def test_a_committee_is_made_of_scorers():
    with pytest.raises(TypeError, match="members has 'linear', but must be scorers"):
        Committee([Kernel(), "linear"])


def test_members_read_those_that_they_name():
    """Neighbours by the ridge's scores are the same, whoever else is a member."""
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(60, 4)), rng.random((60, K)) < 0.4
    reader = OutputNeighbours(reads=("ridge",))
    alone = bl.LabelRanker(K, learners=[Committee([Ridge(), reader])], drift=None)
    members = [Neighbours(), Linear(), Ridge(), reader]
    among = bl.LabelRanker(K, learners=[Committee(members)], drift=None)
    for model in (alone, among):
        model.learn(X, Y)
    np.testing.assert_array_equal(alone.votes(X)[:, 1], among.votes(X)[:, 3])


@pytest.mark.parametrize("reads", [0, None, "kernel", ["kernel", 3]])
def test_a_member_reads_members_by_their_names(reads):
    with pytest.raises(TypeError, match=r"reads is .*, but must be names of a committee's members"):
        OutputNeighbours(reads=reads)
