"""How votes are mixed, against the NumPy twin, and what happens when the stream changes."""

import numpy as np
import pytest
from states import assert_same_model

import boostline as bl
from boostline import _core
from boostline.lab import reference


def stream(n=400, d=8, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, k)) / np.sqrt(d) + 0.3 * rng.normal(size=(n, k)) > 0.6


def test_the_core_follows_the_rule():
    X, Y = stream()
    learners = [bl.learners.paper_trees(6), bl.learners.Recency(0.9), bl.learners.Recency(0.5)]
    model = bl.LabelRanker(5, learners=learners, drift=None, seed=1)
    twin = reference.LabelRanker(5, np.array([1.0] * 6 + [0.12] * 2))
    rng = np.random.default_rng(0)
    rank_losses = 0.0
    for x, y in zip(X, Y, strict=True):
        votes = model.votes(x)
        unknown = (rng.random(5) < 0.1) & ~y
        weight = rng.random()
        given = model.learn(x, y, unknown=unknown, weight=weight)
        expected = twin.learn(votes, y, ~y & ~unknown, weight)
        np.testing.assert_allclose(given, expected, rtol=1e-9, atol=1e-12)
        if y.any():  # of the scores as they were given: trees vote alike, and rounding breaks ties
            b = np.log1p((~y & ~unknown).sum() / y.sum())
            rank_losses += weight * min(b, 1) * reference.rank_loss(given, y, ~y & ~unknown)
    arrays = model.state()["arrays"]
    np.testing.assert_allclose(
        arrays["chain_weights"].reshape(2, 18), twin.portfolio.chains, rtol=1e-9
    )
    np.testing.assert_allclose(arrays["chain_masses"], twin.portfolio.masses, rtol=1e-9)
    np.testing.assert_allclose(arrays["pool_exponents"], twin.pool.exponents, rtol=1e-9)
    np.testing.assert_allclose(arrays["pool_curvatures"], twin.pool.curvatures, rtol=1e-9)
    np.testing.assert_allclose(arrays["regret_gains"], twin.portfolio.gains, rtol=1e-8, atol=1e-10)
    expected = [twin.surrogate[0], rank_losses, twin.surrogate[2]]
    np.testing.assert_allclose(model.diagnostics.surrogate, expected, rtol=1e-9)


@pytest.mark.parametrize("relevant", [set(), set(range(5))])
def test_of_rows_without_a_pair_trackers_alone_learn(relevant):
    X, Y = stream(60)
    members = bl.learners.Committee([bl.learners.Ridge(), bl.learners.Tracker()])
    model = bl.LabelRanker(
        5, learners=[members, bl.learners.Recency(), bl.learners.HoeffdingTree()]
    )
    model.learn(X, Y)
    before, pairs = model.state()["arrays"], model.diagnostics.rows_without_pairs
    model.learn(X[0], relevant)
    after = model.state()["arrays"]
    assert model.diagnostics.rows_without_pairs == pairs + 1
    moved = after["learners.0.tracker.bias"] - before["learners.0.tracker.bias"]
    assert (moved > 0).all() if relevant else (moved < 0).all()
    for name in before:
        if name.startswith(("chain_", "pool_", "learners.")) and ".tracker." not in name:
            np.testing.assert_array_equal(after[name], before[name], name)


@pytest.mark.parametrize(
    ("booster", "options"),
    [(bl.LabelRanker, {})]
    + [(bl.AdaOLMR, {"expert": expert}) for expert in ("draw", "weighted", "best", "last")],
)
def test_scores_are_the_sum_of_what_the_learners_add(booster, options):
    X, Y = stream(120)
    model = booster(5, learners=bl.learners.paper_trees(6), **options)
    model.learn(X[:100], Y[:100])
    shares = model.contributions(X[100:])
    np.testing.assert_allclose(model.score(X[100:]), shares.sum(axis=1), rtol=1e-12, atol=1e-15)
    if booster is not bl.LabelRanker:
        expected = model.diagnostics.effective_weights[:, None] * model.votes(X[100:])
        np.testing.assert_allclose(shares, expected, rtol=1e-12, atol=1e-15)


def test_costs_are_the_gradient_of_the_loss_the_weights_follow():
    """By finite differences in ln s, s kept normalised; the same for all learners, so held once."""
    X, Y = stream(150)
    model = bl.LabelRanker(5, learners=bl.learners.paper_trees(6))
    for x, y in zip(X, Y, strict=True):
        logs = np.log(model.learn(x, y))
        if not y.any() or y.all():
            continue
        costs = _core.testing.last_round(model._native.core)["costs"]
        spread = np.log1p((~y).sum() / y.sum())

        def f(logs, y=y, spread=spread):
            s = np.exp(logs) / np.exp(logs).sum()
            return -min(1, 1 / spread) * np.log(s[y]).mean()

        for label in range(5):
            step = 1e-6 * np.eye(5)[label]
            slope = (f(logs + step) - f(logs - step)) / 2e-6
            np.testing.assert_allclose(costs[label], slope, rtol=1e-5, atol=1e-8)


