"""Learners of every format, written in Python, beside compiled trees in one booster."""

from typing import Any

import numpy as np
import pytest

import boostline as bl
from boostline.learners import Binary, LabelSet, Scores, SingleLabel

K = 4


class Perceptron:
    """One linear score per label; gives what `answer` makes of the scores."""

    def __init__(self, answer, d=6):
        self.answer = answer
        self.w = np.zeros((K, d))

    def predict(self, x):
        return self.answer(self.w @ x)

    def learn(self, x, relevant, costs, weight):
        self.w += 0.1 * weight * np.outer(costs.mean() - costs, x)


class AlwaysWrong:
    """Votes for a label that is not relevant (it is shown the truth)."""

    def __init__(self, truth):
        self.truth = truth

    def predict(self, x):
        wrong = np.flatnonzero(~self.truth(x))
        return bl.learners.encode_set(wrong.tolist(), K)

    def learn(self, x, relevant, costs, weight):
        pass


def stream(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :K] > 0.4


def softmax(s):
    e = np.exp(s - s.max())
    return e / e.sum()


def mixed_bag():
    return [
        bl.learners.HoeffdingTree(),
        SingleLabel(Perceptron(lambda s: int(s.argmax()))),
        LabelSet(Perceptron(lambda s: np.flatnonzero(s > 0).tolist())),
        Binary(Perceptron(lambda s: bool(s[2] > 0)), 2),
        Binary(Perceptron(lambda s: float(softmax(s)[:2].sum())), {0, 1}),
        Scores(Perceptron(lambda s: s)),
        Perceptron(softmax),
        bl.learners.paper_trees(5),
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: bl.AdaOLMR(K, learners=mixed_bag()),
        lambda: bl.OnlineBMR(K, learners=mixed_bag(), edge=0.2),
    ],
    ids=["ada", "bmr"],
)
def test_a_mixed_bag_of_all_formats_learns(make):
    X, Y = stream()
    model = make()
    scores = model.learn(X, Y)
    late = bl.metrics.rank_loss(Y[200:], scores[200:])
    assert late < 0.2  # 0.5 is guessing
    assert model.n_learners == 12
    assert (model.edges()[1:7] > 0.05).all()


def test_an_always_wrong_learner_gets_a_negative_weight_and_helps():
    X, Y = stream(600)
    table = {x.tobytes(): y for x, y in zip(X, Y, strict=True)}
    wrong = AlwaysWrong(lambda x: table[x.tobytes()])
    trees = bl.learners.paper_trees(5)
    alone = bl.AdaOLMR(K, learners=[trees], seed=1)
    helped = bl.AdaOLMR(K, learners=[trees, wrong], seed=1)
    without, with_it = alone.learn(X, Y), helped.learn(X, Y)
    assert helped.learner_weights[-1] < -0.5
    assert helped.edges()[-1] < 0
    late = slice(300, None)
    assert bl.metrics.rank_loss(Y[late], with_it[late]) < 0.7 * bl.metrics.rank_loss(
        Y[late], without[late]
    )


class Garbage(Perceptron):
    """Goes wrong from example `when` on, in `predict` or in `learn`."""

    def __init__(self, bad, when, where="predict"):
        super().__init__(softmax)
        self.bad, self.when, self.where, self.n = bad, when, where, 0

    def predict(self, x):
        if self.where == "predict" and self.n >= self.when:
            return self.bad()
        return super().predict(x)

    def learn(self, x, relevant, costs, weight):
        super().learn(x, relevant, costs, weight)
        self.n += 1
        if self.where == "learn" and self.n > self.when:
            self.bad()


def fail():
    raise ZeroDivisionError("out of luck")


