"""The scikit-learn classifiers: shapes, equality with the core, frames, weights, unknown labels, bad input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

import joblib
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostline as bl
from boostline.contract.label_sets import LabelLists
from boostline.learners import paper_trees
from boostline.sklearn import AdaOLMRClassifier, LabelRankerClassifier, OnlineBMRClassifier

BOTH = pytest.mark.parametrize("make", [AdaOLMRClassifier, OnlineBMRClassifier])


@pytest.fixture(scope="module")
def data():
    return make_multilabel_classification(400, n_features=12, n_classes=5, random_state=0)


@BOTH
def test_predict_is_where_the_decision_function_is_above_zero(make, data):
    X, Y = data
    model = make(paper_trees(10), random_state=0).fit(X, Y)
    decided = model.decision_function(X)
    assert decided.shape == Y.shape
    np.testing.assert_array_equal(model.predict(X), decided > 0)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]


def test_partial_fit_is_the_core(data):
    X, Y = data
    model = AdaOLMRClassifier(paper_trees(10), random_state=3)
    model.partial_fit(X[:1], Y[:1])
    core = bl.AdaOLMR(5, learners=paper_trees(10), expert="weighted", seed=model.booster_.seed)
    model.partial_fit(X[1:], Y[1:])
    core.learn(X, Y)
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))
    np.testing.assert_array_equal(model.predict_proba(X), core.probabilities(X))
    np.testing.assert_array_equal(model.predict(X), core.predict(X))
    np.testing.assert_array_equal(model.rank(X, 2), core.rank(X, 2))


@BOTH
def test_blocks_of_any_size_give_the_same_model(make, data):
    X, Y = data
    whole = make(paper_trees(10), random_state=0).partial_fit(X, Y)
    parts = make(paper_trees(10), random_state=0)
    for rows in np.split(np.arange(len(X)), [1, 2, 50, 51, 333]):
        parts.partial_fit(X[rows], Y[rows])
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))


@BOTH
def test_sparse_is_dense(make, data):
    X, Y = data
    X = np.where(X < 4, 0.0, X)
    dense = make(paper_trees(10), random_state=0).fit(X, Y)
    thin = make(paper_trees(10), random_state=0).fit(sparse.csr_matrix(X), sparse.csr_matrix(Y))
    np.testing.assert_array_equal(
        dense.decision_function(X), thin.decision_function(sparse.csc_array(X))
    )


def test_many_sparse_labels_are_never_dense_all_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    Y: Any = sparse.random(3000, 200, density=0.01, random_state=0, data_rvs=np.ones, format="csr")
    largest = []
    toarray, mask = sparse.csr_matrix.toarray, LabelLists.mask

    def watched(self, *args, **kwargs):
        largest.append(self.shape[0])
        return toarray(self, *args, **kwargs)

    def watched_mask(self, n_labels):
        largest.append(len(self.start) - 1)
        return mask(self, n_labels)

    monkeypatch.setattr(sparse.csr_matrix, "toarray", watched)
    monkeypatch.setattr(LabelLists, "mask", watched_mask)
    X = rng.normal(size=(3000, 4))
    model = AdaOLMRClassifier(paper_trees(1), random_state=0).fit(X, sparse.csr_matrix(Y))
    assert all(n < 3000 for n in largest)
    monkeypatch.undo()
    dense = AdaOLMRClassifier(paper_trees(1), random_state=0).fit(X, Y.toarray())
    np.testing.assert_array_equal(model.decision_function(X), dense.decision_function(X))


def test_several_passes_and_threads(data):
    X, Y = data
    once = AdaOLMRClassifier(paper_trees(10), random_state=0).fit(X, Y)
    thrice = AdaOLMRClassifier(paper_trees(10), n_passes=3, random_state=0).fit(X, Y)
    assert (once.booster_.clock, thrice.booster_.clock) == (400, 1200)
    # Later passes see rows that were learned before: their scores must not move the probabilities.
    same = once.booster_.state()["arrays"], thrice.booster_.state()["arrays"]
    for name in ("calibration_shared", "calibration_labels"):
        np.testing.assert_array_equal(same[0][name], same[1][name])
    threads = AdaOLMRClassifier(paper_trees(10), n_passes=3, random_state=0, n_jobs=2).fit(X, Y)
    assert threads.booster_.n_threads == 2
    np.testing.assert_array_equal(thrice.decision_function(X), threads.decision_function(X))


@BOTH
def test_multiclass_and_binary_shapes(make):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make(paper_trees(20), random_state=0, n_passes=3).fit(X, names)
    assert model.decision_function(X).shape == (150, 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.score(X, names) > 0.9
    two = make(paper_trees(20), random_state=0).fit(X[:100], names[:100])
    assert two.decision_function(X).shape == (150,)
    np.testing.assert_array_equal(two.predict(X) == "versicolor", two.decision_function(X) > 0)
    assert two.score(X[:100], names[:100]) > 0.95


def test_rows_sorted_by_class_are_no_trouble_to_fit():
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(LabelRankerClassifier(random_state=0), X, y, cv=5).mean() > 0.9


def test_whole_weights_are_repeated_rows(data):
    X, Y = data
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    one = AdaOLMRClassifier(paper_trees(10), random_state=0)
    one.partial_fit(X, Y, sample_weight=weights)
    other = AdaOLMRClassifier(paper_trees(10), random_state=0)
    other.partial_fit(X.repeat(weights, axis=0), Y.repeat(weights, axis=0))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_weights_up_to_one_are_the_boosters(data):
    X, Y = data
    weights = np.random.default_rng(0).random(len(X))
    model = OnlineBMRClassifier(paper_trees(10), random_state=0)
    model.partial_fit(X, Y, sample_weight=weights)
    core = bl.OnlineBMR(5, learners=paper_trees(10), seed=model.booster_.seed)
    core.learn(X, Y, weight=weights)
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_checked_by_name(library, data):
    module = pytest.importorskip(library)
    X, Y = data
    columns = [f"c{i}" for i in range(X.shape[1])]
    labels = [f"l{i}" for i in range(5)]

    def frame(values, names):
        return module.DataFrame(dict(zip(names, values.T, strict=True)))

    model = AdaOLMRClassifier(paper_trees(10), random_state=0)
    model.partial_fit(frame(X, columns), frame(Y, labels))
    assert model.feature_names_in_.tolist() == columns
    assert model.classes_.tolist() == labels
    assert set(model.booster_.rank(X[0])) == set(labels)
    plain = AdaOLMRClassifier(paper_trees(10), random_state=0).partial_fit(X, Y)
    np.testing.assert_array_equal(
        model.decision_function(frame(X, columns)), plain.decision_function(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(X, columns[::-1]))
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame(X, ["x", *columns[1:]]), frame(Y, labels))
    with pytest.raises(ValueError, match="Y lacks the column 'l4' and has the column 'other', but"):
        model.partial_fit(frame(X, columns), frame(Y, [*labels[:4], "other"]))
    assert model.booster_.clock == len(X)
    # Labels come in any order; features in another one are refused, as scikit-learn's own checks demand.
    model.partial_fit(frame(X, columns), frame(Y[:, ::-1], labels[::-1]))
    plain.partial_fit(X, Y)
    np.testing.assert_array_equal(
        model.decision_function(frame(X, columns)), plain.decision_function(X)
    )
    # The booster itself takes frames by name.
    np.testing.assert_array_equal(
        model.booster_.score(frame(X[:, ::-1], columns[::-1])), plain.booster_.score(X)
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_booster_ranks_frames_of_floats_and_bools(library, data):
    module = pytest.importorskip(library)
    X, Y = data
    values = {"a": X[:, 0], "b": X[:, 1] > 0, "c": X[:, 2], "d": X[:, 3] > 1}
    frame = module.DataFrame(values)
    model = AdaOLMRClassifier(paper_trees(10), random_state=0).fit(frame, Y)
    want = model.booster_.rank(np.column_stack([*values.values()]).astype(float))
    assert model.booster_.rank(frame) == want


def test_unknown_labels_are_nan(data):
    X, Y = data
    hidden = np.random.default_rng(0).random(Y.shape) < 0.3
    partly = np.where(hidden, np.nan, Y)
    model = AdaOLMRClassifier(paper_trees(10), random_state=0).partial_fit(X, partly)
    core = bl.AdaOLMR(5, learners=paper_trees(10), expert="weighted", seed=model.booster_.seed)
    core.learn(X, (Y == 1) & ~hidden, unknown=hidden)
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))
    other = np.where(hidden, np.nan, Y).astype(object)
    again = AdaOLMRClassifier(paper_trees(10), random_state=0).partial_fit(X, other)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))


@BOTH
def test_pickle_joblib_and_clone(make, data, tmp_path):
    X, Y = data
    model = make(paper_trees(10), random_state=0).fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    for twin in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        twin.partial_fit(X[:100], Y[:100])
        kept = pickle.loads(pickle.dumps(model)).partial_fit(X[:100], Y[:100])
        np.testing.assert_array_equal(twin.decision_function(X), kept.decision_function(X))
    fresh = clone(model)
    assert not hasattr(fresh, "booster_")
    np.testing.assert_array_equal(fresh.fit(X, Y).predict(X), model.predict(X))


def test_learners_written_in_python_are_not_shared_between_fits(data):
    class Counts:
        def __init__(self):
            self.n = np.ones(5)

        def predict(self, x):
            return self.n / self.n.sum()

        def learn(self, x, relevant, costs, weight):
            self.n += relevant

    X, Y = data
    given = Counts()
    model = AdaOLMRClassifier([given], random_state=0).fit(X, Y)
    np.testing.assert_array_equal(given.n, np.ones(5))
    np.testing.assert_array_equal(
        model.fit(X, Y).decision_function(X), clone(model).fit(X, Y).decision_function(X)
    )


def test_grid_search_in_a_pipeline(data):
    X, Y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OnlineBMRClassifier(paper_trees(10), random_state=0)),
        {"onlinebmrclassifier__edge": [0.01, 0.1], "onlinebmrclassifier__n_passes": [1, 2]},
        scoring="f1_micro",
        cv=3,
    ).fit(X, Y)
    assert search.best_score_ > 0.5
    scores = cross_val_score(search.best_estimator_, X, Y, scoring="f1_micro", cv=3)
    assert scores.mean() == pytest.approx(search.best_score_)


def test_the_class_that_is_ranked_first_is_predicted_although_others_share_its_probability():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 600)
    model = LabelRankerClassifier(random_state=0).fit(rng.normal(size=(600, 4)), y)
    X = rng.normal(size=(200, 4))
    first = model.rank(X, top=1)[:, 0]
    likely = np.sort(model.booster_.probabilities(X), axis=1)
    assert (likely[:, -1] == likely[:, -2]).any()
    np.testing.assert_array_equal(model.predict(X), first)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], first)


@pytest.mark.parametrize("optimize", ["micro-f1", "macro-f1", 0.2])
def test_decisions_and_probabilities_order_the_rows_alike_for_each_label(data, optimize):
    X, Y = data
    model = LabelRankerClassifier(optimize=optimize, random_state=0).fit(X, Y)
    decided, likely = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_array_equal(decided.argsort(axis=0), likely.argsort(axis=0))
    np.testing.assert_array_equal(decided > 0, model.booster_.predict(X, optimize))
    assert likely.min() > 0
    assert likely.max() < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X, Y[:, :3]), r"Y is an array of shape \(400, 3\), but"),
        (
            lambda X, Y: (X, Y[:, 0]),
            r"y has shape \(400,\), but must be indicators, \(n, k\), as in the first call",
        ),
        (
            lambda X, Y: (X, Y + 1),
            "Y has the value 2, but an indicator must have 0 and 1, or NaN for unknown",
        ),
        (lambda X, Y: (X[:, :3], Y), "X has 3 features"),
        (lambda X, Y: (X[:3], Y), "inconsistent numbers of samples"),
        (lambda X, Y: (X * np.inf, Y), "infinity"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(change, message, data):
    X, Y = data
    model = AdaOLMRClassifier(paper_trees(10), random_state=0).partial_fit(X, Y)
    before = pickle.dumps(model)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=message):
        model.partial_fit(*change(X, Y))
    assert pickle.dumps(model) == before


def test_bad_arguments_are_refused(data):
    X, Y = data
    for parameters, message in [
        ({"optimize": "median"}, "optimize is 'median'"),
        ({"n_passes": 0}, "n_passes is 0"),
        ({"expert": "first"}, "expert is 'first'"),
    ]:
        with pytest.raises(ValueError, match=message):
            AdaOLMRClassifier(paper_trees(3), **parameters).fit(X, Y)
    with pytest.raises(ValueError, match="classes must be passed"):
        LabelRankerClassifier().partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="at least 2 classes"):
        LabelRankerClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="at most 1000 times"):
        LabelRankerClassifier().fit(X, Y, sample_weight=np.full(len(X), 2000))
    model = AdaOLMRClassifier(paper_trees(3))
    with pytest.raises(ValueError, match="y has the class 7"):
        model.partial_fit(X, Y[:, 0] + 6, classes=[6, 8])
    model.partial_fit(X, Y[:, 0] + 6, classes=[6, 7])  # the failed call began nothing
    with pytest.raises(
        ValueError, match="classes has 4 names, but must have 5, one per column of Y"
    ):
        AdaOLMRClassifier(paper_trees(3)).partial_fit(X, Y, classes=list("abcd"))
    with pytest.raises(NotFittedError):
        LabelRankerClassifier().predict(X)


def test_the_booster_can_be_saved_on_its_own(data, tmp_path):
    X, Y = data
    model = AdaOLMRClassifier(paper_trees(5), random_state=0).fit(X, Y)
    model.booster_.save(tmp_path / "model.blm")
    loaded = bl.load(tmp_path / "model.blm")
    np.testing.assert_array_equal(loaded.score(X), model.booster_.score(X))


@pytest.mark.parametrize(
    ("classifier", "booster", "given"),
    [
        (LabelRankerClassifier, bl.LabelRanker, {}),
        (LabelRankerClassifier, bl.LabelRanker, {"learners": paper_trees(3), "drift": None}),
        (AdaOLMRClassifier, bl.AdaOLMR, {"learners": paper_trees(3), "expert": "draw"}),
        (OnlineBMRClassifier, bl.OnlineBMR, {"learners": paper_trees(3), "edge": 0.2}),
    ],
)
def test_options_are_passed_on(classifier, booster, given, data):
    X, Y = data
    model = classifier(random_state=0, **given).fit(X, Y)
    core = booster(5, seed=model.booster_.seed, **given)
    order = np.random.RandomState(0).permutation(len(X))
    core.learn(X[order], Y[order])
    np.testing.assert_array_equal(model.booster_.score(X), core.score(X))


def test_an_edge_that_follows_the_learners(data):
    X, Y = data
    model = OnlineBMRClassifier(edge="auto", random_state=0).fit(X, Y)
    booster: Any = model.booster_
    assert booster.diagnostics.chooses_edge and booster.edge > 0.01
