"""One contract at every door: the same labels are accepted and refused, with the same meaning and in the same words.

Each door turns label sets of one example, or of a block, into what it understood: which labels are relevant, which are
unknown. Doors that do not show it themselves are watched through the loss, costs or counts that they lead to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import boostline as bl
from boostline import inspect as look
from boostline import metrics
from boostline.contract.rows import read_rows
from boostline.evaluate import prequential, train_then_test
from boostline.evaluate.baselines import DecayedCounts
from boostline.learners import paper_trees
from boostline.sklearn import AdaOLMRClassifier

K = 4
NAMES = ["sun", "rain", "wind", "snow"]
x = np.zeros(2)
#: From these scores each pair of label sets has a loss of its own.
SCORES = np.array([0.1, 0.7, 0.3, 0.2])


def learn(labels, relevant, unknown):
    """`learn` of a model; what it understood is in its record."""
    model = bl.AdaOLMR(K, labels=labels, learners=paper_trees(3))
    model.learn(x, relevant, unknown=unknown)
    return model.state()["arrays"]


def learn_block(labels, relevant, unknown):
    model = bl.AdaOLMR(K, labels=labels, learners=paper_trees(3))
    unknown = None if unknown is None else [unknown, []]
    model.learn(np.zeros((2, 2)), [relevant, np.eye(K)[0]], unknown=unknown)
    return model.state()["arrays"]


def of_prequential(labels, relevant, unknown):
    model = bl.AdaOLMR(K, labels=labels, learners=paper_trees(3))
    prequential(model, [{"x": x, "relevant": relevant, "unknown": unknown}])
    return model.state()["arrays"]


def of_delayed(labels, relevant, unknown):
    model = bl.AdaOLMR(K, labels=labels, learners=paper_trees(3))
    prequential(model, [{"x": x, "relevant": relevant, "unknown": unknown}], delay=3)
    return model.state()["arrays"]


def of_foreign(labels, relevant, unknown):
    """A model that is not ours is told the same."""
    told: dict[str, Any] = {}

    class Foreign:
        n_labels = K

        def score(self, x):
            return SCORES

        def learn(self, x, relevant, unknown=None):
            told.update(relevant=relevant, unknown=unknown)
            return SCORES

    model = Foreign()
    model.labels = labels  # type: ignore[attr-defined]
    prequential(model, [{"x": x, "relevant": relevant, "unknown": unknown}])
    return learn(None, told["relevant"], told["unknown"])


def counts(labels, relevant, unknown):
    model = DecayedCounts(K, labels=labels)
    model.counts[:] = 1.0
    model.learn(x, relevant, unknown=unknown)
    understood = {1.5: 1, 0.5: 0, 1.0: -1}
    codes = np.array([understood[count] for count in model.counts.tolist()])
    return learn(None, codes == 1, codes == -1)


def of_metrics(labels, relevant, unknown):
    """Metrics know no names: they get the labels' places."""
    assert labels is None
    loss = metrics.RankLoss().update(relevant, SCORES, unknown).get()
    assert loss == metrics.rank_loss(relevant, SCORES, unknown=unknown)
    return loss


def of_inspect(labels, relevant, unknown):
    assert labels is None
    losses = look.LabelLosses(K)
    losses.update(SCORES, relevant, unknown)
    missed, n = losses.sums[1].sum(), losses.sums[0].sum()
    return missed / n if n else 0.0


def of_sklearn(labels, relevant, unknown):
    """scikit-learn's y has one form only: a matrix, in which NaN is unknown."""
    Y = np.atleast_2d(relevant)
    model = AdaOLMRClassifier(paper_trees(3), random_state=0)
    model.partial_fit(x[np.newaxis], Y, classes=labels)
    return model.booster_.state()["arrays"]


MODEL_DOORS = [learn, learn_block, of_prequential, of_delayed, of_foreign, counts]
PLACE_DOORS = [of_metrics, of_inspect]

