"""Top-k feedback for any model, and in the evaluation."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import boostline as bl
from boostline import evaluate
from boostline.evaluate.baselines import DecayedCounts
from boostline.learners import Linear, Ridge


def stream(n=300, m=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X > 0.5


def small(m=6, **options):
    return bl.Explorer(bl.LabelRanker(m, learners=[Ridge(), Linear(n_replays=2)]), **options)


class Noted:
    """A model that keeps what it was told."""

    n_labels = 6

    def __init__(self):
        self.told = []

    def score(self, x):
        return np.arange(6.0) if np.ndim(x) == 1 else np.tile(np.arange(6.0), (len(x), 1))

    def learn(self, x, relevant, unknown=None):
        self.told.append((relevant.copy(), unknown.copy()))
        return self.score(x)


def test_the_model_is_told_of_shown_labels_only():
    X, Y = stream(200)
    explorer = bl.Explorer(Noted(), 3)
    for x, y in zip(X, Y, strict=True):
        shown = explorer.show(x)
        explorer.learn(x, y, shown=shown)
        relevant, unknown = explorer.model.told[-1]
        assert set(np.flatnonzero(~unknown)) == set(shown.labels)
        assert (relevant == y & ~unknown).all()
    assert explorer.n_learned == 200


def test_it_explores_in_the_last_places_and_less_and_less():
    explorer = bl.Explorer(Noted(), 3, n_explored=2, rate=1.0)
    shown = explorer.show(np.zeros((20_000, 1)))
    explored = shown.explored.any(axis=1)
    assert not shown.explored[:, 0].any() and (shown.labels[:, 0] == 5).all()
    assert (shown.explored[explored].sum(axis=1) == 2).all()
    assert (shown.labels[~explored] == [5, 4, 3]).all()
    expected = np.array([explorer.exploration(t) for t in range(20_000)])
    for part in np.array_split(np.arange(2, 20_000), 10):
        error = np.sqrt((expected[part] * (1 - expected[part])).sum())
        assert abs(explored[part].sum() - expected[part].sum()) < 4 * error
    # each of the others alike
    drawn = np.bincount(shown.labels[explored][:, 1:].ravel(), minlength=6)[:3]
    assert drawn.sum() == 2 * explored.sum() and np.ptp(drawn) < 0.1 * drawn.mean()


def test_a_block_is_the_loop_of_its_rows_and_asking_twice_gives_the_same():
    X, Y = stream()
    block, loop = small(), small()
    scores = block.learn(X, Y)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        first, second = loop.show(x), loop.show(x)
        assert (first.labels == second.labels).all()
        np.testing.assert_array_equal(loop.learn(x, y, shown=first), scores[i])
    np.testing.assert_array_equal(block.score(X), loop.score(X))
    late = small()
    late.learn(X, Y, shown=late.show(X))  # all shown before any was learned
    assert late.n_learned == 300 and not np.array_equal(late.score(X), loop.score(X))


def test_labels_by_name_and_copies():
    names = list("abcdef")
    X, Y = stream(60)
    model = bl.LabelRanker(labels=names, learners=[Ridge()])
    explorer = bl.Explorer(model, 3)
    for x, y in zip(X, Y, strict=True):
        shown = explorer.show(x)
        clicked = {name for name in shown.labels if y[names.index(name)]}
        explorer.learn(x, clicked, shown=shown.labels)
    for twin in (copy.deepcopy(explorer), pickle.loads(pickle.dumps(explorer))):
        np.testing.assert_array_equal(twin.score(X), explorer.score(X))
        assert twin.show(X[0]).labels == explorer.show(X[0]).labels
    assert len(explorer.rank(X[0], 2)) == 2


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="model is a int without score, but must have"):
        bl.Explorer(3)
    with pytest.raises(ValueError, match="n_shown is 7, but"):
        small(n_shown=7)
    with pytest.raises(ValueError, match="n_explored is 4, but"):
        small(n_shown=3, n_explored=4)
    with pytest.raises(ValueError, match="shown has label 9"):
        small().learn(np.zeros(6), {1}, shown=[0, 1, 9])
    with pytest.raises(TypeError, match="without n_labels"):
        bl.Explorer(DecayedCounts)


def test_prequential_judges_an_explorer_by_all_labels():
    X, Y = stream(400)
    models = {
        "default": bl.Explorer(small().model),
        "shown": small(n_shown=2, rate=3.0),
    }
    result = evaluate.prequential(models, zip(X, Y, strict=True))
    by_hand = small(seed=0)
    expected = by_hand.learn(X, Y)
    assert result["default"].rank_loss == pytest.approx(bl.metrics.rank_loss(Y, expected))
    np.testing.assert_array_equal(models["default"].score(X), by_hand.score(X))
    alone = small(n_shown=2, rate=3.0)
    alone.learn(X, Y)
    np.testing.assert_array_equal(models["shown"].score(X), alone.score(X))


def test_label_ranker_learns_when_all_or_none_of_the_shown_labels_are_relevant():
    X, _ = stream(200, m=4)
    model = bl.LabelRanker(4, learners=[Ridge()])
    for x in X:  # only label 0 is ever heard of
        told = np.full(4, np.nan)
        told[0] = x[0] > 0
        model.learn(x, told)
    high, low = model.score([2.0, 0, 0, 0]), model.score([-2.0, 0, 0, 0])
    assert high[0] > low[0] + 0.2 and model.diagnostics.rows_without_pairs == 200
    # where all labels are known and there is no pair, nothing is learned
    before = model.score(X)
    model.learn(X[:20], np.zeros((20, 4), bool))
    np.testing.assert_array_equal(model.score(X), before)


def test_a_new_explorer_around_a_saved_model_goes_on(tmp_path):
    X, Y = stream(200)
    whole, first = small(seed=4), small(seed=4)
    whole.learn(X, Y)
    first.learn(X[:120], Y[:120])
    first.model.save(tmp_path / "m.blm")
    second = bl.Explorer(bl.load(tmp_path / "m.blm"), seed=4)
    assert second.n_learned == 120
    second.learn(X[120:], Y[120:])
    np.testing.assert_array_equal(second.score(X), whole.score(X))


def test_other_protocols_take_an_explorer_as_a_model():
    X, Y = stream(300)
    explorer, by_hand = small(), small()
    data = SimpleNamespace(X=X, Y=Y, n_train=200)
    run = evaluate.train_then_test(explorer, data)
    assert run.rank_loss == pytest.approx(bl.metrics.rank_loss(Y[200:], by_hand.learn(X, Y)[200:]))
