"""Load and go on = never stopped, bit for bit; the same model is always the same bytes."""

from typing import Any

import numpy as np
import pytest
from committees import committee

import boostline as bl
from boostline import saving

TREES = bl.learners.paper_trees(8)
TREE = bl.learners.HoeffdingTree
L = bl.learners


class Counts:
    """Votes for labels by how often they were relevant; its state has arrays, scalars and odd numbers."""

    def __init__(self, k=5):
        self.k = k
        self.counts = np.ones(k)
        self.memory = {"best": -np.inf, 3: (1, "two", None, True)}
        self.last = np.float32(0.1)
        self.seen = 2**90

    def predict(self, x):
        return self.counts / self.counts.sum()

    def learn(self, x, relevant, costs, weight):
        self.counts += weight * relevant * (1.0 - costs) * float(self.last)
        self.last = np.float32(self.last * np.float32(1.01))
        self.memory["best"] = max(self.memory["best"], float(costs.min()))
        self.seen += 1

    def grow_labels(self, k):
        self.counts = np.concatenate([self.counts, np.ones(k - self.k)])
        self.k = k

    def get_state(self):
        return {name: getattr(self, name) for name in ("k", "counts", "memory", "last", "seen")}

    def set_state(self, state):
        for name, value in state.items():
            setattr(self, name, value)


# Every learner that scores labels. The kernel is saved after 60 and 150 rows: before its first fit at 32 rows there is
# a test of its own; with 32 and 100 landmarks it has frozen them by 150 rows, with 200 it does so after it was loaded.
SCORERS = {
    "linear": L.Linear(),
    "linear-no-replay": L.Linear(n_replays=0, learning_rate=0.1),
    "linear-short-memory": L.Linear(n_replays=3, memory=40, seed=2**63 + 5),
    "linear-hashed": L.Linear(n_hashed=4),
    "ridge": L.Ridge(),
    "ridge-small": L.Ridge(ridge=1e-3),
    "kernel-32": L.Kernel(n_landmarks=32),
    "kernel-100": L.Kernel(n_landmarks=100),
    "kernel-200": L.Kernel(n_landmarks=200, ridge=0.05),
    "kernel-1000": L.Kernel(),
    "neighbours": L.Neighbours(),
    "neighbours-short-memory": L.Neighbours(n_neighbours=5, memory=50),
    "recency": L.Recency(0.9),
    "recency-1": L.Recency(1.0),
    "recency-0": L.Recency(0.0),
    "committee-100": committee(n_landmarks=100, memory=60, n_neighbours=7),
    "committee-200": committee(n_landmarks=200, n_replays=4),
    "committee-some": committee("kernel", "output_neighbours", n_landmarks=64),
    "committee-stack": committee("ridge", "stack"),
    "committee-few-features": committee(few_features=3, n_landmarks=64),
}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    **{
        f"{name}-{booster.algorithm}": (booster, dict(learners=[one]))
        for name, one in SCORERS.items()
        for booster in (bl.AdaOLMR, bl.LabelRanker)
    },
    "bmr-scorers": (bl.OnlineBMR, dict(learners=list(SCORERS.values())[::4], edge="auto")),
    "of-all-kinds": (
        bl.LabelRanker,
        dict(learners=[L.Kernel(100), TREE(), Counts(), committee(), L.Recency()]),
    ),
    **{
        f"ada-{e}": (bl.AdaOLMR, dict(learners=TREES, expert=e))
        for e in ("draw", "weighted", "best", "last")
    },
    "ranker-trees": (bl.LabelRanker, dict(learners=TREES)),
    "ranker-never-restarts": (bl.LabelRanker, dict(learners=TREES, drift=None)),
    "ranker": (bl.LabelRanker, {}),
    "bmr-auto": (bl.OnlineBMR, {}),
    "bmr-hinge": (bl.OnlineBMR, dict(learners=TREES, edge=0.1)),
    "bmr-edge-auto": (bl.OnlineBMR, dict(learners=TREES, edge="auto")),
    "bmr-exponential": (bl.OnlineBMR, dict(learners=TREES, edge=0.1, loss="exponential")),
    "bmr-margin": (bl.OnlineBMR, dict(learners=TREES, edge=0.1, loss=bl.losses.Hinge(0.5))),
    "bmr-rank": (
        bl.OnlineBMR,
        dict(learners=bl.learners.paper_trees(8, single_label=True), edge=0.1, loss="rank"),
    ),
    "trees-of-all-kinds": (
        bl.AdaOLMR,
        dict(
            learners=[
                TREE(),
                TREE(features=2, single_label=True),
                TREE(features=(1, 3), grace_period=3.0),
                TREE(max_bytes=6000, grace_period=2.0, tie_threshold=0.8),
            ]
        ),
    ),
    "large-seed": (bl.AdaOLMR, dict(learners=TREES, seed=2**64 - 1)),
    "python": (bl.AdaOLMR, dict(learners=[Counts(), TREE(), Counts(), bl.learners.paper_trees(2)])),
    "python-first": (bl.OnlineBMR, dict(learners=[Counts()], edge=0.1)),
}