nan = np.nan
#: labels, relevant, unknown, and the codes that this means: 1 relevant, 0 irrelevant, -1 unknown.
GOOD: dict[str, tuple[Any, Any, Any, list[int]]] = {
    "a set of places": (None, {1, 3}, None, [0, 1, 0, 1]),
    "a list of places": (None, [3, 1], None, [0, 1, 0, 1]),
    "a tuple": (None, (0,), None, [1, 0, 0, 0]),
    "NumPy's integers": (None, {np.int64(2)}, None, [0, 0, 1, 0]),
    "no label": (None, [], None, [0, 0, 0, 0]),
    "all labels": (None, {0, 1, 2, 3}, None, [1, 1, 1, 1]),
    "bools": (None, [True, False, False, True], None, [1, 0, 0, 1]),
    "an array of bools": (None, np.array([True, False, False, True]), None, [1, 0, 0, 1]),
    "an array of 0 and 1": (None, np.array([0, 1, 0, 0]), None, [0, 1, 0, 0]),
    "an array of floats": (None, np.array([0.0, 1.0, 0.0, 0.0]), None, [0, 1, 0, 0]),
    "NaN": (None, np.array([1.0, 0.0, nan, 0.0]), None, [1, 0, -1, 0]),
    "masked": (None, np.ma.masked_array([1, 0, 1, 0], mask=[0, 0, 1, 0]), None, [1, 0, -1, 0]),
    "None": (None, np.array([1, 0, None, True], dtype=object), None, [1, 0, -1, 1]),
    "sparse": (None, sparse.csr_matrix([[0, 1, 0, 1]]), None, [0, 1, 0, 1]),
    "sparse with NaN": (None, sparse.csr_matrix([[0.0, 1.0, nan, 0.0]]), None, [0, 1, -1, 0]),
    "a dict": (None, {0: True, 2: None, 3: False}, None, [1, 0, -1, 0]),
    "unknown as a set": (None, {1}, {0, 3}, [-1, 1, 0, -1]),
    "unknown as bools": (None, {1}, [True, False, False, False], [-1, 1, 0, 0]),
    "unknown as an array": (None, np.array([0, 1, 0, 0]), np.array([1, 0, 0, 1]), [-1, 1, 0, -1]),
    "unknown and NaN": (None, np.array([0, 1, nan, 0]), {0}, [-1, 1, -1, 0]),
    "nothing unknown": (None, {1}, [], [0, 1, 0, 0]),
    "a series": (None, pd.Series([0, 1, 0, 1]), None, [0, 1, 0, 1]),
    "names": (NAMES, {"rain", "snow"}, None, [0, 1, 0, 1]),
    "places beside names": (NAMES, [1, "snow"], None, [0, 1, 0, 1]),
    "a dict of names": (NAMES, {"rain": 1, "sun": None}, None, [-1, 1, 0, 0]),
    "a series by name": (NAMES, pd.Series({"snow": 1, "wind": 0, "rain": 1, "sun": 0}), None, [0, 1, 0, 1]),
    "names that are numbers": ([10, 20, 30, 40], {20}, None, [0, 1, 0, 0]),
}  # fmt: skip

