"""OnlineBMR with every loss, against costs computed from the definition; the edge that follows the learners."""

import numpy as np
import pytest

import boostline as bl
from boostline import _core, potentials


def stream(n=300, d=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :k] + 0.5 * rng.normal(size=(n, k)) > 0.6


LOSSES = {
    "hinge": (bl.losses.Hinge(), False, 1e-9),
    "hinge-half": (bl.losses.Hinge(0.5), False, 1e-9),
    "logistic": (bl.losses.Logistic(), False, 2e-4),
    "exponential": (bl.losses.Exponential(), False, 1e-9),
    "rank": (bl.losses.Rank(), True, 1e-9),
    "user": (
        bl.losses.PairwiseLoss(lambda d: np.maximum(1 + d, 0.0) ** 2, name="squared hinge"),
        False,
        1e-2,
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_costs_are_those_of_the_definition(name):
    loss, single, tolerance = LOSSES[name]
    X, Y = stream(60)
    edge = 0.1
    trees = bl.learners.paper_trees(5, single_label=single)
    model = bl.OnlineBMR(4, learners=trees, edge=edge, loss=loss)
    for x, y in zip(X, Y, strict=True):
        model.learn(x, y)
        if not y.any() or y.all():
            continue
        last = _core.testing.last_round(model._native.core)
        scores, costs = last["expert_scores"].reshape(6, 4), last["costs"].reshape(6, 4)
        clipped = potentials.clipped_edge(edge, int(y.sum()))
        for i in range(5):
            phi = np.array(
                [
                    potentials.potential(loss, 4 - i, scores[i] + unit, y, clipped)[0]
                    for unit in np.eye(4)
                ]
            )
            difference = (costs[i] - costs[i].mean()) - (phi - phi.mean())
            assert np.abs(difference).max() <= tolerance * max(1.0, np.ptp(phi))


def test_a_loss_that_does_not_split_into_pairs():
    def one_error(relevant, scores):
        return 0.0 if relevant[np.argmax(scores)] else 1.0

    loss = bl.losses.GeneralLoss(one_error, name="one-error", n_labels=4)
    X, Y = stream(12)
    X, Y = X[Y.any(axis=1) & ~Y.all(axis=1)], Y[Y.any(axis=1) & ~Y.all(axis=1)]
    trees = bl.learners.paper_trees(3, single_label=True)
    model = bl.OnlineBMR(4, learners=trees, edge=0.1, loss=loss)
    model.learn(X, Y)
    last = _core.testing.last_round(model._native.core)
    y = Y[-1]
    expected, _ = potentials.costs(
        loss, 1, last["expert_scores"].reshape(4, 4)[1], y, 0.1, draws=20_000, seed=9
    )
    ours = last["costs"].reshape(4, 4)[1]
    difference = (ours - ours.mean()) - (expected - expected.mean())
    assert np.abs(difference).max() < 0.08  # 1000 draws: five standard errors


def test_edge_auto_finds_the_edge_of_simulated_learners():
    """Learners that draw their vote from the baseline with edge .2 have just that edge."""

    class Baseline:
        def __init__(self, seed):
            self.rng = np.random.default_rng(seed)
            self.truth = None

        def predict(self, x):
            y = x > 0
            p = potentials.baseline(y, 0.2)
            index = np.random.default_rng(abs(hash((x.tobytes(), id(self)))) % 2**32).choice(4, p=p)
            return bl.learners.encode_label(int(index), 4)

        def learn(self, x, relevant, costs, weight):
            pass

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4))
    Y = X > 0
    model = bl.OnlineBMR(4, learners=[Baseline(i) for i in range(6)], edge="auto")
    model.learn(X, Y)
    assert 0.13 < model.edge < 0.3


@pytest.mark.gate
@pytest.mark.parametrize("name", ["emotions", "scene"])
def test_edge_auto_is_hardly_worse_than_the_best_fixed_edge(name, data_folder):
    """Shuffled: the rows of scene are sorted by class, and the promise of an edge says nothing of the rows to come."""
    data = bl.data.load(name)
    k = data.Y.shape[1]

    def losses(edge):
        models = [
            bl.OnlineBMR(k, learners=bl.learners.paper_trees(100), edge=edge, seed=seed)
            for seed in range(4)
        ]
        runs = [
            bl.evaluate.train_then_test(model, data, order="shuffled", seed=seed)
            for seed, model in enumerate(models)
        ]
        return np.array([run.rank_loss for run in runs])

    best = min((losses(edge) for edge in (0.2, 0.1, 0.01, 0.001)), key=np.mean)
    gap = losses("auto") - best
    noise = gap.std(ddof=1) / np.sqrt(len(gap))
    assert gap.mean() < 0.003 + 3 * noise
