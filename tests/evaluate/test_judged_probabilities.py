"""Evaluations report log loss and calibration error of models that give probabilities."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import boostline as bl
from boostline import evaluate
from boostline.evaluate.baselines import DecayedCounts

N, K, N_TRAIN = 240, 7, 150


def data(unknown: bool = False) -> SimpleNamespace:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, K))
    Y = X + rng.normal(size=X.shape) > 0.8
    hidden = rng.random(Y.shape) < 0.1 if unknown else None
    known_and_relevant = Y if hidden is None else Y & ~hidden
    return SimpleNamespace(X=X, Y=known_and_relevant, n_train=N_TRAIN, unknown=hidden)


def ranker(seed: int = 0) -> bl.LabelRanker:
    return bl.LabelRanker(
        K, learners=[bl.learners.Linear(), bl.learners.Recency(decay=0.9)], seed=seed
    )


def by_hand(Y: Any, P: Any, known: Any) -> tuple[float, float]:
    """Log loss and ECE of the five highest labels, one label after the other."""
    losses = []
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(15)]
    for truth, p, is_known in zip(Y, P, known, strict=True):
        own = [-np.log(p[j]) if truth[j] else -np.log(1 - p[j]) for j in range(K) if is_known[j]]
        losses.append(sum(own) / len(own))
        for j in sorted((j for j in range(K) if is_known[j]), key=lambda j: -p[j])[:5]:
            bins[min(14, int(p[j] * 15))].append((p[j], truth[j]))
    n = sum(map(len, bins))
    gaps = [abs(np.mean([p - t for p, t in some])) * len(some) / n for some in bins if some]
    return float(np.mean(losses)), float(sum(gaps))


def one_by_one(model: Any, given: SimpleNamespace, learns: bool = True) -> Any:
    """Probabilities of the test rows, each before it was learned."""
    found = []
    for i in range(N):
        hidden = None if given.unknown is None else given.unknown[i]
        if i >= N_TRAIN:
            found.append(model.probabilities(given.X[i]))
        if i < N_TRAIN or learns:
            model.learn(given.X[i], given.Y[i], unknown=hidden)
    return np.array(found)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("freeze", [False, True])
def test_train_then_test_reports_what_was_told_before_learning(freeze: bool, unknown: bool) -> None:
    given = data(unknown)
    run = evaluate.train_then_test(ranker(), given, freeze=freeze)
    P = one_by_one(ranker(), given, learns=not freeze)
    known = np.ones((N, K), bool) if given.unknown is None else ~given.unknown
    log_loss, ece = by_hand(given.Y[N_TRAIN:], P, known[N_TRAIN:])
    assert run.metrics["log_loss"] == pytest.approx(log_loss, rel=1e-12)
    assert run.metrics["ece"] == pytest.approx(ece, rel=1e-12)
    assert run.to_dict()["metrics"]["ece"] == run.metrics["ece"]
    assert run.values["log_loss"].shape == (N - N_TRAIN,)


def test_how_rows_are_cut_into_blocks_changes_no_bit() -> None:
    runs = [evaluate.train_then_test(ranker(), data(), block=block) for block in (1, 7, 256)]
    assert len({tuple(run.metrics.values()) for run in runs}) == 1


@pytest.mark.parametrize("make", [bl.LabelRanker, bl.AdaOLMR, bl.OnlineBMR])
def test_a_block_tells_the_probabilities_of_the_loop(make: Any) -> None:
    given = data()
    keywords: dict[str, Any] = {"edge": 0.1} if make is bl.OnlineBMR else {}
    learners = bl.learners.paper_trees(4)
    one, other = (make(K, learners=learners, seed=0, **keywords) for _ in range(2))
    scores, likely = one.learn_with_probabilities(given.X, given.Y)
    for i in range(N):
        before = other.probabilities(given.X[i])
        np.testing.assert_array_equal(scores[i], other.learn(given.X[i], given.Y[i]))
        np.testing.assert_array_equal(likely[i], before)
    np.testing.assert_array_equal(one.score(given.X), other.score(given.X))


@pytest.mark.parametrize("delay", [0, 5])
def test_prequential_reports_them_and_leaves_out_models_without(delay: int) -> None:
    given = data()
    models = {"ranker": ranker(), "counts": DecayedCounts(K)}
    result = evaluate.prequential(models, zip(given.X, given.Y, strict=True), delay=delay)
    twin, found = ranker(), []
    for i in range(N):
        found.append(twin.probabilities(given.X[i]))
        if i >= delay:
            twin.learn(given.X[i - delay], given.Y[i - delay])
    log_loss, ece = by_hand(given.Y, np.array(found), np.ones((N, K), bool))
    assert result["ranker"].metrics["log_loss"] == pytest.approx(log_loss, rel=1e-12)
    assert result["ranker"].metrics["ece"] == pytest.approx(ece, rel=1e-12)
    assert "ece" not in result["counts"].metrics
    assert "log loss" in result.table() and " – " in result.table()  # noqa: RUF001
    json.dumps(result.to_dict(), allow_nan=False)


def test_scikit_learns_probabilities_are_judged() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    multiclass = pytest.importorskip("sklearn.multiclass")
    given = data()
    model = multiclass.OneVsRestClassifier(linear_model.LogisticRegression())
    peer = evaluate.SklearnPeer(model.fit(given.X[:N_TRAIN], given.Y[:N_TRAIN].astype(int)), K)
    run = evaluate.train_then_test(peer, given)
    P = model.predict_proba(given.X[N_TRAIN:])
    log_loss, ece = by_hand(given.Y[N_TRAIN:], P, np.ones(P.shape, bool))
    assert run.metrics["log_loss"] == pytest.approx(log_loss, rel=1e-9)
    assert run.metrics["ece"] == pytest.approx(ece, rel=1e-9)
    ridge = evaluate.SklearnPeer(
        linear_model.RidgeClassifier().fit(given.X, given.Y.astype(int)), K
    )
    assert "log_loss" not in evaluate.train_then_test(ridge, given).metrics


def test_rivers_probabilities_are_judged() -> None:
    river = pytest.importorskip("boostline.river")
    given = data()
    rows = [
        (dict(enumerate(x.tolist())), {f"l{j}": bool(t) for j, t in enumerate(y)})
        for x, y in zip(given.X, given.Y, strict=True)
    ]
    names = [f"l{j}" for j in range(K)]

    def make() -> Any:
        return river.LabelRankerClassifier(learners=[bl.learners.Linear()], labels=names, seed=0)

    result = evaluate.prequential({"river": make()}, rows)
    twin, found = make(), []
    for x, y in rows:
        told = twin.predict_proba_one(x)
        found.append([told[name][True] for name in names])
        twin.learn_one(x, y)
    log_loss, ece = by_hand(given.Y, np.array(found), np.ones((N, K), bool))
    assert result["river"].metrics["log_loss"] == pytest.approx(log_loss, rel=1e-9)
    assert result["river"].metrics["ece"] == pytest.approx(ece, rel=1e-9)


def test_compare_has_them_in_every_form() -> None:
    models = {"ranker": ranker, "counts": lambda seed: DecayedCounts(K)}
    result = evaluate.compare(models, data(), seeds=(0, 1))
    of_ranks = ["rank_loss", "precision@1", "precision@3"]
    runs = result.runs["ranker", "shuffled"]
    assert [*runs[0].metrics] == [*of_ranks, "micro_f1", "macro_f1", "log_loss", "ece"]
    mean = np.mean([run.metrics["log_loss"] for run in runs])
    assert result.mean("ranker", "shuffled", "log_loss") == pytest.approx(mean)
    assert np.isnan(result.mean("counts", "file", "ece"))
    for text in (result.table(), result.markdown(), result.latex()):
        for metric in ("rank_loss", "precision@3", "micro_f1", "macro_f1", "log_loss"):
            assert f"{result.mean('ranker', 'file', metric):.4f}" in text
    assert result.frame()["log_loss"].isna().sum() == 4
    of_model = {(one["model"], one["order"]): one["mean"] for one in result.to_dict()["results"]}
    assert of_model["ranker", "file"]["ece"] == result.mean("ranker", "file", "ece")
    assert "ece" not in of_model["counts", "file"]


def test_they_may_be_named_among_the_metrics() -> None:
    named = evaluate.train_then_test(ranker(), data(), metrics=["ece", "one_error"])
    of_probabilities = ["micro_f1", "macro_f1", "log_loss", "ece"]
    assert list(named.metrics) == ["rank_loss", "one_error", *of_probabilities]


def f1_by_hand(Y: Any, P: Any, known: Any) -> tuple[float, float, Any]:
    """Online F-measure optimisation (Busa-Fekete et al., 2015), label by label in plain loops."""
    right = named = relevant = 0
    own = np.zeros((K, 3), int)
    of_label = np.zeros((K, 3), int)
    for truth, p, is_known in zip(Y, P, known, strict=True):
        threshold = (right + 1) / (named + relevant + 3)
        for j in range(K):
            if not is_known[j]:
                continue
            least = (own[j, 0] + 2 * threshold) / (own[j, 1] + own[j, 2] + 2)
            own[j] += [truth[j] and p[j] > least, p[j] > least, truth[j]]
            of_label[j] += [truth[j] and p[j] > threshold, p[j] > threshold, truth[j]]
        right, named, relevant = (int(one) for one in of_label.sum(axis=0))
    macro = np.mean(2 * own[:, 0] / np.maximum(own[:, 1] + own[:, 2], 1))
    return 2 * right / (named + relevant), float(macro), of_label


@pytest.mark.parametrize("unknown", [False, True])
def test_f1_is_that_of_the_label_sets_that_probabilities_lead_to(unknown: bool) -> None:
    given = data(unknown)
    run = evaluate.train_then_test(ranker(), given)
    P = one_by_one(ranker(), given)
    known = np.ones((N, K), bool) if given.unknown is None else ~given.unknown
    micro, macro, counts = f1_by_hand(given.Y[N_TRAIN:], P, known[N_TRAIN:])
    assert run.metrics["micro_f1"] == pytest.approx(micro)
    assert run.metrics["macro_f1"] == pytest.approx(macro)
    for row, (right, named, relevant) in zip(run.by_label(), counts.tolist(), strict=True):
        assert (row["relevant"], row["named"]) == (relevant, named)
        assert row["precision"] == pytest.approx(right / named)
        assert row["recall"] == pytest.approx(right / relevant)
        assert row["f1"] == pytest.approx(2 * right / (named + relevant))
    assert evaluate.train_then_test(DecayedCounts(K), given).by_label() == []


def test_f1_is_about_that_of_predict() -> None:
    given = data()
    model = ranker()
    run = evaluate.train_then_test(model, given, freeze=True)
    found = bl.metrics.F1(K).update(given.Y[N_TRAIN:], model.predict(given.X[N_TRAIN:])).micro
    assert run.metrics["micro_f1"] == pytest.approx(found, abs=0.02)
