"""Models that are not boostline's: one example at a time, River's dicts, frames."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from river import datasets, linear_model, multioutput, preprocessing
from scipy import sparse
from sklearn.linear_model import SGDClassifier

import boostline as bl
from boostline import metrics
from boostline.evaluate import prequential, train_then_test
from boostline.evaluate.baselines import DecayedCounts
from boostline.learners import paper_trees
from boostline.river import AdaOLMRClassifier


class MiniBatches:
    """scikit-learn's linear models behind `score` and `learn`: a mini-batch is scored before any of it is learned."""

    def __init__(self, n_labels):
        self.n_labels = n_labels
        self.models = [SGDClassifier(random_state=0) for _ in range(n_labels)]
        self.sizes = []

    def score(self, x):
        X = np.atleast_2d(x)
        if not hasattr(self.models[0], "coef_"):
            S = np.zeros((len(X), self.n_labels))
        else:
            S = np.column_stack([model.decision_function(X) for model in self.models])
        return S[0] if np.ndim(x) == 1 else S

    def learn(self, x, relevant):
        scores = self.score(x)
        X, Y = np.atleast_2d(x), np.atleast_2d(relevant)
        self.sizes.append(len(X))
        for model, y in zip(self.models, Y.T, strict=True):
            model.partial_fit(X, y, classes=[False, True])
        return scores


@pytest.mark.gate
@pytest.mark.parametrize("protocol", [prequential, train_then_test])
def test_block_never_changes_the_result_of_a_foreign_model(data, protocol):
    def run(**options):
        model = MiniBatches(5)
        result = protocol(model, data, **options)
        result = result["MiniBatches"] if protocol is prequential else result
        return result.rank_loss, set(model.sizes)

    by_hand, S = MiniBatches(5), []
    for x, y in zip(data.X, data.Y, strict=True):
        S.append(by_hand.learn(x, y))
    first = 0 if protocol is prequential else data.n_train
    want = metrics.rank_loss(data.Y[first:], np.array(S)[first:])
    for block in (1, 256):
        loss, sizes = run(block=block)
        assert loss == pytest.approx(want, abs=1e-12)
        assert sizes == {1}


def pipeline():
    return preprocessing.StandardScaler() | AdaOLMRClassifier(paper_trees(10))


def yeast(n=150):
    return list(datasets.Yeast().take(n))


def river_by_hand(model, stream):
    """Rank loss of what `score_one` said before `learn_one`; labels that nobody has scored stand last."""
    losses = []
    for x, y in stream:
        told = model.score_one(x)
        scores = [told.get(label, -np.inf) for label in y]
        losses.append(metrics.rank_loss(np.array([list(y.values())]), np.array([scores])))
        model.learn_one(x, y)
    return np.mean(losses)


@pytest.mark.parametrize("block", [1, 256])
def test_a_river_pipeline_on_a_stream_of_dicts(block):
    want = river_by_hand(pipeline(), yeast())
    result = prequential(pipeline(), datasets.Yeast().take(150), block=block)
    assert result["Pipeline"].rank_loss == pytest.approx(want, abs=1e-12)
    assert result.runs["Pipeline"].settings["n_labels"] == 14
    late = prequential(pipeline(), yeast(), delay=20)
    assert late["Pipeline"].n_learned == 150 and late.max_pending == 21


def test_a_river_model_beside_others_on_a_data_set():
    stream = yeast(200)
    features, labels = list(stream[0][0]), list(stream[0][1])
    X = np.array([[x[name] for name in features] for x, _ in stream])
    Y = np.array([[y[name] for name in labels] for _, y in stream])
    data = SimpleNamespace(X=X, Y=Y, n_train=120, features=features, labels=labels)
    want = river_by_hand(pipeline(), stream)
    both = prequential({"river": pipeline(), "counts": DecayedCounts(14, decay=1.0)}, data)
    # The other model fixes the labels from the start, so the first example has no label that is new.
    assert both["river"].rank_loss == pytest.approx(want, abs=0.5 / 200)
    run = train_then_test(pipeline(), data)
    frame = SimpleNamespace(
        X=pd.DataFrame(X, columns=features), Y=pd.DataFrame(Y, columns=labels), n_train=120
    )
    assert train_then_test(pipeline(), frame).rank_loss == run.rank_loss
    model = pipeline()
    train_then_test(model, data, freeze=True)
    assert sorted(model["AdaOLMRClassifier"].label_names) == sorted(labels)
    assert model["AdaOLMRClassifier"].feature_names == sorted(features)


