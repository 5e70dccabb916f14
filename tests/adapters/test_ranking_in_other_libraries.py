"""Ranking scorers in scikit-learn; ranking metrics and blocks of rows in River."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("river")

import pandas as pd
from river import compose, datasets, evaluate, linear_model, multioutput, preprocessing
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import label_ranking_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boostline as bl
from boostline import river as blr
from boostline.learners import paper_trees
from boostline.sklearn import AdaOLMRClassifier, LabelRankerClassifier, ranking_scorer


def rows(n=240, k=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, (X[:, :k] + 0.3 * rng.normal(size=(n, k)) > 0.4).astype(int)


def test_scorers_judge_the_ranking_as_scikit_learn_does():
    X, Y = rows()
    keep = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    X, Y = X[keep], Y[keep]
    model = LabelRankerClassifier([bl.learners.Linear()], random_state=0).fit(X, Y)
    found = ranking_scorer("rank_loss_full")(model, X, Y)
    assert found == pytest.approx(-label_ranking_loss(Y, model.booster_.score(X)))
    assert ranking_scorer("log_loss")(model, X, Y) == pytest.approx(
        -bl.metrics.log_loss(Y, model.predict_proba(X))
    )
    piped = make_pipeline(StandardScaler(), AdaOLMRClassifier(paper_trees(5), random_state=0))
    search = GridSearchCV(
        piped, {"adaolmrclassifier__n_passes": [1, 2]}, scoring=ranking_scorer("ndcg@2"), cv=2
    ).fit(X, Y)
    assert 0.5 < search.best_score_ <= 1
    forest = RandomForestClassifier(20, random_state=0)
    assert (cross_val_score(forest, X, Y, scoring=ranking_scorer("precision@1"), cv=2) > 0.6).all()


@pytest.mark.parametrize("name", ["rank_loss", "precision@1", "ndcg@3", "coverage"])
def test_metrics_inside_of_progressive_val_score_are_those_of_our_own_evaluation(name):
    stream = list(datasets.Yeast().take(150))

    def model():
        scaled = preprocessing.StandardScaler()
        return compose.Pipeline(scaled, blr.AdaOLMRClassifier(paper_trees(10), n_features=103))

    theirs = evaluate.progressive_val_score(iter(stream), model(), blr.RankingMetric(name))
    own = bl.metrics.from_name(name)
    twin = model()
    for x, y in stream:
        scores = twin.score_one(x)
        if scores:
            own.update([y[label] for label in scores], list(scores.values()))
        twin.learn_one(x, y)
    assert theirs.get() == pytest.approx(own.get())


def test_models_that_give_only_bools_are_judged_by_those():
    chain = multioutput.ClassifierChain(linear_model.LogisticRegression())
    model = preprocessing.StandardScaler() | chain
    found = evaluate.progressive_val_score(
        datasets.Yeast().take(100), model, blr.RankingMetric("rank_loss")
    )
    assert 0 < found.get() < 0.6


def test_what_is_reverted_never_was():
    metric = blr.RankingMetric("precision@1")
    metric.update({"a": True, "b": False}, {"a": 0.2, "b": 0.7})
    metric.update({"a"}, {"a": {True: 0.9, False: 0.1}, "b": {True: 0.3, False: 0.7}})
    assert metric.get() == 0.5
    metric.revert({"a": True, "b": False}, {"a": 0.2, "b": 0.7})
    assert metric.get() == 1.0


@pytest.mark.parametrize("fill_value", [None, 0.0])
def test_learn_many_is_the_loop_of_learn_one(fill_value):
    pairs = list(datasets.Yeast().take(80))
    X = pd.DataFrame([x for x, _ in pairs])
    Y = pd.DataFrame([y for _, y in pairs])
    X.iloc[3, 5] = np.nan
    loop = blr.LabelRankerClassifier([bl.learners.Linear()], fill_value=fill_value)
    many = blr.LabelRankerClassifier([bl.learners.Linear()], fill_value=fill_value)
    for i in range(80):
        loop.learn_one(X.iloc[i].to_dict(), Y.iloc[i].to_dict())
    for part in (X.index[:1], X.index[1:30], X.index[30:]):
        many.learn_many(X.loc[part], Y.loc[part])
    x = pairs[0][0]
    assert many.booster.clock == 80
    assert loop.score_one(x) == many.score_one(x)
    named, likely = many.predict_many(X[:4]), many.predict_proba_many(X[:4])
    assert list(named.columns) == many.label_names
    for i in range(4):
        assert named.iloc[i].to_dict() == many.predict_one(X.iloc[i].to_dict())
        expected = {
            label: p[True] for label, p in many.predict_proba_one(X.iloc[i].to_dict()).items()
        }
        assert likely.iloc[i].to_dict() == expected
    with pytest.raises(ValueError, match="X has 4 rows, but must have 3"):
        many.learn_many(X[:4], Y[:3])


def test_learn_many_takes_labels_that_are_not_known():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    Y = pd.DataFrame({"up": [True, False, None, True], "down": [False, True, True, None]})
    loop, many = (blr.LabelRankerClassifier([bl.learners.Linear()]) for _ in range(2))
    for i in range(4):
        loop.learn_one({"a": float(i)}, {name: Y[name][i] for name in Y})
    many.learn_many(X, Y)
    assert many.booster.clock == 4
    assert loop.score_one({"a": 1.5}) == many.score_one({"a": 1.5})
