"""What `finish` makes: an ordinary model that goes on learning, and about as good as one that learned row by row."""

import dataclasses
import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl
from boostline import scale
from boostline.inspect.summaries import summary, summary_in_words
from boostline.lab import synthetic
from boostline.learners import (
    Committee,
    Kernel,
    Linear,
    Neighbours,
    OutputNeighbours,
    Recency,
    Ridge,
    SparseLinear,
)
from boostline.learners.committee import MEMBERS
from boostline.metrics import rank_loss


def small_committee():
    """All kinds of the default, with fewer landmarks, so that a small sample will do."""
    members = [Kernel(n_landmarks=100) if isinstance(m, Kernel) else m for m in MEMBERS]
    return [Committee(members), *(Recency(decay) for decay in (1.0, 0.9))]


def dealt(model, X, Y, n_parts, n_sample, n_tail):
    """A model of the same data, dealt to workers."""
    model.learn(X[:n_sample], Y[:n_sample])
    cuts = np.linspace(n_sample, X.shape[0] - n_tail, n_parts + 1).astype(int)
    parts = [scale.partial(model, (X[a:b], Y[a:b])) for a, b in itertools.pairwise(cuts)]
    return scale.finish(model, scale.merge(parts), (X[-n_tail:], Y[-n_tail:]))


@pytest.mark.gate
@pytest.mark.parametrize("n_parts", [2, 5])
def test_the_default_is_as_good_as_in_sequence(n_parts):
    data = synthetic.noisy(3000, d=20, k=8, n_train=2400)
    X, Y = data.train.X, data.train.Y
    in_sequence = bl.LabelRanker(8, learners=small_committee())
    in_sequence.learn(X, Y)
    made = dealt(bl.LabelRanker(8, learners=small_committee()), X, Y, n_parts, 200, 400)
    losses = [rank_loss(data.test.Y, m.score(data.test.X)) for m in (in_sequence, made)]
    assert losses[1] < losses[0] + 0.005
    assert made.clock == in_sequence.clock == 2400


@pytest.mark.parametrize("learner", [Linear(), SparseLinear()])
def test_averaged_learners_lose_little(learner):
    rng = np.random.default_rng(1)
    k, d, n = 10, 2000, 1500
    topic = rng.integers(k, size=n)
    X = sp.random_array((n, d), density=0.005, format="lil", rng=rng)
    for i, t in enumerate(topic):  # words of the topic, each of which few rows have
        X[i, rng.integers(200 * t, 200 * t + 200, size=4)] = 1.0
    X, Y = sp.csr_array(X), np.eye(k, dtype=bool)[topic]
    alone, tail_only = (bl.LabelRanker(k, learners=[learner]) for _ in range(2))
    alone.learn(X[:1200], Y[:1200])
    made = dealt(bl.LabelRanker(k, learners=[learner]), X[:1200], Y[:1200], 3, 60, 60)
    for part in (slice(0, 60), slice(1140, 1200)):
        tail_only.learn(X[part], Y[part])
    losses = [rank_loss(Y[1200:], m.score(X[1200:])) for m in (alone, made, tail_only)]
    assert losses[2] > losses[0] + 0.1  # sample and tail alone say little
    assert losses[1] < losses[0] + 0.25 * (losses[2] - losses[0])


@pytest.mark.gate
def test_it_is_an_ordinary_model(tmp_path):
    data = synthetic.noisy(1200, d=10, k=5, n_train=1200)
    X, Y = data.train.X, data.train.Y
    model = bl.LabelRanker(5, learners=small_committee())
    made = dealt(model, X[:1000], Y[:1000], 2, 200, 100)
    made.save(tmp_path / "made.blm")
    loaded = bl.load(tmp_path / "made.blm")
    np.testing.assert_array_equal(loaded.learn(X[1000:], Y[1000:]), made.learn(X[1000:], Y[1000:]))
    assert model.clock == 200  # what the workers had does not change
    assert type(made) is bl.LabelRanker and made.config() == model.config()


def test_hashed_features_have_moments_of_their_own():
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 500), density=0.05, format="csr", rng=rng)
    Y = rng.random((300, 4)) < 0.4
    model = bl.LabelRanker(4, learners=[Linear(n_hashed=64)])
    made = dealt(model, X, Y, 2, 100, 50)
    model.learn(X[100:], Y[100:])
    one_pass, got = model.state()["arrays"], made.state()["arrays"]
    for name in (f"learners.0.scale_{one}" for one in ("n_rows", "n_nonzero", "mean", "m2")):
        np.testing.assert_allclose(got[name], one_pass[name], rtol=1e-9, atol=1e-12)


