"""Trees are dealt out to workers: each is kept from one of them, whatever the order of merging."""

import itertools
from typing import Any

import numpy as np
import pytest

import boostline as bl
from boostline import scale
from boostline.lab import synthetic
from boostline.learners import HoeffdingTree, Ridge, paper_trees
from boostline.metrics import rank_loss
from boostline.scale.sums import Kept

KINDS = {
    "ada": lambda: bl.AdaOLMR(5, learners=paper_trees(12), expert="weighted"),
    "bmr": lambda: bl.OnlineBMR(5, learners=paper_trees(12)),
    "ranker": lambda: bl.LabelRanker(5, learners=[HoeffdingTree(features=4)] * 4 + [Ridge()]),
}


@pytest.fixture(scope="module")
def data():
    return synthetic.noisy(2400, d=8, k=5, n_train=1800)


def python_learner(model: Any) -> Any:
    return model.learners[1].learner


def parts_of(model, X, Y, cuts):
    return [scale.partial(model, (X[a:b], Y[a:b])) for a, b in itertools.pairwise(cuts)]


def trees_of(arrays, i):
    prefix = f"learners.{i}."
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}


def is_same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[n], b[n]) for n in a)


@pytest.mark.parametrize("kind", KINDS)
def test_each_tree_is_that_of_one_worker_in_any_order(data, kind):
    X, Y = data.train.X, data.train.Y
    start = KINDS[kind]()
    start.learn(X[:100], Y[:100])
    cuts = (100, 300, 350, 600)
    parts = parts_of(start, X, Y, cuts)
    made = [
        scale.finish(start, scale.merge(some)).state()["arrays"]
        for some in itertools.permutations(parts)
    ]
    nested = scale.merge([parts[0], scale.merge(parts[1:])])
    made.append(scale.finish(start, nested).state()["arrays"])
    alone = [scale.finish(start, part).state()["arrays"] for part in parts]
    n = len([d for d in start.learners if isinstance(d, HoeffdingTree)])
    froms = []
    for i in range(n):
        assert all(is_same(trees_of(made[0], i), trees_of(other, i)) for other in made[1:])
        froms.append([is_same(trees_of(made[0], i), trees_of(one, i)) for one in alone].index(True))
    assert len(set(froms)) > 1  # not all of one worker
    for other in made[1:]:
        for name, values in made[0].items():
            np.testing.assert_allclose(values, other[name], rtol=1e-9, atol=1e-12, err_msg=name)
    if kind != "ranker":  # what is summed over rows is the sum of the parts' changes
        before = start.state()["arrays"]
        for name in ("suffered_loss", "expert_loss"):
            change = sum(one[name] - before[name] for one in alone)
            np.testing.assert_allclose(made[0][name] - before[name], change, rtol=1e-9)


def test_a_worker_is_drawn_as_often_as_it_has_rows():
    drawn = 0
    for i in range(2000):
        few = Kept.drawn({"a": np.array([i])}, 100, "tree")
        many = Kept.drawn({"a": np.array([-1 - i])}, 300, "tree")
        drawn += (few + many) is many
    assert abs(drawn / 2000 - 0.75) < 0.04  # four standard errors


@pytest.mark.gate
@pytest.mark.parametrize("kind", KINDS)
def test_better_than_sample_and_tail_alone(data, kind, tmp_path):
    X, Y = data.train.X, data.train.Y
    in_sequence, ends, start = (KINDS[kind]() for _ in range(3))
    in_sequence.learn(X, Y)
    for model in (ends, start):
        model.learn(X[:100], Y[:100])
    ends.learn(X[-100:], Y[-100:])
    merged = scale.merge(parts_of(start, X, Y, (100, 900, 1700)))
    made = scale.finish(start, merged, (X[-100:], Y[-100:]))
    assert made.clock == in_sequence.clock == 1800
    losses = [rank_loss(data.test.Y, m.score(data.test.X)) for m in (in_sequence, made, ends)]
    assert losses[1] < losses[2]
    assert losses[1] < losses[0] + 0.02
    made.save(tmp_path / "made.blm")
    loaded = bl.load(tmp_path / "made.blm")
    rows = data.test.X, data.test.Y
    np.testing.assert_array_equal(loaded.learn(*rows), made.learn(*rows))


class Majority:
    """Votes for labels as often as they were relevant."""

    def __init__(self):
        self.counts = np.ones(5)

    def predict(self, x):
        return self.counts / self.counts.sum()

    def learn(self, x, relevant, costs, weight):
        self.counts += relevant


def test_a_learner_in_python_learns_sample_and_tail(data):
    X, Y = data.train.X, data.train.Y
    start = bl.LabelRanker(5, learners=[Ridge(), Majority()])
    start.learn(X[:50], Y[:50])
    made = scale.finish(
        start, scale.partial(start, (X[50:200], Y[50:200])), (X[200:230], Y[200:230])
    )
    labels = np.asarray(Y, dtype=bool)
    np.testing.assert_array_equal(
        python_learner(made).counts, 1 + labels[:50].sum(0) + labels[200:230].sum(0)
    )
    np.testing.assert_array_equal(python_learner(start).counts, 1 + labels[:50].sum(0))