BAD = {
    "shape": (lambda: np.ones(3) / 3, ValueError, r"Garbage.predict returned shape \(3,\)"),
    "sum": (lambda: np.ones(K), ValueError, "not a distribution"),
    "negative": (lambda: np.array([2.0, -1, 0, 0]), ValueError, "not a distribution"),
    "nan": (lambda: np.full(K, np.nan), ValueError, "not a distribution"),
    "text": (lambda: "nonsense", TypeError, "must return a distribution over the labels"),
    "raises": (fail, ZeroDivisionError, "out of luck"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("block", [1, 8])
def test_garbage_votes_are_refused_and_leave_no_trace(case, block):
    bad, error, message = BAD[case]
    check_no_trace(Garbage(bad, when=20), error, message, block)


@pytest.mark.parametrize("block", [1, 8])
def test_a_failure_in_learn_leaves_no_trace(block):
    check_no_trace(Garbage(fail, when=20, where="learn"), ZeroDivisionError, "out of luck", block)


def check_no_trace(learner, error, message, block):
    X, Y = stream(40)
    first = Perceptron(softmax)
    model = bl.AdaOLMR(K, learners=[bl.learners.paper_trees(4), first, learner])
    model.learn(X[:16], Y[:16])
    with pytest.raises(error, match=message):
        for start in range(16, 40, block):
            before = {k: v.copy() for k, v in model.state()["arrays"].items()}
            weights, n = first.w.copy(), learner.n
            model.learn(X[start : start + block], Y[start : start + block])
    for name, array in model.state()["arrays"].items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    np.testing.assert_array_equal(first.w, weights)
    assert learner.n == n
    learner.when = 1000
    model.learn(X[16:], Y[16:])  # and it goes on


def test_a_failure_in_learn_leaves_no_trace_in_the_largest_weights():
    """The row on which it fails has costs wider than any before."""

    class Fixed:
        fails_on = None

        def predict(self, x):
            return np.array([0.8, 0.2])

        def learn(self, x, relevant, costs, weight):
            if relevant[self.fails_on or 0] and self.fails_on is not None:
                fail()

    bad = Fixed()
    bad.fails_on = 1
    model = bl.AdaOLMR(2, learners=[Fixed(), bad])
    for _ in range(5):
        model.learn([0.0], {0})
    before = model.diagnostics.max_weights.copy()
    with pytest.raises(ZeroDivisionError):
        model.learn([0.0], {1})
    np.testing.assert_array_equal(model.diagnostics.max_weights, before)


class Meddler(Perceptron):
    """A learner that calls the model which is teaching it."""

    model: Any

    def learn(self, x, relevant, costs, weight):
        self.model.score(x)


def test_a_learner_that_calls_its_own_model_gets_an_error_instead_of_a_deadlock():
    meddler = Meddler(softmax)
    model = bl.AdaOLMR(K, learners=[meddler])
    meddler.model = model
    X, _ = stream(2)
    model.learn(X[0], [])  # no pair, so nobody learns: the model now exists
    with pytest.raises(RuntimeError, match="called the model"):
        model.learn(X[1], {1})


def test_learners_see_sparse_rows_as_sparse():
    from scipy import sparse

    seen: list[Any] = []

    class Curious(Perceptron):
        def predict(self, x):
            seen.append(x)
            return np.full(K, 1 / K)

        def learn(self, x, relevant, costs, weight):
            assert relevant.dtype == bool and relevant.tolist() == [False, True, False, False]
            assert costs.min() == 0 and costs.max() == 1 and weight > 0

    model = bl.AdaOLMR(K, learners=[Curious(softmax)])
    model.learn(sparse.csr_array(np.eye(6)[:1] * 3), [{1}])
    (row, *_) = seen
    assert isinstance(row, sparse.csr_array)
    assert row.shape == (1, 6) and row.toarray()[0, 0] == 3


@pytest.mark.parametrize(
    ("encode", "arguments", "expected"),
    [
        (bl.learners.encode_label, (2, 3), [0, 0, 1]),
        (bl.learners.encode_set, ([], 4), [0.25] * 4),
        (bl.learners.encode_set, ({0, 1}, 4), [0.5, 0.5, 0, 0]),
        (bl.learners.encode_binary, (True, 1, 3), [0, 1, 0]),
        (bl.learners.encode_binary, (False, {0, 1, 2}, 3), [1 / 3] * 3),
        (bl.learners.encode_scores, ([0.0, 0.0], 2), [0.5, 0.5]),
        (bl.learners.encode_scores, ([-5.0, 1e308, 1e308], 3), [0, 0.5, 0.5]),
    ],
)
def test_encodings(encode, arguments, expected):
    np.testing.assert_allclose(encode(*arguments), expected)


@pytest.mark.parametrize(
    ("encode", "arguments"),
    [
        (bl.learners.encode_label, (3, 3)),
        (bl.learners.encode_label, (1.0, 3)),
        (bl.learners.encode_set, ([5], 3)),
        (bl.learners.encode_binary, (1.5, 0, 3)),
        (bl.learners.encode_scores, ([np.nan, 1.0], 2)),
        (bl.learners.encode_scores, ([1.0], 2)),
    ],
)
def test_encodings_refuse_nonsense(encode, arguments):
    with pytest.raises((ValueError, TypeError)):
        encode(*arguments)


def test_a_wrapped_learner_is_saved_and_grows_as_it_is():
    class Kept:
        def predict(self, x):
            return 0

        def learn(self, x, relevant, costs, weight):
            pass

        def get_state(self):
            return {"n": 1}

    wrapped = bl.learners.SingleLabel(Kept())
    assert wrapped.get_state() == {"n": 1}
    assert not hasattr(wrapped, "set_state") and not hasattr(wrapped, "predict_proba")
    assert repr(wrapped).startswith("SingleLabel(<")


@pytest.mark.parametrize("kind", [Perceptron, bl.learners.Kernel])
def test_a_class_in_the_place_of_an_object_is_refused(kind):
    for learners in (kind, [kind]):
        with pytest.raises(TypeError, match=f"learners has the class {kind.__name__}, but must"):
            bl.LabelRanker(K, learners=learners)


def test_a_learner_that_cannot_be_saved_says_so_when_the_model_is_made():
    with pytest.warns(UserWarning, match=r"AlwaysWrong has no get_state\(\).*cannot be saved"):
        bl.LabelRanker(K, learners=[AlwaysWrong(None)])
    with pytest.warns(UserWarning, match="Perceptron has no get_state"):
        bl.LabelRanker(K, learners=[Scores(Perceptron(lambda s: s))])
