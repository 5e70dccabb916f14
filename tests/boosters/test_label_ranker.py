"""How votes are mixed, and restart on drift, against a plain NumPy version of the rule."""

import numpy as np
import pytest

import boostline as bl
from boostline import _core

TEMPERATURES = (1.0, 2.0, 4.0)
RATE, SHARE, LEAST = 0.3, 1e-4, 1e-9


class MixtureTwin:
    """The rule of docs/algorithms.md, written anew: three chains, Hedge over their prefixes."""

    def __init__(self, prior):
        self.prior = np.asarray(prior) / np.sum(prior)
        self.w = np.tile(self.prior, (3, 1))
        self.log_v = np.zeros((3, len(prior)))

    def prefixes(self, votes):
        return np.cumsum(self.w[:, :, None] * votes[None], axis=1)

    def score(self, votes):
        s = self.prefixes(votes)
        normalised = s / (s.sum(axis=2, keepdims=True) + LEAST)
        p = np.exp(self.log_v - self.log_v.max())
        return (p[:, :, None] * normalised).sum(axis=(0, 1)) / p.sum()

    def learn(self, votes, y):
        if not y.any() or y.all():
            return
        s = self.prefixes(votes)
        pairs = y.sum() * (~y).sum()
        gaps = s[:, :, ~y][:, :, None, :] - s[:, :, y][:, :, :, None]
        self.log_v -= ((gaps > 0) + 0.5 * (gaps == 0)).sum(axis=(2, 3)) / pairs
        for c, tau in enumerate(TEMPERATURES):
            f = s[c, -1] + LEAST
            d = tau * (np.log(f[~y])[None, :] - np.log(f[y])[:, None])
            sigma = 1 / (1 + np.exp(-d)) / pairs
            cost = np.zeros(len(y))
            cost[y], cost[~y] = -sigma.sum(axis=1), sigma.sum(axis=0)
            step = RATE * (votes @ (cost / f))
            w = self.w[c] * np.where(
                step > 0, 1 / (1 + np.maximum(step, 0)), 1 - np.minimum(step, 0)
            )
            self.w[c] = (1 - SHARE) * w / w.sum() + SHARE * self.prior


def stream(n=400, d=8, k=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, k)) / np.sqrt(d) + 0.3 * rng.normal(size=(n, k)) > 0.6


def test_the_core_follows_the_rule():
    X, Y = stream()
    learners = [bl.learners.paper_trees(6), bl.learners.Recency(0.9), bl.learners.Recency(0.5)]
    model = bl.LabelRanker(5, learners=learners, drift=None, seed=1)
    twin = MixtureTwin([1] * 6 + [0.12] * 2)
    for x, y in zip(X, Y, strict=True):
        votes = model.votes(x)
        expected = twin.score(votes)
        np.testing.assert_allclose(model.learn(x, y), expected, rtol=1e-9, atol=1e-12)
        twin.learn(votes, y)
    np.testing.assert_allclose(
        model.state()["arrays"]["chain_weights"].reshape(3, 8), twin.w, rtol=1e-9
    )
    np.testing.assert_allclose(
        model.state()["arrays"]["expert_log_weights"].reshape(3, 8), twin.log_v, rtol=1e-9
    )


@pytest.mark.parametrize(
    ("booster", "options"),
    [(bl.LabelRanker, {})]
    + [(bl.AdaOLMR, {"expert": expert}) for expert in ("draw", "weighted", "best", "last")],
)
def test_scores_are_effective_weights_times_votes(booster, options):
    X, Y = stream(120)
    model = booster(5, learners=bl.learners.paper_trees(6), **options)
    model.learn(X[:100], Y[:100])
    for x in X[100:]:
        np.testing.assert_allclose(
            model.score(x), model.effective_weights @ model.votes(x), rtol=1e-12, atol=1e-15
        )


def test_costs_sum_to_zero_and_favour_relevant_labels():
    X, Y = stream(150)
    model = bl.LabelRanker(5, learners=bl.learners.paper_trees(6))
    for x, y in zip(X, Y, strict=True):
        model.learn(x, y)
        if y.any() and not y.all():
            costs = _core.testing.last_round(model._native)["costs"].reshape(7, 5)
            np.testing.assert_allclose(costs.sum(axis=1), 0, atol=1e-12)
            assert (costs[:, y] <= 0).all() and (costs[:, ~y] >= 0).all()


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
        assert costs.min() >= 0 and costs.max() <= 1 and weight > 0
        assert costs[relevant == 1].max() < costs[relevant == 0].min()


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
    loss = bl.metrics.rank_loss_rows(Y[:stop], scores)
    before = loss[half - 500 : half].mean()
    assert model.n_restarts == 1
    windows = [loss[half + end - 500 : half + end].mean() for end in range(600, 2001, 100)]
    assert min(windows) <= 1.2 * before


def test_no_false_alarm_on_a_steady_stream():
    X, Y = stream(6000, seed=2)
    model = bl.LabelRanker(5, learners=bl.learners.paper_trees(10))
    model.learn(X, Y)
    assert model.n_restarts == 0