#: labels, relevant, unknown, kind of error, and its words.
BAD: dict[str, tuple[Any, Any, Any, type[Exception], str]] = {
    "out of range": (None, {17}, None, ValueError, "relevant has label 17, but n_labels is 4"),
    "negative": (None, {-1}, None, ValueError, "relevant has label -1, but n_labels is 4"),
    "text": (None, {"sun"}, None, ValueError,
             "relevant has label 'sun', but labels must be whole numbers between 0 and 3"),
    "a fraction": (None, {1.5}, None, ValueError, "relevant has label 1.5, but labels must be whole"),
    "twice": (None, [1, 1], None, ValueError, "relevant has label 1 twice, but must have each once (an indicator"),
    "0 and 1 in a list": (None, [0, 1, 1, 0], None, ValueError, "relevant has label 1 twice, but must have each"),
    "a number": (None, 3, None, TypeError, "relevant is a int, but must be a set or list of labels, a dict"),
    "a string": (None, "ab", None, TypeError, "relevant is a str, but must be a set or list of labels, a dict"),
    "nothing": (None, None, None, TypeError, "relevant is a NoneType, but must be a set or list of labels"),
    "too short": (None, np.array([1, 0]), None, ValueError,
                  "relevant is an array of shape (2,), but an indicator must have the shape (4,)"),
    "too few bools": (None, [True], None, ValueError, "relevant is an array of shape (1,), but an indicator must"),
    "another value": (None, np.array([2, 0, 0, 0]), None, ValueError,
                      "relevant has the value 2, but an indicator must have 0 and 1, or NaN for unknown"),
    "a half": (None, np.array([0.5, 0, 0, 0]), None, ValueError, "relevant has the value 0.5, but an indicator"),
    "infinity": (None, np.array([np.inf, 0, 0, 0]), None, ValueError, "relevant has the value inf, but an"),
    "an array of text": (None, np.array(["a"] * K), None, TypeError, "relevant has dtype <U1, but must have bools"),
    "an odd truth": (None, {1: "yes"}, None, ValueError,
                     "relevant has the value 'yes' for label 1, but must have True, False, or None for unknown"),
    "relevant and unknown": (None, {0}, {0}, ValueError,
                             "unknown has label 0 of row 0, but must not have labels that are in relevant too"),
    "unknown out of range": (None, {0}, {9}, ValueError, "unknown has label 9, but n_labels is 4"),
    "unknown is a number": (None, {0}, 3, TypeError, "unknown is a int, but must be a set or list of labels"),
    "NaN in unknown": (None, {0}, np.array([0, 0, nan, 0]), ValueError, "unknown has NaN, but must be True or False"),
    "a foreign name": (NAMES, {"hail"}, None, ValueError,
                       "relevant has label 'hail', but labels must be those of the model: 'sun', 'rain',"),
    "a near name": (NAMES, {"rian"}, None, ValueError, "relevant has label 'rian' (is 'rain' meant?), but labels"),
    "a place where names are numbers": ([10, 20, 30, 40], {1}, None, ValueError,
                                        "relevant has label 1, but labels must be those of the model: 10, 20"),
    "a foreign column": (NAMES, pd.Series({"snow": 1, "wind": 0, "rain": 1, "hail": 0}), None, ValueError,
                         "relevant lacks the column 'sun' and has the column 'hail', but its columns must be"),
}  # fmt: skip


def expected(codes, door=learn):
    """What the codes lead to in a model, by the plainest way in."""
    rows = np.array([codes, [1, 0, 0, 0]][: 2 if door is learn_block else 1])
    model = bl.AdaOLMR(K, learners=paper_trees(3))
    model.learn(np.zeros((len(rows), 2)), rows == 1, unknown=rows == -1)
    return model.state()["arrays"]


def assert_same(got, want):
    assert got.keys() == want.keys()
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], err_msg=name)


@pytest.mark.parametrize("case", GOOD)
@pytest.mark.parametrize("door", MODEL_DOORS)
def test_models_understand_the_same(door, case):
    labels, relevant, unknown, codes = GOOD[case]
    assert_same(door(labels, relevant, unknown), expected(codes, door))


@pytest.mark.parametrize("case", [case for case in GOOD if GOOD[case][0] is None])
@pytest.mark.parametrize("door", PLACE_DOORS)
def test_metrics_and_tables_understand_the_same(door, case):
    _, relevant, unknown, codes = GOOD[case]
    array = np.array(codes)
    yes, no = SCORES[array == 1], SCORES[array == 0]
    pairs = [(a, b) for a in yes for b in no]
    loss = np.mean([(b > a) + 0.5 * (a == b) for a, b in pairs]) if pairs else 0.0
    assert door(None, relevant, unknown) == pytest.approx(loss, abs=1e-15)


#: Metrics and tables know no names.
DOORS_AND_BAD = [
    (door, case)
    for door in [*MODEL_DOORS, *PLACE_DOORS]
    for case, it in BAD.items()
    if door in MODEL_DOORS or it[0] is None
]


@pytest.mark.parametrize(("door", "case"), DOORS_AND_BAD)
def test_every_door_refuses_in_the_same_words(door, case):
    labels, relevant, unknown, error, words = BAD[case]
    with pytest.raises(error) as refused:
        door(labels, relevant, unknown)
    said = str(refused.value)
    # The argument's name may say which row it is.
    for name in ("relevant[0]", "relevant of example 0"):
        said = said.replace(name, "relevant")
    assert said.replace("unknown[0]", "unknown").startswith(words)


ARRAYS = [case for case, it in GOOD.items() if isinstance(it[1], np.ndarray) and it[2] is None]


@pytest.mark.parametrize("case", ARRAYS)
def test_scikit_learn_understands_arrays_alike(case):
    _, relevant, _, codes = GOOD[case]
    want = np.where(np.array(codes) < 0, nan, codes)
    one, other = of_sklearn(None, relevant, None), of_sklearn(None, want, None)
    assert_same(one, other)