def make(case):
    cls, options = CASES[case]
    options = dict(options)
    if isinstance(options.get("learners"), list):
        options["learners"] = [
            Counts() if isinstance(x, Counts) else x for x in options["learners"]
        ]
    return cls(labels=["a", "b", "c", "d", "e"], **options)


def python_learners(case):
    learners = CASES[case][1].get("learners")
    return (
        [Counts() for x in learners if isinstance(x, Counts)] if isinstance(learners, list) else []
    )


@pytest.mark.parametrize("case", CASES)
def test_going_on_after_loading_is_never_having_stopped(case, stream, tmp_path):
    X, Y = stream
    X = X.copy()
    X[7:40:3, 2] = np.nan
    whole, half = make(case), make(case)
    whole.learn(X[:150], Y[:150])
    half.learn(X[:150], Y[:150])
    half.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm", learners=python_learners(case))
    assert type(loaded) is type(whole)
    np.testing.assert_array_equal(loaded.score(X[150:]), whole.score(X[150:]))
    np.testing.assert_array_equal(loaded.learn(X[150:], Y[150:]), whole.learn(X[150:], Y[150:]))
    loaded.save(tmp_path / "loaded.blm")
    whole.save(tmp_path / "whole.blm")
    assert (tmp_path / "loaded.blm").read_bytes() == (tmp_path / "whole.blm").read_bytes()


@pytest.mark.parametrize("rows", [1, 5, 31, 32, 33, 63, 64, 65, 99, 100, 101, 117])
def test_a_kernel_goes_on_from_every_stage(rows, stream, tmp_path):
    """Before its first fit, between fits with borders pending, at the switch to frozen landmarks and after it."""
    X, Y = stream
    learners = [L.Kernel(n_landmarks=100), committee(n_landmarks=100)]
    whole = bl.AdaOLMR(5, learners=learners)
    whole.learn(X[:rows], Y[:rows])
    whole.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    np.testing.assert_array_equal(loaded.learn(X[rows:], Y[rows:]), whole.learn(X[rows:], Y[rows:]))
    np.testing.assert_array_equal(loaded.score(X), whole.score(X))


@pytest.mark.parametrize("name", ["linear", "kernel-100", "kernel-200", "committee-100"])
def test_learners_of_sparse_rows_go_on(name, tmp_path):
    """Many features, few of them in a row: rows are kept another way, and a committee leaves out two members."""
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(300, 700)) * (rng.random((300, 700)) < 0.02)
    dense[11:40:5, 3] = np.nan
    X = sparse.csr_matrix(dense)
    Y = np.nan_to_num(dense) @ rng.normal(size=(700, 5)) > 1.0
    whole = bl.LabelRanker(5, learners=[SCORERS[name]])
    whole.learn(X[:150], Y[:150])
    whole.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    np.testing.assert_array_equal(loaded.learn(X[150:], Y[150:]), whole.learn(X[150:], Y[150:]))
    np.testing.assert_array_equal(loaded.score(dense), whole.score(X))


