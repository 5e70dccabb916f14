"""One cap for the whole model: `LabelRanker(max_bytes=)`."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boostline as bl
from boostline.learners import (
    Centroids,
    Kernel,
    Linear,
    Recency,
    SlidingWindow,
    SparseLinear,
    paper_trees,
)
from boostline.text import TextRanker


def table(n: int, d: int, k: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, k)) > 1.0


def words(n: int, d: int, k: int, seed: int = 0, longest: int = 60) -> tuple[Any, Any]:
    """Rows of words by Zipf's law, of very different lengths, with words that were never seen before."""
    rng = np.random.default_rng(seed)
    rows = [np.unique((d ** rng.random(rng.integers(1, longest))).astype(int)) for _ in range(n)]
    starts = np.cumsum([0, *map(len, rows)])
    X = sparse.csr_array((rng.random(starts[-1]) + 0.1, np.concatenate(rows), starts), shape=(n, d))
    return X, [{int(row[0]) % k, int(row[-1]) % k} for row in rows]


def learn_within(model: Any, X: Any, Y: Any, step: int = 1) -> None:
    for at in range(0, X.shape[0], step):
        model.learn(X[at : at + step], Y[at : at + step], return_scores=False)
        assert model.memory_usage() <= model.max_bytes, f"row {at + step}"


@pytest.mark.gate
@pytest.mark.parametrize("step", [1, 64])
@pytest.mark.parametrize(
    ("d", "k", "max_bytes"),
    [(8, 4, 2_500_000), (150, 30, 12_000_000), (300, 100, 40_000_000)],
)
def test_tables_stay_within(d, k, max_bytes, step):
    model = bl.LabelRanker(k, max_bytes=max_bytes, seed=0)
    learn_within(model, *table(900, d, k), step)
    assert model.memory_usage() > max_bytes / 24  # half is for the fresh model of a trial


def test_where_there_is_enough_nothing_is_smaller():
    X, Y = table(200, 8, 4)
    whole, capped = bl.LabelRanker(4, seed=0), bl.LabelRanker(4, max_bytes=2**30, seed=0)
    np.testing.assert_array_equal(whole.learn(X, Y), capped.learn(X, Y))
    assert whole.config()["resolved"] == capped.config()["resolved"]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("d", "k", "max_bytes"),
    [
        (1000, 20, 4_000_000),
        (2**20, 50, 2_000_000),
        (2**20, 1200, 8_000_000),
        (2**20, 9000, 2**25),
    ],
)
def test_words_stay_within(d, k, max_bytes):
    model = bl.LabelRanker(k, max_bytes=max_bytes, seed=0)
    n = 1500 if k < 5000 else 250
    learn_within(model, *words(n, d, k), 1)
    assert model.memory_usage() > max_bytes / 10


@pytest.mark.parametrize(
    "learner",
    [
        SparseLinear(max_bytes=1500),
        SlidingWindow(SparseLinear(max_bytes=20_000), length=50),
        SlidingWindow(Centroids(max_bytes=10_000), length=50),
    ],
)
def test_learners_with_a_smaller_cap_of_their_own_keep_it(learner):
    model = bl.LabelRanker(6, learners=[learner, Recency()], max_bytes=2_000_000, seed=0)
    X, Y = words(200, 2**20, 6)
    learn_within(model, X, Y, 1)
    alone = bl.LabelRanker(6, learners=[learner], seed=0)
    alone.learn(X, Y)
    assert alone.memory_usage() < 300_000


def test_sliding_windows_need_twice_the_cap_of_one():
    learners = [SlidingWindow(SparseLinear(max_bytes=1_000_000), length=50)]
    with pytest.raises(
        ValueError, match=r"max_bytes is 2,000,000, but must be at least 2,\d+,\d+ "
    ):
        bl.LabelRanker(6, learners=learners, drift=None, max_bytes=2_000_000).learn([1.0], {0})


@pytest.mark.parametrize("of", [SparseLinear(), Centroids()])
def test_large_caps_in_sliding_windows_are_made_smaller(of):
    model = bl.LabelRanker(5, learners=[SlidingWindow(of, length=17)], max_bytes=100_000_000)
    rng = np.random.default_rng(0)
    for _ in range(60):
        model.learn(rng.normal(size=2), {int(rng.integers(5))})
    assert model.memory_usage() <= 100_000_000


def test_a_huge_row_is_no_exception():
    model = bl.LabelRanker(50, max_bytes=2_000_000, seed=0)
    X, Y = words(60, 2**20, 50)
    learn_within(model, X, Y, 1)
    huge = sparse.csr_array(([1.0] * 2**15, ([0] * 2**15, range(2**15))), shape=(1, 2**20))
    learn_within(model, huge, [{3}], 1)
    learn_within(model, X, Y, 1)


