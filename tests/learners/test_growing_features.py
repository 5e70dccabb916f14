"""Features that come while running: they are learned as if they had always been there, by those who can."""

import copy

import numpy as np
import pytest
from committees import committee
from model_zoo import ZOO, K
from states import assert_same_model, assert_same_state
from test_scorers import stream

import boostline as bl
from boostline.learners import Kernel, Linear, Neighbours, Recency, Ridge

past_values = pytest.mark.parametrize("past", ["missing", "zero"])


def make(learner):
    return bl.LabelRanker(K, learners=[learner], drift=None, seed=1)


def wide(X, n, past):
    """The same rows with n more features, as they would have come before those were known."""
    fill = np.nan if past == "missing" else 0.0
    return np.column_stack([X, np.full((len(X), n), fill)])


@pytest.mark.parametrize(
    "learner",
    [
        Linear(n_replays=4, memory=50, seed=3),
        Kernel(n_landmarks=64),
        Neighbours(n_neighbours=7, memory=60),
        Recency(0.9),
    ],
    ids=lambda learner: learner.kind,
)
@past_values
@pytest.mark.parametrize("n_rows", [10, 40, 100])
def test_as_if_the_features_had_always_been_there(learner, past, n_rows):
    """Ridge is left out: it divides by the root of the number of features."""
    X, Y = stream(300, d=9, zeros=0.3)
    first = X[:n_rows, :7]
    grown, always = make(learner), make(learner)
    grown.learn(first, Y[:n_rows])
    grown.add_features(2, past_values=past)
    always.learn(wide(first, 2, past), Y[:n_rows])
    expected = always.learn(X[n_rows:], Y[n_rows:])
    np.testing.assert_allclose(grown.learn(X[n_rows:], Y[n_rows:]), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["linear", "ridge", "ridge-forgetting", "neighbours", "committee", "ranker"]
)
@past_values
def test_new_features_are_learned(name, past):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    new = rng.normal(size=(500, 2))
    Y = np.column_stack([new[:, 0] > 0, new[:, 0] <= 0, new[:, 1] > 0, new[:, 1] <= 0])
    model = ZOO[name].make()
    model.learn(X[:100], Y[:100])
    blind = ZOO[name].make()
    blind.learn(X[:400], Y[:400])
    model.add_features(2, past_values=past)
    rows = np.column_stack([X, new])
    model.learn(rows[100:400], Y[100:400])
    seeing = bl.metrics.rank_loss(Y[400:], model.score(rows[400:]))
    assert seeing < 0.5 * bl.metrics.rank_loss(Y[400:], blind.score(X[400:]))


def test_a_thousand_features_one_after_the_other(tmp_path):
    """As a stream of words: ridge and neighbours stop at few_features, so memory stays small."""
    rng = np.random.default_rng(0)
    model = make(committee(few_features=40, memory=60, n_replays=3, seed=1))
    model.learn(rng.random((5, 30)), rng.random((5, K)) < 0.5)
    for _ in range(50):
        model.add_features(20, past_values="zero")
        row = np.zeros(model.n_features)
        row[rng.integers(model.n_features, size=10)] = 1.0
        model.learn(row, {int(rng.integers(K))})
    assert model.n_features == 1030
    assert model.memory_usage() < 3_000_000  # ridge alone would take 4 MB for 1,030 features
    model.save(tmp_path / "m.blm")
    assert_same_model(bl.load(tmp_path / "m.blm"), model)


def test_forgetting_and_reset_go_on_with_the_new_number():
    X, Y = stream(120, d=9)
    model = bl.LabelRanker(K, learners=[Ridge(forgetting=0.98)], seed=1)
    model.learn(X[:60, :7], Y[:60])
    model.add_features(2)
    assert np.isfinite(model.learn(X[60:], Y[60:])).all()


class Frequency:
    """A learner in Python that does not know of features."""

    def __init__(self):
        self.counts = np.ones(K)

    def predict(self, x):
        return self.counts / self.counts.sum()

    def learn(self, x, relevant, costs, weight):
        self.counts += relevant


class Elastic(Frequency):
    n_features = None

    def grow_features(self, n_features):
        self.n_features = n_features


def test_python_learners_are_told_or_refuse():
    X, Y = stream(20)
    rigid = make(Frequency())
    rigid.learn(X, Y)
    with pytest.raises(TypeError, match=r"Frequency has no grow_features\(n_features\)"):
        rigid.add_features(1)
    assert rigid.n_features == 7
    rigid.learn(X, Y)
    elastic = Elastic()
    model = make(elastic)
    model.learn(X, Y)
    model.add_features(3)
    assert elastic.n_features == 10


def test_there_is_a_largest_number_of_features():
    X, Y = stream(10)
    model = make(Recency())  # has no arrays by feature
    model.learn(X, Y)
    model.add_features(2**31 - 8)
    with pytest.raises(ValueError, match="n_features is"):
        model.add_features(1)


class Breaks(Frequency):
    """Fails when it is to grow, and leaves a mess behind."""

    def grow_features(self, n_features):
        self.counts[:] = 7.0
        raise OSError("no room")

    grow_labels = grow_features


class Grows(Elastic):
    def grow_labels(self, n_labels):
        self.counts = np.append(self.counts, 1.0)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("what", ["add_features", "add_labels"])
def test_growth_that_fails_leaves_no_trace(what, order):
    X, Y = stream(60)
    learners = [Linear(seed=1), Ridge(), Kernel(), Neighbours(), Grows(), Breaks()][::order]
    model = bl.LabelRanker(K, learners=learners, drift=None)
    model.learn(X, Y)
    twin = copy.deepcopy(model)
    before, scores = model.state(), model.score(X)
    with pytest.raises(OSError, match="no room"):
        getattr(model, what)(40)
    assert_same_state(model.state(), before)
    np.testing.assert_array_equal(model.score(X), scores)
    np.testing.assert_array_equal(model.learn(X, Y), twin.learn(X, Y))


def test_labels_that_come_before_the_first_example_reach_every_learner():
    X, Y = stream(10)
    model = bl.LabelRanker(K, learners=[Grows(), Ridge()])
    model.add_labels(1)
    assert np.isfinite(model.learn(X, np.hstack([Y, Y[:, :1]]))).all()
    learners = [Grows(), Breaks()]
    model = bl.LabelRanker(K, learners=learners)
    with pytest.raises(OSError, match="no room"):
        model.add_labels(1)
    assert model.n_labels == K and [len(one.counts) for one in learners] == [K, K]
    assert (learners[1].counts == 1.0).all()


def test_without_memory_for_it_nothing_changes():
    """What a growth takes is asked for before anything is given up."""
    X, Y = stream(60)
    model = make(Ridge())
    model.learn(X, Y)
    scores, memory = model.score(X), model.memory_usage()
    with pytest.raises(MemoryError):
        model.add_features(20_000_000)  # a matrix of 1.6 petabytes
    assert model.n_features == 7 and model.memory_usage() == memory
    np.testing.assert_array_equal(model.score(X), scores)


def test_the_kernel_keeps_what_it_has_once_its_landmarks_are_complete():
    X, Y = stream(100)
    model = make(Kernel(n_landmarks=64))
    model.learn(X, Y)
    before = model.memory_usage()
    model.add_features(10_000)
    assert model.memory_usage() - before < 10_000