def test_features_beyond_a_committees_few():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 6)), rng.random((200, 3)) < 0.4
    members = [Ridge(), Neighbours(), Linear(), OutputNeighbours(reads=("ridge",))]
    model = bl.LabelRanker(3, learners=[Committee(members, few_features=4)])
    model.learn(X[:50, :4], Y[:50])
    model.add_features(2)
    made = scale.finish(model, scale.partial(model, (X[50:], Y[50:])))
    assert made.score(X).shape == (200, 3)


def test_what_does_not_fit_is_refused():
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = X > 0
    model, other = (bl.LabelRanker(3, learners=[Ridge()]) for _ in range(2))
    with pytest.raises(
        ValueError, match="model has learned no row, but must have learned a sample"
    ):
        scale.partial(model, (X, Y))
    model.learn(X[:20], Y[:20])
    other.learn(X[:30], Y[:30])
    part = scale.partial(model, (X[30:], Y[30:]))
    with pytest.raises(ValueError, match="made with different models"):
        scale.merge([part, scale.partial(other, (X[30:], Y[30:]))])
    with pytest.raises(ValueError, match="made with another model"):
        scale.finish(other, part)
    with pytest.raises(ValueError, match=r"version 99, but must have version 2"):
        scale.merge([part, dataclasses.replace(part, version=99)])
    with pytest.raises(ValueError, match="partials is empty"):
        scale.merge([])
    with pytest.raises(ValueError, match="x has 2 features, but the model has learned with 3"):
        scale.partial(model, (X[:, :2], Y))
    with pytest.raises(TypeError, match=r"must have \(X, Y\)"):
        scale.partial(model, [X])
    with pytest.raises(TypeError, match="model is of type Explorer, but must be a LabelRanker"):
        scale.partial(bl.Explorer(bl.LabelRanker(3)), (X, Y))
    kernel = bl.LabelRanker(3, learners=[Kernel(n_landmarks=50)])
    kernel.learn(X[:40], Y[:40])
    with pytest.raises(ValueError, match=r"must have learned 50, the landmarks of its kernel"):
        scale.partial(kernel, (X, Y))


def test_a_part_is_bounded():
    rng = np.random.default_rng(0)
    model = bl.LabelRanker(3, learners=[Ridge(), Linear(memory=50), SparseLinear(memory=50)])
    rows = [(rng.normal(size=(100, 4)), rng.random((100, 3)) < 0.5) for _ in range(20)]
    model.learn(*rows[0])
    few, many = scale.partial(model, rows[:2]), scale.partial(model, rows)
    assert many.n_bytes < 1.1 * few.n_bytes
    assert scale.merge([few, many]).n_bytes < 1.1 * few.n_bytes


def measured(scores, Y):
    """Mean rank loss over the rows with a pair to rank."""
    pairs = Y.any(axis=1) & ~Y.all(axis=1)
    return rank_loss(Y[pairs], scores[pairs])


def test_the_mean_loss_is_over_the_rows_on_which_it_was_measured(table):
    X, Y = table
    model = bl.LabelRanker(6, learners=small_committee())
    sample = model.learn(X[:200], Y[:200])
    parts = [scale.partial(model, (X[a:b], Y[a:b])) for a, b in ((200, 1000), (1000, 2000))]
    made = scale.finish(model, scale.merge(parts))
    tail = made.learn(X[2000:2400], Y[2000:2400])
    found = summary(made)
    expected = measured(np.concatenate([sample, tail]), np.concatenate([Y[:200], Y[2000:2400]]))
    assert found["mean_rank_loss"] == pytest.approx(expected)
    merged = int((Y[200:2000].any(axis=1) & ~Y[200:2000].all(axis=1)).sum())
    assert found["rows_merged"] == made.diagnostics.rows_merged == merged
    assert (
        found["rows_measured"] + merged + made.diagnostics.rows_without_pairs == made.clock == 2400
    )
    assert (
        f"{found['rows_measured']} rows one by one"
        in dict(summary_in_words(made))["mean rank loss"]
    )
    # Learners that are dealt rank the rows of their worker: the loss is measured on all rows.
    chain = dealt(
        bl.AdaOLMR(6, learners=bl.learners.paper_trees(4)), X[:2400], Y[:2400], 2, 200, 400
    )
    assert chain.diagnostics.rows_merged == 0
    assert 0.05 < summary(chain)["mean_rank_loss"] < 0.5
