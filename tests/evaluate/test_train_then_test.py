"""The paper's protocol: one pass, predict before learning, means over the test rows."""

from __future__ import annotations

import gzip
import json
import math
import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import coverage_error, label_ranking_loss

from boostline import metrics
from boostline.evaluate import compare, row_order, train_then_test
from boostline.evaluate.baselines import DecayedCounts


def by_hand(model, data, rows, freeze=False):
    """Scores of the test rows, one example at a time."""
    scores = []
    for place, i in enumerate(rows):
        if place >= data.n_train:
            scores.append(model.score(data.X[i]))
        if place < data.n_train or not freeze:
            model.learn(data.X[i], data.Y[i])
    return np.array(scores)


@pytest.mark.parametrize("block", [1, 7, 256])
@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize("order", ["file", "shuffled"])
def test_equals_the_loop_by_hand(data, logistic, block, freeze, order):
    n = len(data.X)
    rows = np.arange(n) if order == "file" else row_order(data.n_train, n, "shuffled", 3)
    S = by_hand(logistic(), data, rows, freeze)
    Y = data.Y[rows[data.n_train :]]
    run = train_then_test(
        logistic(),
        data,
        order,
        3,
        metrics=["rank_loss_full", metrics.Coverage()],
        block=block,
        freeze=freeze,
    )
    assert run.metrics["rank_loss_full"] == pytest.approx(label_ranking_loss(Y, S))
    assert run.metrics["coverage"] == pytest.approx(coverage_error(Y, S))
    assert run.rank_loss == pytest.approx(metrics.rank_loss(Y, S))
    assert run.n == len(Y)
    assert run.n_learned == (data.n_train if freeze else n)
    without = int((Y.all(axis=1) | ~Y.any(axis=1)).sum())
    assert run.n_without_pairs == without > 0
    assert (run.order, run.seed) == (order, None if order == "file" else 3)
    assert not run.stopped


def test_block_sizes_give_the_same_bits(data, logistic):
    runs = [train_then_test(logistic(), data, block=block) for block in (1, 7, 256)]
    for run in runs[1:]:
        assert run.metrics == runs[0].metrics
        np.testing.assert_array_equal(run.curve.windowed, runs[0].curve.windowed)
        np.testing.assert_array_equal(run.curve.cumulative, runs[0].curve.cumulative)


def test_freeze_leaves_the_model_as_train_left_it(data, logistic):
    frozen, trained = logistic(), logistic()
    train_then_test(frozen, data, freeze=True)
    trained.learn(data.X[: data.n_train], data.Y[: data.n_train])
    np.testing.assert_array_equal(frozen.weights, trained.weights)


def test_no_block_has_train_and_test_rows(data, logistic):
    model = logistic()
    train_then_test(model, data, block=100)
    assert model.calls == [("learn", 100), ("learn", 60), ("learn", 80)]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("block", [1, 50])
def test_sparse_rows_and_labels(data, logistic, kind, block):
    sparse = SimpleNamespace(X=kind(data.X), Y=kind(data.Y), n_train=data.n_train)
    for order in ("file", "shuffled"):
        got = train_then_test(logistic(), sparse, order, 1, block=block)
        want = train_then_test(logistic(), data, order, 1)
        assert got.rank_loss == pytest.approx(want.rank_loss, abs=1e-12)


def test_curve_is_over_the_test_rows(data, logistic):
    run = train_then_test(logistic(), data, window=20)
    S = by_hand(logistic(), data, range(len(data.X)))
    values = metrics.RankLoss().rows(data.Y[data.n_train :], S)
    assert run.curve.n.tolist() == list(range(1, 81))
    assert run.curve.window == 20
    np.testing.assert_allclose(run.curve.cumulative, np.cumsum(values) / np.arange(1, 81))
    windowed = [values[max(0, i - 19) : i + 1].mean() for i in range(80)]
    np.testing.assert_allclose(run.curve.windowed, windowed, atol=1e-14)