def test_a_river_model_gets_what_a_sparse_row_has():
    rng = np.random.default_rng(0)
    X = rng.random((60, 5)) * (rng.random((60, 5)) < 0.5)
    Y = X[:, :3] > 0.3
    sparse_data = SimpleNamespace(X=sparse.csr_matrix(X), Y=Y, n_train=30)
    dicts = [
        ({j: float(x[j]) for j in np.flatnonzero(x)}, {i: bool(y[i]) for i in range(3)})
        for x, y in zip(X, Y, strict=True)
    ]
    labels = [0, 1, 2]

    def model():
        return AdaOLMRClassifier(paper_trees(5), labels=labels, fill_value=0.0)

    found = prequential(model(), sparse_data)["AdaOLMRClassifier"]
    assert found.rank_loss == prequential(model(), dicts)["AdaOLMRClassifier"].rank_loss


def test_rivers_own_models_are_ranked_by_their_probabilities():
    chain = preprocessing.StandardScaler() | multioutput.ClassifierChain(
        linear_model.LogisticRegression(), order=[f"Class{i}" for i in range(1, 15)]
    )
    assert prequential(chain, yeast(100))["Pipeline"].rank_loss < 0.5


def test_labels_may_come_up_on_the_way():
    a, b = {"a": 1.0}, {"a": 0.0}
    stream = [
        (a, {"sun"}),
        (b, {"rain"}),
        (a, {"sun", "wind"}),
        (b, {"rain": True, "sun": None}),
        (a, set()),
    ]
    result = prequential(AdaOLMRClassifier(paper_trees(3)), stream * 10, metrics=["coverage"])
    assert result.n == 50
    with pytest.raises(TypeError, match="model 'ClassifierChain' has to know every label"):
        chain = multioutput.ClassifierChain(linear_model.LogisticRegression())
        prequential(chain, [(a, {"sun": True, "rain": None})])


def test_river_models_without_scores_are_refused():
    with pytest.raises(TypeError, match="or be a River model with score_one or predict_proba_one"):
        prequential(preprocessing.StandardScaler(), yeast(2))


def test_frames_are_matched_by_name(data):
    features, labels = [f"f{i}" for i in range(8)], [f"l{i}" for i in range(5)]
    X, Y = pd.DataFrame(data.X, columns=features), pd.DataFrame(data.Y, columns=labels)

    def model():
        return bl.AdaOLMR(5, learners=paper_trees(5), seed=1)

    want = train_then_test(model(), data).rank_loss
    assert train_then_test(model(), SimpleNamespace(X=X, Y=Y, n_train=160)).rank_loss == want
    taught = model()
    taught.learn(X, Y)
    plain = model()
    plain.learn(data.X, data.Y)
    again = prequential(plain, data)["AdaOLMR"].rank_loss
    mixed = SimpleNamespace(X=X[features[::-1]], Y=Y[labels[::-1]])
    assert prequential(taught, mixed)["AdaOLMR"].rank_loss == again
    # A data set's names count as well, if the model has names.
    named = bl.data.Dataset(data.X[:, ::-1], data.Y[:, ::-1], 160, labels[::-1], features[::-1])
    fresh = bl.AdaOLMR(labels=labels, learners=paper_trees(5), seed=1)
    fresh.features = features
    assert train_then_test(fresh, named).rank_loss == want
    with pytest.raises(
        ValueError, match=r"data.Y lacks the column 'l4' and has the column 'other', but"
    ):
        other = bl.data.Dataset(data.X, data.Y, 160, [*labels[:4], "other"], features)
        train_then_test(bl.AdaOLMR(labels=labels, learners=paper_trees(5)), other)
    # Rows of a frame, one by one.
    rows = [(x, y) for (_, x), (_, y) in zip(X.iterrows(), Y.iterrows(), strict=True)]
    want = prequential(model(), data)["AdaOLMR"].rank_loss
    for delay in (0, 3):
        want = prequential(model(), data, delay=delay)["AdaOLMR"].rank_loss
        assert prequential(model(), rows, delay=delay)["AdaOLMR"].rank_loss == want