def test_what_it_knows_survives_a_tight_cap():
    """Words that come once, beside twenty that matter: a cap hardly costs anything."""
    rng = np.random.default_rng(0)
    n = 1200
    Z = (rng.random((n, 20)) < 0.2).astype(float)
    Y = Z @ rng.normal(size=(20, 6)) > 0.5
    noise = sparse.random_array((n, 2**20 - 20), density=3e-5, format="csr", rng=rng)
    X = sparse.csr_array(sparse.hstack([sparse.csr_array(Z), noise]))
    losses, usage = [], []
    for max_bytes in (None, 1_000_000):
        model = bl.LabelRanker(6, drift=None, max_bytes=max_bytes, seed=0)
        scores = model.learn(X, Y)
        losses.append(bl.metrics.rank_loss(Y[600:], scores[600:]))
        usage.append(model.memory_usage())
    assert usage[0] > 3_000_000 and usage[1] <= 1_000_000
    assert losses[1] < losses[0] + 0.02


@pytest.mark.gate
def test_labels_and_features_may_come():
    model = bl.LabelRanker(5, max_bytes=3_000_000, seed=0)
    d, k = 2000, 5
    for seed in range(12):
        learn_within(model, *words(60, d, k, seed), 1)
        model.add_labels(20)
        assert model.memory_usage() <= model.max_bytes
        model.add_features(500, past_values="zero")
        assert model.memory_usage() <= model.max_bytes
        d, k = d + 500, k + 20
    assert model.config()["resolved"][0]["members"][0]["max_bytes"] < 3_000_000
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"max_bytes is 3,000,000, but must be about [\d,]+ for a"):
        model.add_labels(100_000)
    assert pickle.dumps(model) == before
    learn_within(model, *words(60, d, k, 99), 1)


@pytest.mark.gate
def test_saved_and_loaded_it_goes_on_as_if_nothing_had_happened(tmp_path):
    X, Y = words(500, 2**20, 300)
    whole = bl.LabelRanker(300, max_bytes=2_000_000, seed=0)
    whole.learn(X[:400], Y[:400])
    whole.save(tmp_path / "model.bl")
    others = [bl.load(tmp_path / "model.bl"), pickle.loads(pickle.dumps(whole))]
    expected = [whole.learn(X[i : i + 1], Y[i : i + 1]) for i in range(400, 500)]
    for model in others:
        assert model.max_bytes == 2_000_000
        got = model.learn(X[400:], Y[400:])
        assert model.memory_usage() <= 2_000_000
        np.testing.assert_array_equal(got, np.concatenate(expected))


@pytest.mark.parametrize(("k", "d"), [(4, 8), (50, 2**20), (100, 450)])
def test_too_small_a_cap_is_refused_and_what_is_named_instead_will_do(k, d):
    x = sparse.csr_array(([1.0], ([0], [3])), shape=(1, d))
    model = bl.LabelRanker(k, max_bytes=10_000)
    with pytest.raises(ValueError, match="max_bytes is 10,000, but must be at least") as error:
        model.learn(x, [{1}])
    enough = int(str(error.value).split("at least ")[1].split()[0].replace(",", ""))
    model = bl.LabelRanker(k, max_bytes=enough)
    model.learn(x, [{1}])
    assert model.memory_usage() <= enough
    with pytest.raises(ValueError, match="max_bytes is 0, but must be"):
        bl.LabelRanker(k, max_bytes=0)


def test_own_learners_have_shares_too():
    X, Y = table(400, 6, 3)
    learners = [Recency(), paper_trees(4), Kernel(64)]
    model = bl.LabelRanker(3, learners=learners, max_bytes=2_000_000, seed=0)
    learn_within(model, X, Y, 50)
    trees = [c for c in model.config()["resolved"] if c["kind"] == "hoeffding_tree"]
    assert len({tree["max_bytes"] for tree in trees}) == 1
    two = bl.LabelRanker(3, learners=[SparseLinear(), Centroids()], max_bytes=2_000_000, seed=0)
    two.learn(X, Y)
    shares = [c["max_bytes"] for c in two.config()["resolved"]]
    assert abs(shares[0] - 3 * shares[1]) < 3
    few = bl.LabelRanker(3, learners=[Linear()], max_bytes=300_000, seed=0)
    few.learn(X, Y)
    assert few.config()["resolved"][0]["memory"] < 4000


def test_texts_with_tags_that_come():
    tagger = TextRanker(max_bytes=20_000_000)
    for i in range(300):
        tagger.learn(f"word{i} and word{i // 2} of subject{i % 40}", {f"tag{i % 40}"})
        assert tagger.memory_usage() <= 20_000_000
    assert tagger.rank("subject7", top=1) == ["tag7"]


def test_adapters_hand_it_on():
    pytest.importorskip("sklearn")
    pytest.importorskip("river")
    from boostline import river, sklearn

    X, Y = table(100, 5, 3)
    model = sklearn.LabelRankerClassifier(max_bytes=3_000_000).fit(X, Y)
    booster: Any = model.booster_
    assert booster.memory_usage() <= booster.max_bytes == 3_000_000
    online = river.LabelRankerClassifier(max_bytes=3_000_000)
    online.learn_one({"a": 1.0, "b": 2.0}, {"p": True, "q": False})
    booster = online.booster
    assert booster.memory_usage() <= booster.max_bytes == 3_000_000


def test_a_file_whose_learners_are_larger_than_its_cap_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    model = bl.LabelRanker(4, max_bytes=2**23)
    model.learn(X, X[:, :4] > 0)
    config = model.config()
    config["settings"]["max_bytes"] = 2**16
    with pytest.raises(ValueError, match="max_bytes is 65,536, but must be about"):
        bl.LabelRanker.from_config(config)