def test_shuffling_permutes_within_the_parts():
    rows = row_order(30, 50, "shuffled", seed=4)
    assert sorted(rows[:30]) == list(range(30))
    assert sorted(rows[30:]) == list(range(30, 50))
    assert rows.tolist() != list(range(50))
    np.testing.assert_array_equal(rows, row_order(30, 50, "shuffled", seed=4))
    assert row_order(30, 50, "file") is None


def test_shuffling_is_the_data_sets_own(data):
    bl_data = pytest.importorskip("boostline.data")
    full = bl_data.Dataset(data.X, data.Y, data.n_train)
    rows = row_order(data.n_train, len(data.X), "shuffled", 9)
    np.testing.assert_array_equal(full.shuffled(9).X, data.X[rows])


def test_a_seed_that_was_drawn_can_be_used_again(data, logistic):
    run = train_then_test(logistic(), data, "shuffled")
    again = train_then_test(logistic(), data, "shuffled", run.seed)
    assert isinstance(run.seed, int)
    assert again.metrics == run.metrics


def test_time_is_that_of_the_models_calls(data):
    class Napping(DecayedCounts):
        def learn(self, x, relevant, weight=1.0, unknown=None):
            time.sleep(0.05)
            return super().learn(x, relevant, weight, unknown)

    run = train_then_test(Napping(5), data, block=120)  # three calls: 120 and 40 of train, 80
    assert run.seconds.wall >= 0.15
    assert run.seconds.cpu < 0.1
    assert "s of CPU" in str(run.seconds)


def test_unknown_labels_reach_model_and_metrics(data, logistic):
    rng = np.random.default_rng(1)
    unknown = rng.random(data.Y.shape) < 0.3
    Y = data.Y & ~unknown
    masked = SimpleNamespace(**{**vars(data), "Y": Y}, unknown=unknown)
    run = train_then_test(logistic(), masked, block=50)
    model, S = logistic(), []
    for x, y, m in zip(data.X, Y, unknown, strict=True):
        S.append(model.learn(x, y, unknown=m))
    test = slice(data.n_train, None)
    want = metrics.rank_loss(Y[test], np.array(S)[test], unknown=unknown[test])
    assert run.rank_loss == pytest.approx(want)
    # NaN says the same.
    hidden = SimpleNamespace(**{**vars(data), "Y": np.where(unknown, np.nan, Y)})
    assert train_then_test(logistic(), hidden, block=50).metrics == run.metrics


def test_result_for_programs_and_for_people(data, logistic, tmp_path):
    run = train_then_test(logistic(), data, metrics=["ndcg@3"], name="logistic")
    told = json.loads(json.dumps(run.to_dict()))
    assert told["metrics"] == run.metrics
    assert told["seconds"].keys() == {"cpu", "wall"}
    assert told["settings"]["n_test"] == 80
    assert len(told["curves"]["ndcg@3"]["n"]) == 80
    assert "curves" not in run.to_dict(curves=False)
    header, _, line = run.table().splitlines()
    assert header.split()[:3] == ["model", "rank", "loss"]
    assert line.split()[:2] == ["logistic", f"{run.rank_loss:.4f}"]
    run.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"


def test_progress_function_hears_of_every_row(data, logistic):
    heard = []
    train_then_test(logistic(), data, block=100, progress=lambda done, total: heard.append(done))
    assert heard == [100, 160, 240]


def test_a_stopped_run_tells_what_it_has(data):
    class Stopping(DecayedCounts):
        rows = 0

        def learn(self, x, relevant, weight=1.0, unknown=None):
            self.rows += len(x)
            if self.rows > 200:
                raise KeyboardInterrupt
            return super().learn(x, relevant, weight, unknown)

    run = train_then_test(Stopping(5), data, block=20)
    assert run.stopped
    assert (run.n, run.n_learned) == (40, 200)
    stopped_in_train = train_then_test(
        Stopping(5), SimpleNamespace(**{**vars(data), "n_train": 230})
    )
    assert stopped_in_train.n == 0
    assert math.isnan(stopped_in_train.rank_loss)
    assert stopped_in_train.to_dict()["metrics"]["rank_loss"] is None


