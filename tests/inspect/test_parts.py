"""Why, in features and in rows of the past: sums that are exact, and score differences by brute force."""

import numpy as np
import pytest
import scipy.sparse as sp

import boostline as bl
from boostline.inspect import explain
from boostline.learners import (
    Centroids,
    Committee,
    Kernel,
    Linear,
    Neighbours,
    Ridge,
    SlidingWindow,
    SparseLinear,
    SparseRanker,
    Tracker,
)

K = 5


def table(n=200, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 10, size=d)
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 5] *= rng.random(n) < 0.3  # mostly zero
    Y = np.nan_to_num(X[:, :K]) / 3 + rng.normal(size=(n, K)) > 0.5
    return X, Y


def words(n=200, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.03, format="csr", random_state=rng)
    Y = (X @ rng.normal(size=(d, K))) > 0.3
    return X, Y


def ranked(data):
    """Rows with a pair to rank: others are not learned, and so not counted."""
    X, Y = data()
    kept = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
    return X[kept], Y[kept]


def as_votes(kind, model, raw):
    """From the scores of all labels to votes, in the words of the learners' descriptions."""
    if kind in ("ridge", "kernel"):
        votes = (raw + np.sqrt(raw**2 + 0.003**2)) / 2 + 1e-9
    elif kind == "sparse_linear":
        arrays = model.state()["arrays"]
        p = 1 / (1 + np.exp(-8.0 * raw))
        share = arrays["learners.0.counts"] / arrays["learners.0.total"]
        votes = p * p / (p + 1e-3) + 3e-3 * share + 1e-6
    elif kind == "sparse_ranker":  # the logarithm, up to a constant
        raw = np.exp(raw - raw.max())
        votes = raw + 1e-6
    elif kind == "centroids":
        votes = np.exp(10.0 * raw)
    elif kind in ("linear", "tracker"):
        votes = 1 / (1 + np.exp(-raw)) + 1e-6
    else:
        votes = raw + 1e-6
    return votes / votes.sum()


