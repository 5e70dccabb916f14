"""Test-then-learn on a stream: every label set is learned when it arrives, never before."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from boostline import metrics
from boostline.evaluate import prequential
from boostline.evaluate.baselines import DecayedCounts


def by_hand(model, X, Y, delays):
    """Scores of all examples when each label set is learned at its own time, one at a time."""
    scores, learned = [], []
    for now, x in enumerate(X):
        scores.append(np.array(model.score(x)))
        for i in range(now + 1):  # in the order of the examples
            if i + delays[i] == now:
                model.learn(X[i], Y[i])
                learned.append(i)
    rest = sorted((i + delays[i], i) for i in range(len(X)) if i not in learned)
    for _, i in rest:
        model.learn(X[i], Y[i])
    return np.array(scores)


def stream_of(data):
    return list(zip(data.X, data.Y, strict=True))


@pytest.mark.parametrize("block", [1, 10, 256])
def test_no_delay_equals_the_loop_by_hand(data, logistic, block):
    oracle, model = logistic(), logistic()
    S = by_hand(oracle, data.X, data.Y, [0] * len(data.X))
    result = prequential(model, stream_of(data), ["average_precision"], block=block)
    run = result["OnlineLogistic"]
    assert run.rank_loss == pytest.approx(metrics.rank_loss(data.Y, S))
    expected = metrics.average_precision(data.Y, S)
    assert run.metrics["average_precision"] == pytest.approx(expected)
    np.testing.assert_array_equal(model.weights, oracle.weights)
    assert (result.n, result.n_pending, result.stopped) == (240, 0, False)
    # Block learning does the whole work: no call of score, few calls of learn.
    assert {name for name, _ in model.calls} == {"learn"}
    assert len(model.calls) == -(-240 // block)


@pytest.mark.parametrize("delay", [1, 5, 1000])
def test_constant_delay(data, logistic, delay):
    oracle, model = logistic(), logistic()
    S = by_hand(oracle, data.X, data.Y, [delay] * 240)
    result = prequential(model, stream_of(data), delay=delay)
    assert result["OnlineLogistic"].rank_loss == pytest.approx(metrics.rank_loss(data.Y, S))
    np.testing.assert_array_equal(model.weights, oracle.weights)
    assert result.max_pending == min(delay + 1, 240)
    assert result["OnlineLogistic"].n_learned == 240


def test_every_way_to_give_delays(data, logistic):
    rng = np.random.default_rng(5)
    delays = rng.integers(0, 40, 240)
    oracle = logistic()
    want = metrics.rank_loss(data.Y, by_hand(oracle, data.X, data.Y, delays))
    plain = stream_of(data)
    triples = [(x, y, d) for (x, y), d in zip(plain, delays, strict=True)]
    dicts = [{"x": x, "relevant": y, "t_delay": d} for x, y, d in triples]
    blocks = [
        {"x": data.X[i : i + 50], "relevant": data.Y[i : i + 50], "t_delay": delays[i : i + 50]}
        for i in range(0, 240, 50)
    ]
    ways = [
        (plain, delays),
        (plain, delays.tolist()),
        (plain, iter(delays.tolist())),
        (plain, lambda i: delays[i]),
        (triples, "t_delay"),
        (dicts, "t_delay"),
        (blocks, "t_delay"),
        (data, delays),
        ([(data.X, data.Y)], delays),
    ]
    for stream, delay in ways:
        model = logistic()
        assert prequential(model, stream, delay=delay)["OnlineLogistic"].rank_loss == want
        np.testing.assert_array_equal(model.weights, oracle.weights)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(1, 6))
def test_labels_arrive_in_the_right_order(delays, block):
    """Record what is learned between which predictions, for any delays."""

    class Diary:
        n_labels = 2

        def __init__(self):
            self.entries = []

        def score(self, x):
            self.entries += [("score", int(row[0])) for row in np.atleast_2d(x)]
            return np.zeros((len(x), 2)) if np.ndim(x) == 2 else np.zeros(2)

        def learn(self, x, relevant):
            self.entries += [("learn", int(row[0])) for row in np.atleast_2d(x)]
            return np.zeros((len(x), 2)) if np.ndim(x) == 2 else np.zeros(2)

    stream = [(np.array([i]), {i % 2}) for i in range(len(delays))]
    got, want = Diary(), Diary()
    result = prequential(got, stream, delay=delays, block=block)
    by_hand(want, np.arange(len(delays))[:, None], [{0}] * len(delays), delays)
    assert got.entries == want.entries
    assert result.n_pending == 0


def test_bursts_are_scored_and_learned_in_blocks(data, logistic):
    """Labels that arrive every 40 examples, all at once: six blocks of each."""
    model = logistic()
    prequential(model, stream_of(data), delay=lambda i: 39 - i % 40)
    assert model.calls == [("score", 40), ("learn", 40)] * 6


def test_models_side_by_side_are_as_alone(data, logistic):
    for delay in (0, 7):
        both = prequential(
            {"logistic": logistic(), "counts": DecayedCounts(5)},
            iter(stream_of(data)),  # can be read only once
            delay=delay,
        )
        alone = prequential(logistic(), stream_of(data), delay=delay)["OnlineLogistic"]
        counts = prequential(DecayedCounts(5), stream_of(data), delay=delay)["DecayedCounts"]
        assert both["logistic"].metrics == alone.metrics
        assert both["counts"].metrics == counts.metrics
        assert both.n_without_pairs == int((data.Y.all(axis=1) | ~data.Y.any(axis=1)).sum())


def test_every_kind_of_stream_gives_the_same(data, logistic):
    want = prequential(logistic(), stream_of(data))["OnlineLogistic"].metrics
    sets = [set(np.flatnonzero(y).tolist()) for y in data.Y]
    streams = {
        "generator": (pair for pair in stream_of(data)),
        "label sets": list(zip(data.X, sets, strict=True)),
        "lists": [(x.tolist(), y.tolist()) for x, y in stream_of(data)],
        "dicts": [{"x": x, "relevant": y} for x, y in stream_of(data)],
        "blocks": [(data.X[:100], data.Y[:100]), (data.X[100:], sets[100:])],
        "mixed": [*stream_of(data)[:30], (data.X[30:], data.Y[30:])],
        "data set": data,
    }
    for name, stream in streams.items():
        got = prequential(logistic(), stream)["OnlineLogistic"].metrics
        assert got == want, name


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("delay", [0, 3])
def test_sparse_streams(data, logistic, kind, delay):
    want = prequential(logistic(), stream_of(data), delay=delay)["OnlineLogistic"].rank_loss
    X = kind(data.X)
    rows = [(X[i : i + 1], data.Y[i]) for i in range(240)]
    one_row_blocks = [(X[i : i + 1], data.Y[i : i + 1]) for i in range(240)]
    whole = [(X, kind(data.Y))]
    for stream in (rows, one_row_blocks, whole):
        got = prequential(logistic(), stream, delay=delay)["OnlineLogistic"].rank_loss
        assert got == pytest.approx(want, abs=1e-12)


def test_dict_features():
    class OnDicts(DecayedCounts):
        def learn(self, x, relevant, weight=1.0, unknown=None):
            assert isinstance(x, dict)
            return super().learn(x, relevant, weight, unknown)

    stream = [({"word": float(i)}, {i // 50}) for i in range(150)]
    for delay, want in ((0, 0.015), (10, 0.165)):  # by hand, see the docstring of prequential
        got = prequential(OnDicts(3), stream, delay=delay)["OnDicts"].rank_loss
        assert got == pytest.approx(want)


@pytest.mark.parametrize("delay", [0, 4])
def test_a_stream_may_reuse_its_arrays(data, logistic, delay):
    def reusing():
        x, y = np.empty(8), np.empty(5, dtype=bool)
        for row, relevant in stream_of(data):
            x[:], y[:] = row, relevant
            yield x, y

    want = prequential(logistic(), stream_of(data), delay=delay)["OnlineLogistic"].metrics
    assert prequential(logistic(), reusing(), delay=delay)["OnlineLogistic"].metrics == want


def test_a_model_may_reuse_its_scores(data):
    class Reusing(DecayedCounts):
        out = np.zeros(5)

        def score(self, x):
            self.out[:] = self.counts
            return self.out

        def learn(self, x, relevant, weight=1.0, unknown=None):
            self.out[:] = super().learn(x, relevant, weight, unknown)
            return self.out

    for delay in (0, 2):
        want = prequential(DecayedCounts(5), stream_of(data), delay=delay)["DecayedCounts"]
        got = prequential(Reusing(5), stream_of(data), delay=delay, block=1)["Reusing"]
        assert got.metrics == want.metrics


def test_labels_by_name():
    names = ["sea", "sky", "sun"]
    stream = [([0.0], {names[i // 50]}) for i in range(150)]
    result = prequential(DecayedCounts(labels=names), stream)
    assert result["DecayedCounts"].rank_loss == pytest.approx(0.015)


def test_unknown_labels_take_part_in_no_pair(data, logistic):
    rng = np.random.default_rng(2)
    unknown = rng.random(data.Y.shape) < 0.4
    Y = data.Y & ~unknown
    told = [
        {"x": x, "relevant": y, "unknown": m} for x, y, m in zip(data.X, Y, unknown, strict=True)
    ]
    nan = list(zip(data.X, np.where(unknown, np.nan, Y), strict=True))
    sets = [
        {"x": x, "relevant": set(np.flatnonzero(y).tolist()), "unknown": np.flatnonzero(m).tolist()}
        for x, y, m in zip(data.X, Y, unknown, strict=True)
    ]
    S, model = [], logistic()
    for x, y, m in zip(data.X, Y, unknown, strict=True):
        S.append(model.learn(x, y, unknown=m))
    want = metrics.rank_loss(Y, np.array(S), unknown=unknown)
    for stream in (told, nan, sets):
        for block in (1, 64):
            run = prequential(logistic(), stream, block=block)["OnlineLogistic"]
            assert run.rank_loss == pytest.approx(want)
    # Examples with everything known may stand between them.
    mixed = [*told[:50], *stream_of(data)[50:]]
    later = prequential(logistic(), mixed, delay=2)["OnlineLogistic"]
    assert later.n == 240


def test_a_model_that_takes_no_unknown_labels_is_named():
    class Neither(DecayedCounts):
        def learn(self, x, relevant):
            return np.zeros(3)

    stream = [{"x": [0.0], "relevant": {0}, "unknown": {2}}]
    with pytest.raises(TypeError, match=r"learn\(\) of model 'Neither' has no argument unknown"):
        prequential(Neither(3), stream)


def test_curves(make, logistic):
    data = make(n=3000)
    result = prequential(logistic(), data, window=100)
    S = by_hand(logistic(), data.X, data.Y, [0] * 3000)
    values = metrics.RankLoss().rows(data.Y, S)
    curve = result["OnlineLogistic"].curve
    assert result.window == curve.window == 100
    assert 400 < len(curve) < 1001  # bounded however long the stream
    assert curve.n[-1] == 3000
    for n, cumulative, windowed in zip(curve.n, curve.cumulative, curve.windowed, strict=True):
        assert cumulative == pytest.approx(values[:n].mean())
        assert windowed == pytest.approx(values[max(0, n - 100) : n].mean())


def test_table_dict_and_picture(data, logistic, tmp_path):
    result = prequential(
        {"logistic": logistic(), "counts": DecayedCounts(5)}, data, ["one_error", "precision@3"]
    )
    header, _, first, second, note = result.table().splitlines()
    assert header.split()[:6] == ["model", "rank", "loss", "one", "error", "P@3"]
    assert first.split()[:2] == ["logistic", f"{result['logistic'].rank_loss:.4f}"]
    assert second.split()[0] == "counts"
    assert note.startswith(f"{result.n_without_pairs} of 240 rows have no relevant label")
    told = json.loads(json.dumps(result.to_dict()))
    assert told["models"]["counts"]["metrics"] == result["counts"].metrics
    assert told["n"] == 240
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        path = tmp_path / f"curves.{ending}"
        result.plot(path, title="linear data")
        assert path.read_bytes().startswith(start)
    text = (tmp_path / "curves.svg").read_text()
    assert "#0072b2" in text
    assert "#d55e00" in text


def test_an_empty_stream(tmp_path):
    result = prequential(DecayedCounts(3), [])
    assert result.n == 0
    assert np.isnan(result["DecayedCounts"].rank_loss)
    assert result.to_dict()["models"]["DecayedCounts"]["metrics"]["rank_loss"] is None
    assert " – " in result.table()  # noqa: RUF001
    result.plot(tmp_path / "nothing.png")


@pytest.mark.parametrize("delay", [0, 3, "bursts"])
def test_the_papers_booster_one_example_at_a_time(make, delay):
    """The NumPy twin of Ada.OLMR takes no blocks: `block=1` suits it, whatever the delay."""
    reference = pytest.importorskip("boostline.lab.reference")
    data = make(n=60)

    def booster():
        trees = [
            reference.HoeffdingTree(5, 5, 0.1, 0.5, 3.0, features=[i, i + 1]) for i in range(4)
        ]
        return reference.AdaOLMR(5, trees, seed=1)

    delays = [9 - i % 10 for i in range(60)] if delay == "bursts" else [delay] * 60
    S = by_hand(booster(), data.X, data.Y, delays)
    got = prequential(booster(), data, delay=delays if delay else 0, block=1)["AdaOLMR"]
    assert got.rank_loss == pytest.approx(metrics.rank_loss(data.Y, S), abs=1e-15)


# Bad input.


@pytest.mark.parametrize(
    ("stream", "keywords", "error", "message"),
    [
        (
            None,
            {"delay": -1},
            ValueError,
            "delay is -1, but must be at least 0: labels cannot arrive before",
        ),
        (None, {"delay": 1.5}, TypeError, "delay is 1.5"),
        (None, {"delay": True}, TypeError, "delay is True"),
        (None, {"delay": None}, TypeError, "delay is None"),
        (None, {"delay": [0, -2]}, ValueError, "delay of example 1 is -2"),
        (
            None,
            {"delay": [0, 1]},
            ValueError,
            "delay has 2 values, but there are more examples",
        ),
        (None, {"delay": np.zeros((2, 2), int)}, ValueError, r"delay has shape \(2, 2\)"),
        (None, {"delay": lambda i: -i}, ValueError, r"delay\(1\) is -1"),
        (None, {"delay": "late"}, TypeError, r"tuple of 2, but must be \(x, relevant, late\)"),
        (None, {"window": 0}, ValueError, "window is 0"),
        (None, {"block": -3}, ValueError, "block is -3"),
        (None, {"metrics": ["best"]}, ValueError, "metric is 'best', but must be one of"),
        ([([0.0], {5})], {}, ValueError, "relevant of example 0 has label 5, but n_labels is 5"),
        ([([0.0], {"a"})], {}, ValueError, "labels must be whole numbers between 0 and 4"),
        ([([0.0], [True])], {}, ValueError, r"relevant of example 0 is an array of shape \(1,\)"),
        ([{"x": [0.0]}], {}, ValueError, "item 0 of the stream has no 'relevant'"),
        (
            [{"x": [0.0], "relevant": {0}, "weight": 2}],
            {},
            ValueError,
            "has the key 'weight', but must have x, relevant, unknown",
        ),
        ([{"x": [0.0], "relevant": {0}}], {"delay": "late"}, ValueError, "has no 'late'"),
        ([{"x": [0.0], "relevant": {0}, "unknown": [5]}], {}, ValueError, "unknown has label 5"),
        ([7], {}, TypeError, r"item 0 of the stream is a int, but must be \(x, relevant\)"),
        (
            [(np.zeros((3, 1)), [{0}])],
            {},
            ValueError,
            "relevant has 1 label sets, but must have one for",
        ),
        ([(np.zeros((2, 1)), np.eye(2))], {}, ValueError, r"must have the shape \(2, 5\)"),
        (
            [{"x": np.zeros((2, 1)), "relevant": [{0}, {1}], "late": [1]}],
            {"delay": "late"},
            ValueError,
            "a block of 2 rows has 1 delays",
        ),
        (
            [(np.zeros(2), {0}), (np.zeros(3), {0})],
            {},
            ValueError,
            r"x is \(3,\) in example 1 of its",
        ),
    ],
)
def test_bad_input_is_named(data, stream, keywords, error, message):
    with pytest.raises(error, match=message):
        prequential(DecayedCounts(5), stream_of(data) if stream is None else stream, **keywords)


def test_models_that_do_not_fit():
    one = [([0.0], {0})]
    with pytest.raises(ValueError, match="models is empty"):
        prequential({}, one)
    with pytest.raises(TypeError, match=r"model 'a' is a int without score\(\)"):
        prequential({"a": 3}, one)
    with pytest.raises(ValueError, match="model 'b' has 3 labels, but must have 2, like model 'a'"):
        prequential({"a": DecayedCounts(2), "b": DecayedCounts(3)}, one)
    named = {"a": DecayedCounts(labels=["x", "y"]), "b": DecayedCounts(labels=["y", "x"])}
    with pytest.raises(ValueError, match="labels of model 'b' have other names"):
        prequential(named, one)
    same = DecayedCounts(2)
    with pytest.raises(ValueError, match="same model under two names"):
        prequential({"a": same, "b": same}, one)


@pytest.mark.parametrize("delay", [0, 1])
def test_nan_scores_are_named(delay):
    class Broken(DecayedCounts):
        def score(self, x):
            return super().score(x) * np.nan

        def learn(self, x, relevant, weight=1.0, unknown=None):
            return super().learn(x, relevant, weight, unknown) * np.nan

    with pytest.raises(ValueError, match="of model 'bad': scores is NaN"):
        prequential({"bad": Broken(2)}, [([0.0], {0})] * 3, delay=delay)