class Broken(DecayedCounts):
    """Returns something that is no scores."""

    def __init__(self, result):
        super().__init__(5)
        self.result = result

    def learn(self, x, relevant, weight=1.0, unknown=None):
        return self.result


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (None, TypeError, r"learn\(\) of model 'Broken' returned None"),
        (np.zeros((256, 4)), ValueError, r"shape \(256, 4\), but 160 rows with 5 labels"),
        (np.full((160, 5), np.nan), ValueError, r"'Broken': scores is NaN at row 0, label 0"),
        (np.zeros(5), ValueError, r"shape \(5,\)"),
    ],
)
def test_bad_scores_are_named(data, result, error, message):
    with pytest.raises(error, match=message):
        train_then_test(Broken(result), data)


@pytest.mark.parametrize(
    ("change", "keywords", "error", "message"),
    [
        ({}, {"order": "sorted"}, ValueError, "order is 'sorted'"),
        ({}, {"block": 0}, ValueError, "block is 0"),
        ({}, {"window": 1.5}, TypeError, "window is 1.5"),
        ({}, {"metrics": ["loss"]}, ValueError, "metric is 'loss', but must be one of"),
        ({}, {"metrics": [3]}, TypeError, "metrics has a int"),
        ({}, {"metrics": ["coverage", metrics.Coverage()]}, ValueError, "'coverage' twice"),
        ({"n_train": 240}, {}, ValueError, "n_train is 240"),
        ({"n_train": -1}, {}, ValueError, "n_train is -1"),
        (
            {"Y": np.zeros((3, 5))},
            {},
            ValueError,
            "data.Y has 3 rows, but must have 240, like data.X",
        ),
        ({"Y": np.full((240, 5), 2)}, {}, ValueError, "Y has the value 2"),
        (
            {"X": np.zeros(240)},
            {},
            ValueError,
            r"data\.X is a ndarray, but must be .* with two axes",
        ),
        ({"unknown": np.ones((3, 5))}, {}, ValueError, "unknown is an array of shape"),
        ({"Y": np.zeros((240, 6))}, {}, ValueError, r"data.Y is an array of shape \(240, 6\), but"),
    ],
)
def test_bad_input_is_named(data, change, keywords, error, message):
    changed = SimpleNamespace(**{**vars(data), **change})
    with pytest.raises(error, match=message):
        train_then_test(DecayedCounts(5), changed, **keywords)


def test_data_and_model_without_what_is_needed(data):
    with pytest.raises(TypeError, match="data is a list without X"):
        train_then_test(DecayedCounts(5), [])
    with pytest.raises(TypeError, match=r"is a object without score\(\)"):
        train_then_test(object(), data)


# The figures of docs/evaluation.md, "The order of the rows matters".


def read_scene():
    """Scene as X, Y, n_train: all features numeric, the last 6 columns are the labels."""
    root = os.environ.get("BOOSTLINE_DATA")
    if not root:
        pytest.skip("BOOSTLINE_DATA is not set: the scene data are needed")
    parts = []
    for part in ("train", "test"):
        with gzip.open(Path(root) / "scene" / f"scene-{part}.arff.gz", "rt") as file:
            lines = file.read().split("@data\n", 1)[1].splitlines()
        parts.append(np.loadtxt([line for line in lines if line.strip()], delimiter=","))
    rows = np.vstack(parts)
    return SimpleNamespace(X=rows[:, :-6], Y=rows[:, -6:], n_train=len(parts[0]), name="scene")


def test_decayed_counts_on_scene():
    result = compare({"counts": lambda seed: DecayedCounts(6)}, read_scene(), seeds=range(5))
    assert result.mean("counts", "file") == pytest.approx(0.0067, abs=0.00005)
    assert result.mean("counts", "shuffled") == pytest.approx(0.50, abs=0.01)