@pytest.mark.parametrize("name", SCORERS)
def test_weights_unknown_and_new_labels_are_kept(name, stream, tmp_path):
    X, Y = stream
    rng = np.random.default_rng(8)
    weights = rng.random(300)
    unknown = rng.random((300, 6)) < 0.2
    Y6 = np.hstack([Y, Y[:, :1] ^ Y[:, 1:2]])
    model = bl.AdaOLMR(5, learners=[SCORERS[name], TREE()])
    first, second, rest = slice(0, 110), slice(110, 160), slice(160, 300)
    model.learn(
        X[first], Y[first] & ~unknown[first, :5], weight=weights[first], unknown=unknown[first, :5]
    )
    model.add_labels(1)
    model.learn(X[second], Y6[second] & ~unknown[second], unknown=unknown[second])
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    expected = model.learn(X[rest], Y6[rest], weight=weights[rest])
    np.testing.assert_array_equal(loaded.learn(X[rest], Y6[rest], weight=weights[rest]), expected)


@pytest.mark.parametrize("case", CASES)
def test_saving_twice_gives_the_same_bytes(case, stream, tmp_path):
    X, Y = stream
    model = make(case)
    model.learn(X[:60], Y[:60])
    model.save(tmp_path / "1.blm")
    model.save(tmp_path / "2.blm")
    again = bl.load(tmp_path / "1.blm", learners=python_learners(case))
    again.save(tmp_path / "3.blm")
    first = (tmp_path / "1.blm").read_bytes()
    assert (tmp_path / "2.blm").read_bytes() == first
    assert (tmp_path / "3.blm").read_bytes() == first


@pytest.mark.parametrize("case", CASES)
def test_a_model_that_has_not_learned_saves_too(case, stream, tmp_path):
    X, Y = stream
    make(case).save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm", learners=python_learners(case))
    assert loaded.clock == 0 and loaded.n_features is None
    np.testing.assert_array_equal(loaded.learn(X[:80], Y[:80]), make(case).learn(X[:80], Y[:80]))


def test_labels_that_were_added_are_saved(stream, tmp_path):
    X, Y = stream
    model = bl.AdaOLMR(labels=list("abcde"), learners=[bl.learners.paper_trees(4), Counts()])
    model.learn(X[:100], Y[:100])
    model.add_labels(["new"])
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm", learners=[Counts()])
    assert loaded.labels[-1] == "new"
    Y6 = np.hstack([Y, Y[:, :1] & Y[:, 1:2]])
    np.testing.assert_array_equal(loaded.learn(X[100:], Y6[100:]), model.learn(X[100:], Y6[100:]))


def test_threads_change_neither_file_nor_results(stream, tmp_path):
    X, Y = stream
    one, two = (bl.AdaOLMR(5, learners=TREES, n_threads=n) for n in (1, 2))
    for model, name in ((one, "1"), (two, "2")):
        model.learn(X[:100], Y[:100])
        model.save(tmp_path / name)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    loaded = bl.load(tmp_path / "1", n_threads=2)
    assert loaded.n_threads == 2
    np.testing.assert_array_equal(loaded.learn(X, Y), one.learn(X, Y))


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
    saving.save(bl.LabelRanker(2), tmp_path / "m.blm", extra)
    _, found = saving.load_with_extra(tmp_path / "m.blm")
    np.testing.assert_array_equal(found.pop("curve"), [0.0, 1.0, 2.0])
    assert found == {"rows": 12, "nested": [{"x": (1, 2)}]}
    assert saving.read_header(tmp_path / "m.blm")["arrays"]["extra.0"] == ("float64", (3,))