def test_learners_that_follow_costs_can_join():
    """A learner of its own gets the gradient of the ranker's loss, scaled to [0, 1], as any weak learner."""
    heard = []

    class Listens:
        def predict(self, x):
            return np.full(5, 0.2)

        def learn(self, x, relevant, costs, weight):
            heard.append((relevant.copy(), costs.copy(), weight))

    X, Y = stream(60)
    bl.LabelRanker(5, learners=[bl.learners.Ridge(), Listens()]).learn(X, Y)
    assert heard
    for relevant, costs, weight in heard:
        assert costs.min() >= 0 and costs.max() <= 1
        assert weight > 0 or relevant.all() or not relevant.any()  # nobody voted wrongly
        assert relevant.sum() == 0 or costs[relevant == 1].min() == 0


@pytest.mark.parametrize(
    ("booster", "options"),
    [
        (bl.LabelRanker, {"drift": "wait"}),
        (bl.LabelRanker, {"learners": "paper"}),
        (bl.AdaOLMR, {"learners": "auto"}),
        (bl.AdaOLMR, {"expert": "first"}),
    ],
)
def test_bad_options_are_refused(booster, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} is "):
        booster(3, **options)


@pytest.mark.gate
@pytest.mark.parametrize("kind", ["linear", "curved"])
def test_it_recovers_from_abrupt_drift(kind):
    """Labels permuted half way: back within 20 % of the former loss after at most 2,000 examples."""
    rng = np.random.default_rng(4)
    n, d, k = 20_000, 20, 10
    X = rng.normal(size=(n, d))
    if kind == "linear":
        truth = X @ rng.normal(size=(d, k)) / np.sqrt(d) + 0.5 * rng.normal(size=k)
    else:
        hidden = np.tanh(2 * X @ rng.normal(size=(d, 30)) / np.sqrt(d))
        truth = 2 * hidden @ rng.normal(size=(30, k)) / np.sqrt(30)
    truth += 0.3 * rng.normal(size=truth.shape)
    Y = truth > np.quantile(truth, 0.7)
    Y[n // 2 :] = Y[n // 2 :][:, np.roll(np.arange(k), 3)]
    half = n // 2
    model = bl.LabelRanker(k, seed=0)
    stop = half + 3000
    scores = model.learn(X[:stop], Y[:stop])
    loss = bl.metrics.RankLoss().rows(Y[:stop], scores)
    before = loss[half - 500 : half].mean()
    assert model.n_restarts == 1
    windows = [loss[half + end - 500 : half + end].mean() for end in range(600, 2001, 100)]
    assert min(windows) <= 1.2 * before


@pytest.mark.gate
def test_labels_that_appear_raise_the_alarm():
    """Two of six labels had never been relevant: their loss is spread so unevenly that its mean is hard to tell."""
    alarms = 0
    for seed in range(100, 106):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(2200, 10))
        truth = X @ rng.normal(size=(10, 6))
        truth[:2000, :2] = -np.inf
        model = bl.LabelRanker(6, seed=0)
        model.learn(X, truth + 0.3 * rng.normal(size=truth.shape) > 1.0)
        alarms += model.trial is not None
    assert alarms >= 4


def test_no_false_alarm_on_a_steady_stream():
    X, Y = stream(6000, seed=2)
    model = bl.LabelRanker(5, learners=bl.learners.paper_trees(10))
    model.learn(X, Y)
    assert model.n_restarts == 0


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_that_share_the_work_of_a_kernel_change_no_bit(n_threads):
    """Its matrix is large enough here that threads take parts of it, in fits and between them."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(700, 9))
    Y = X @ rng.normal(size=(9, 5)) + rng.normal(size=(700, 5)) > 0.4
    members = [bl.learners.Kernel(400), bl.learners.Linear(), bl.learners.OutputNeighbours()]
    learners = [bl.learners.Committee(members)]
    alone = bl.LabelRanker(5, learners=learners)
    several = bl.LabelRanker(5, learners=learners, n_threads=n_threads)
    np.testing.assert_array_equal(several.learn(X, Y), alone.learn(X, Y))
    assert_same_model(several, alone)


def test_what_a_model_is_called_says_its_learners_features_and_clock():
    model = bl.LabelRanker(3)
    model.learn(np.eye(6)[:4], [{0}, {1}, {2}, {0}])
    shown = repr(model)
    assert shown.startswith("LabelRanker(n_labels=3, learners=[committee, 3 x recency], ")
    assert shown.endswith("n_features=6, clock=4)")
    trees = bl.AdaOLMR(2, learners=bl.learners.paper_trees(5))
    assert "learners=[paper_trees]" in repr(trees) and "clock=0" in repr(trees)
