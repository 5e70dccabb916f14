"""Learners and losses of a user's own, and data beside the model: what a file holds of them, and what it refuses."""

import numpy as np
import pytest
from model_zoo import Counts

import boostline as bl
from boostline import saving

TREES = bl.learners.paper_trees(8)
TREE = bl.learners.HoeffdingTree
L = bl.learners


def test_a_python_learner_that_knew_something_before_keeps_it(tmp_path):
    learner = Counts(3)
    learner.counts[1] = 8.0
    bl.AdaOLMR(3, learners=[learner]).save(tmp_path / "m.blm")
    fresh = Counts(3)
    bl.load(tmp_path / "m.blm", learners=[fresh])
    assert fresh.counts[1] == 8.0


def test_the_state_of_a_python_learner_comes_back_as_it_was(tmp_path):
    learner = Counts(3)
    learner.memory = {"nan": float("nan"), "list": [1, (2.5, [None])], "empty": {}, True: False}
    learner.last = np.array(7, dtype=np.int16)[()]
    learner.counts = np.arange(12, dtype=np.float64).reshape(3, 4)[:, ::2]  # not contiguous
    bl.AdaOLMR(2, learners=[learner]).save(tmp_path / "m.blm")
    fresh = Counts(3)
    bl.load(tmp_path / "m.blm", learners=[fresh])
    assert np.isnan(fresh.memory.pop("nan"))
    assert fresh.memory == {"list": [1, (2.5, [None])], "empty": {}, True: False}
    assert type(fresh.last) is np.int16
    np.testing.assert_array_equal(fresh.counts, [[0, 2], [4, 6], [8, 10]])
    assert fresh.seen == 2**90


class Stateless:
    def predict(self, x):
        return np.array([0.5, 0.5])

    def learn(self, x, relevant, costs, weight):
        pass


@pytest.mark.parametrize("kind", ["PairwiseLoss", "GeneralLoss"])
def test_a_loss_of_ones_own_is_refused_by_name(kind, tmp_path):
    functions = {
        "PairwiseLoss": lambda d: np.maximum(0.0, 1.0 + np.asarray(d)) ** 2,
        "GeneralLoss": lambda relevant, scores: float(
            scores[~relevant].max() > scores[relevant].min()
        ),
    }
    loss = getattr(bl.losses, kind)(functions[kind], name="mine")
    trees = bl.learners.paper_trees(2, single_label=True)
    model = bl.OnlineBMR(3, learners=trees, edge=0.1, loss=loss)
    with pytest.raises(TypeError, match="the loss 'mine' is a function of your own"):
        model.save(tmp_path / "m.blm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("learned", [False, True])
def test_a_python_learner_without_state_is_refused_by_name(learned, tmp_path):
    model = bl.AdaOLMR(2, learners=[Counts(2), Stateless()])
    if learned:
        model.learn([1.0], {0})
    with pytest.raises(TypeError, match="learner 1, a Stateless, has no get_state"):
        model.save(tmp_path / "m.blm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "is a set"),
        (b"bytes", "is a bytes"),
        (np.array(["text"]), "array of <U4"),
        (np.array([object()]), "array of object"),
        ({(1, 2): 3}, "keys are strings"),
        ([lambda: 0], r"\['memory'\]\[0\] is a function"),
        (1 << 20_000, "too many digits"),
    ],
    ids=["set", "bytes", "text", "objects", "keys", "function", "digits"],
)
def test_a_state_that_cannot_be_saved_is_refused(value, message, tmp_path):
    learner = Counts(2)
    learner.memory = value
    with pytest.raises(TypeError, match=message):
        bl.AdaOLMR(2, learners=[learner]).save(tmp_path / "m.blm")
    assert list(tmp_path.iterdir()) == []


def test_learners_of_another_class_or_number_are_refused(tmp_path):
    bl.AdaOLMR(2, learners=[Counts(2), TREE()]).save(tmp_path / "m.blm")
    with pytest.raises(saving.LoadError, match=r"1 learners written in Python .*Counts.* has 0"):
        bl.load(tmp_path / "m.blm")
    with pytest.raises(saving.LoadError, match="has 2"):
        bl.load(tmp_path / "m.blm", learners=[Counts(2), Counts(2)])
    with pytest.raises(saving.LoadError, match=r"learners\[0\] is a Stateless, but the file's"):
        bl.load(tmp_path / "m.blm", learners=[Stateless()])


def test_extra_data_come_back(tmp_path):
    extra = {"rows": 12, "curve": np.arange(3.0), "nested": [{"x": (1, 2)}]}
    bl.LabelRanker(2).save(tmp_path / "m.blm", extra)
    _, found = saving.load_with_extra(tmp_path / "m.blm")
    np.testing.assert_array_equal(found.pop("curve"), [0.0, 1.0, 2.0])
    assert found == {"rows": 12, "nested": [{"x": (1, 2)}]}
    assert saving.read_header(tmp_path / "m.blm")["arrays"]["extra.0"] == ("float64", (3,))
