"""One order: `rank`, `score`, `probabilities` and `predict` agree on every row, in every model."""

import numpy as np
import pytest
from model_zoo import K, each_model, rows

import boostline as bl
from boostline.text import TextRanker

AIMS = ("micro-f1", "macro-f1", 0.02, 0.3, 0.7)


def assert_one_order(model, X, scores, likely, names):
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = model.rank(X)
    assert [list(row) for row in ranked] == [[names[i] for i in row] for row in order]
    along = np.take_along_axis(likely, order, axis=1)
    assert (np.diff(along, axis=1) <= 0).all()
    pairs = model.rank(X, with_probabilities=True)
    assert [[label for label, _ in row] for row in pairs] == [list(row) for row in ranked]
    assert [[p for _, p in row] for row in pairs] == along.tolist()
    for aim in AIMS:
        named = model.predict(X, optimize=aim)
        if isinstance(named, np.ndarray):  # indicators
            named = [
                [names[i] for i in best if row[i]] for row, best in zip(named, order, strict=True)
            ]
        cut = model.rank(X, threshold=aim)
        assert cut == named
        for row, first, p in zip(cut, ranked, along, strict=True):
            assert row == list(first[: len(row)])
            if isinstance(aim, float):
                assert len(row) == (p > aim).sum()
        assert model.rank(X, top=2, threshold=aim) == [row[:2] for row in cut]
    assert [list(row) for row in model.rank(X, top=2)] == [list(row[:2]) for row in ranked]
    one = model.rank(X[0], threshold=0.3, with_probabilities=True)
    assert one == model.rank(X, threshold=0.3, with_probabilities=True)[0]


@each_model
def test_rank_probabilities_and_predict_agree(kind):
    """With few rows and many, on rows of several kinds, and with labels that no row had."""
    for seed in range(4):
        X, Y = rows(60, seed=seed)
        new = rows(40, seed=seed + 100)[0]
        model = kind.make()
        for n in (0, 5, 60):
            model.learn(X[:n], Y[:n])
            scores, likely = model.scores_and_probabilities(new)
            assert_one_order(model, new, scores, likely, range(K))
    model.add_labels(3)
    scores, likely = model.scores_and_probabilities(new)
    assert_one_order(model, new, scores, likely, range(K + 3))


@pytest.mark.parametrize("seed", range(20))
def test_on_random_sets_with_scores_close_together(seed):
    """Features a millionth apart, so that scores differ by little more than rounding."""
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(3, 400)), int(rng.integers(2, 8))
    labels = [f"label {i}" for i in range(k)]
    X = rng.normal(size=(60, d)) * rng.choice([1e-6, 1.0, 1e6])
    Y = X @ rng.normal(size=(d, k)) > np.quantile(X, 0.9)
    make = (bl.LabelRanker, bl.AdaOLMR)[seed % 2]
    model = make(labels=labels, learners=[bl.learners.Linear(), bl.learners.Neighbours()], seed=0)
    model.learn(X, Y)
    new = X[:1] * (1 + 1e-6 * rng.normal(size=(30, d)))
    scores, likely = model.scores_and_probabilities(new)
    assert_one_order(model, new, scores, likely, labels)


@pytest.mark.parametrize("seed", range(20))
def test_on_random_texts(seed):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(200)])
    topics = [rng.choice(words, 12) for _ in range(15)]

    def some(n):
        tags = [set(rng.choice(15, rng.integers(1, 4))) for _ in range(n)]
        texts = [" ".join(w for t in row for w in rng.choice(topics[t], 5)) for row in tags]
        return texts, [{f"tag {t}" for t in row} for row in tags]

    model = TextRanker()
    model.learn(*some(80))
    texts = [*some(30)[0], "unheard of", ""]
    scores, likely = model.scores_and_probabilities(texts)
    assert_one_order(model, texts, scores, likely, model.labels)