@pytest.mark.parametrize("data", [table, words])
@pytest.mark.parametrize(
    "learner", [SparseLinear(), SparseRanker(), Centroids(), Linear(), Ridge(), Tracker()]
)
def test_parts_of_a_linear_model_sum_to_its_score(learner, data):
    X, Y = data()
    model = bl.LabelRanker(K, learners=[learner])
    model.learn(X[:150], Y[:150])
    for x in (X[150], X[160], X[3]):
        raw = np.empty(K)
        for label in range(K):
            (parts,) = explain(model, x, label).linear
            raw[label] = parts.score
        votes = as_votes(learner.kind, model, raw)
        np.testing.assert_allclose(votes, model.votes(x).reshape(-1, K)[0], rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize("n", [30, 95, 140])
def test_of_a_sliding_window_the_serving_one_is_explained(n):
    X, Y = ranked(table)
    model = bl.LabelRanker(K, learners=[Committee([Ridge(), SlidingWindow(Linear(), length=40)])])
    model.learn(X[:n], Y[:n])
    raw = np.empty(K)
    for label in range(K):
        of_ridge, of_recent = explain(model, X[150], label).linear
        assert (of_ridge.vote, of_recent.vote) == (0, 1)
        raw[label] = of_recent.score
    votes = as_votes("linear", model, raw)
    np.testing.assert_allclose(votes, model.votes(X[150])[1], rtol=2e-4, atol=1e-7)


@pytest.mark.parametrize("n", [150, 20])
@pytest.mark.parametrize("data", [table, words])
@pytest.mark.parametrize(
    "learner",
    [
        Kernel(n_landmarks=64),
        Neighbours(n_neighbours=5, memory=50),
        SparseRanker(memory=50),
        SlidingWindow(Kernel(n_landmarks=64), length=60),
    ],
)
def test_parts_of_past_rows_sum_to_the_score(learner, data, n):
    X, Y = data()
    model = bl.LabelRanker(K, learners=[learner])
    model.learn(X[:n], Y[:n])
    x = X[160] if data is table else X[160].toarray().ravel()
    kind = getattr(learner, "of", learner).kind
    found = [one for label in range(K) for one in model.evidence(x, label)[1]]
    if not found:  # a kernel of fewer than 32 rows is the mean of the labels
        assert (kind, n) == ("kernel", 20)
        return
    raw = np.array([parts.score for parts in found])
    votes = as_votes(kind, model, raw)
    np.testing.assert_allclose(votes, model.votes(x)[0], rtol=1e-5, atol=1e-7)
    assert 1 <= found[0].index.min() <= found[0].index.max() <= n


def test_the_nearest_neighbour_is_the_row_itself():
    X, Y = ranked(table)
    model = bl.LabelRanker(K, learners=[Neighbours(n_neighbours=5)])
    model.learn(X[:120], Y[:120])
    label = int(np.flatnonzero(Y[100])[0])
    assert explain(model, X[100], label).rows[0].row == 101


def test_past_rows_of_sparse_linear_are_products_with_their_dual_variables():
    X, Y = ranked(words)
    model = bl.LabelRanker(K, learners=[SparseLinear(memory=500)])
    model.learn(X[:150], Y[:150])
    x = X[[160]].toarray().ravel()
    (linear,), (parts,) = model.evidence(x, 2)
    # Nothing has left the memory: what the rows do not account for is the bias.
    assert parts.rest == pytest.approx(linear.rest, abs=1e-5)
    signs = np.where(Y[parts.index - 1, 2], 1, -1)
    products = np.log1p(X[:150].toarray())[parts.index - 1] @ np.log1p(x)
    assert (np.sign(parts.parts) * signs * np.sign(products) >= 0).all()


def without_linear_members():
    return bl.LabelRanker(K, learners=[Kernel(n_landmarks=64), Neighbours()])


@pytest.mark.parametrize("data", [table, words])
def test_without_linear_members_parts_are_shares_of_the_differences_of_scores(data):
    X, Y = data()
    model = without_linear_members()
    model.learn(X[:150], Y[:150])
    x = X[160] if data is table else X[[160]].toarray().ravel()
    why = explain(model, X[160], 3)
    present = ~np.isnan(x) if data is table else x != 0
    assert sorted(part.feature for part in why.features) == np.flatnonzero(present).tolist()
    differences = {}
    for feature in np.flatnonzero(present):
        without = x.copy()
        without[feature] = np.nan if data is table else 0.0
        differences[feature] = model.score(x)[3] - model.score(without)[3]
    total = sum(map(abs, differences.values()))
    for part in why.features:
        assert part.part == pytest.approx(differences[part.feature] / total, abs=1e-9)
        assert part.value == x[part.feature]


def test_parts_are_the_weighted_shares_of_the_linear_members():
    X, Y = table()
    model = bl.LabelRanker(K, learners=[Committee([Linear(), Ridge(), Kernel(n_landmarks=64)])])
    model.learn(X[:150], Y[:150])
    why = explain(model, X[160], 1)
    weights = model.learner_weights
    for part in why.features:
        own = [
            (
                weights[p.vote],
                float(p.parts[p.index == part.feature].sum() / np.abs(p.parts).sum()),
            )
            for p in why.linear
        ]
        expected = sum(w * share for w, share in own) / sum(w for w, _ in own)
        assert part.part == pytest.approx(expected)
    assert [p.vote for p in why.linear] == [0, 1]
    sizes = [abs(part.part) for part in why.features]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("data", [table, words])
@pytest.mark.parametrize("make", [lambda: bl.LabelRanker(K), without_linear_members])
def test_parts_are_never_above_the_whole(data, make):
    X, Y = data()
    model = make()
    model.learn(X[:150], Y[:150])
    for i in (150, 170, 190):
        why = explain(model, X[i], 2)
        for parts in (why.features, why.rows):
            assert parts
            assert sum(abs(part.part) for part in parts) <= 1 + 1e-12


# Categories are explained by what the row has.


def flats(names=("rooms", "furnished=yes", "furnished=no", "city=Rome"), seed=0):
    rng = np.random.default_rng(seed)
    X = np.zeros((300, len(names)))
    X[:, 0] = rng.integers(1, 6, 300)
    chosen = rng.integers(0, 2, 300)
    X[np.arange(300), 1 + chosen] = 1.0
    X[:, 3] = rng.random(300) < 0.5
    Y = np.stack([X[:, 1] == 1, X[:, 2] == 1, X[:, 3] == 1, X[:, 3] == 0], axis=1)
    return X, Y, list(names)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("learners", ["auto", [Kernel(n_landmarks=64)]])
def test_a_category_is_named_by_what_the_row_has(is_sparse, learners):
    X, Y, names = flats()
    model = bl.LabelRanker(4, learners=learners)
    model.features = names
    model.learn(X, Y)
    x = np.array([3.0, 0.0, 1.0, 0.0])
    row = sp.csr_array(x[None]) if is_sparse else x
    why = explain(model, row, 1)
    best = why.features[0]
    assert (best.name, best.value, str(best)) == ("furnished=no", None, "furnished=no")
    assert best.part > 0
    named = {part.name for part in why.features}
    # Of a sparse row only what is stored counts.
    assert named == {"rooms", "furnished=no"} | (set() if is_sparse else {"not city=Rome"})
    assert "rooms = 3" in map(str, why.features)
    if not is_sparse:
        assert explain(model, row, 3).features[0].name == "not city=Rome"


def test_a_category_that_is_missing_or_unknown_is_not_given_a_value():
    X, Y, names = flats()
    model = bl.LabelRanker(4)
    model.learn(X, Y)
    named = {p.name for p in explain(model, [3.0, np.nan, np.nan, 1.0], 0, names=names).features}
    assert named == {"rooms", "city=Rome"}
    named = {p.name for p in explain(model, [3.0, 0.0, 0.0, 1.0], 0, names=names).features}
    assert named == {"rooms", "another furnished", "city=Rome"}
    # Numbers whose names have an equals sign are numbers.
    named = {str(p) for p in explain(model, [3.0, 0.5, 2.0, 1.0], 0, names=names).features}
    assert named == {"rooms = 3", "furnished=yes = 0.5", "furnished=no = 2", "city=Rome"}


def test_the_feature_that_decides_comes_first():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    model = bl.LabelRanker(6)
    model.features = list("abcdef")
    model.learn(X, X > 0.5)
    for i, name in enumerate("abcdef"):
        x = np.full(6, -0.5)
        x[i] = 2.0
        assert explain(model, x, i).features[0].name == name


def test_trees_are_explained_by_removal():
    X, Y = table()
    model = bl.AdaOLMR(K, learners=bl.learners.paper_trees(3))
    model.learn(X, Y)
    why = explain(model, X[0], 0)
    assert not why.linear
    assert not why.rows
    assert why.features


def test_a_model_that_has_learned_nothing_is_explained():
    why = explain(bl.LabelRanker(K), np.zeros(3), 0)
    assert len(why.features) == 3
    assert not why.linear