@pytest.mark.parametrize(
    ("Y", "words"),
    [
        (
            np.array([[2, 0, 0, 0]]),
            "Y has the value 2, but an indicator must have 0 and 1, or NaN for unknown",
        ),
        (np.array([[0.5, 0, 0, 0]]), "Y has the value 0.5, but an indicator"),
        (np.array([[np.inf, 0, 0, 0]]), "Y has the value inf, but an indicator"),
    ],
)
def test_scikit_learn_and_data_sets_refuse_in_the_same_words(Y, words):
    with pytest.raises(ValueError) as refused:
        of_sklearn(None, Y, None)
    assert str(refused.value).startswith(words)
    data = type("Data", (), {"X": np.zeros((1, 2)), "Y": Y, "n_train": 0})
    with pytest.raises(ValueError) as refused:
        train_then_test(DecayedCounts(K), data)
    assert str(refused.value).startswith("data." + words)


@pytest.mark.parametrize(
    ("weight", "error", "words"),
    [
        (-0.1, ValueError, "has the value -0.1, but must lie in [0, 1]"),
        (2.0, ValueError, "has the value 2.0, but must lie in [0, 1]"),
        (nan, ValueError, "has the value nan, but must lie in [0, 1]"),
        ("much", TypeError, "is 'much', but must be a number in [0, 1]"),
    ],
)
def test_weights_are_refused_in_the_same_words(weight, error, words):
    from boostline.river import AdaOLMRClassifier as River

    calls: dict[str, list[Any]] = {
        "weight": [
            lambda: bl.AdaOLMR(K, learners=paper_trees(2)).learn(x, {0}, weight=weight),
            lambda: DecayedCounts(K).learn(x, {0}, weight=weight),
        ],
        "w": [lambda: River(paper_trees(2)).learn_one({"a": 1.0}, {"p"}, weight)],
    }
    for name, doors in calls.items():
        for door in doors:
            with pytest.raises(error) as refused:
                door()
            assert str(refused.value) == f"{name} {words}"


@pytest.mark.parametrize(
    ("y", "codes"),
    [
        ({"sun", "wind"}, [1, 0, 1, 0]),
        (["wind"], [0, 0, 1, 0]),
        ({"sun": True, "rain": None, "wind": False}, [1, -1, 0, 0]),
        ({"sun": 1, "rain": nan, "wind": 0.0}, [1, -1, 0, 0]),
        ({"sun": np.True_, "snow": np.int64(1)}, [1, 0, 0, 1]),
    ],
)
def test_river_understands_the_same(y, codes):
    from boostline.river import AdaOLMRClassifier as River

    model = River(paper_trees(3), labels=NAMES, n_features=2, expert="draw")
    model.learn_one({"a": 0.0, "b": 0.0}, y)
    assert_same(model.booster.state()["arrays"], expected(codes))


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        ("sun", TypeError, "y is a str, but must be a set or list of labels, a dict"),
        (3, TypeError, "y is a int, but must be a set or list of labels, a dict"),
        (None, TypeError, "y is a NoneType, but must be a set or list of labels, a dict"),
        (np.array([1, 0, 0, 0]), TypeError, "y is a ndarray, but must be a set or list of labels, a dict"),
        (["sun", "sun"], ValueError, "y has label 'sun' twice, but must have each once"),
        ({"sun": "yes"}, ValueError, "y has the value 'yes' for label 'sun', but must have True, False, or None"),
    ],
)  # fmt: skip
def test_river_refuses_in_the_same_words(y, error, words):
    from boostline.river import AdaOLMRClassifier as River

    model = River(paper_trees(3), labels=NAMES)
    with pytest.raises(error) as refused:
        model.learn_one({"a": 0.0}, y)
    assert str(refused.value).startswith(words)
    assert model.label_names == NAMES and model.booster.clock == 0


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_masked_features_are_missing(dtype):
    rows = np.arange(12).reshape(4, 3) % 5
    hidden = rows == 2
    want = np.where(hidden, nan, rows.astype(dtype).astype(float))
    masked = np.ma.masked_array(rows.astype(dtype), mask=hidden)
    np.testing.assert_array_equal(read_rows(masked).dense, want)
    np.testing.assert_array_equal(read_rows(masked[0]).dense, want[:1])
