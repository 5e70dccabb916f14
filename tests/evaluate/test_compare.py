"""Comparisons over orders and seeds."""

from __future__ import annotations

import json
import statistics

import numpy as np
import pytest

from boostline.evaluate import compare, train_then_test
from boostline.evaluate.baselines import DecayedCounts
from boostline.evaluate.curves import CurveRecorder


def test_mean_and_spread_are_those_of_the_runs(data, logistic):
    result = compare(
        {"logistic": lambda seed: logistic(), "counts": lambda seed: DecayedCounts(5)},
        data,
        seeds=[1, 2, 3],
        metrics=["coverage"],
    )
    runs = [train_then_test(logistic(), data, "shuffled", seed, "coverage") for seed in (1, 2, 3)]
    for metric in ("rank_loss", "coverage"):
        values = [run.metrics[metric] for run in runs]
        assert result.mean("logistic", "shuffled", metric) == pytest.approx(statistics.mean(values))
    header, _, *lines = result.table().splitlines()
    assert header.split()[:5] == ["model", "order", "rank", "loss", "coverage"]
    assert [line.split()[:2] for line in lines] == [
        [model, order] for order in ("file", "shuffled") for model in ("logistic", "counts")
    ]
    values = [run.rank_loss for run in runs]
    assert f"{statistics.mean(values):.4f} ± {statistics.stdev(values):.4f}" in lines[2]
    told = json.loads(json.dumps(result.to_dict()))
    assert [r["n_runs"] for r in told["results"]] == [3, 3, 3, 3]


def test_one_seed_has_no_spread(data, logistic):
    result = compare({"a": lambda seed: logistic()}, data, orders=["file"], seeds=[0])
    assert "±" not in result.table()
    assert result.to_dict()["results"][0]["n_runs"] == 1


def test_the_seed_reaches_the_model(data):
    seeds = []

    def make(seed):
        seeds.append(seed)
        return DecayedCounts(5)

    compare({"a": make}, data, seeds=[4, 9])
    assert seeds == [4, 9, 4, 9]


def test_a_stopped_run_is_left_out(data):
    class Stopping(DecayedCounts):
        def learn(self, x, relevant, weight=1.0, unknown=None):
            raise KeyboardInterrupt

    made = {0: DecayedCounts, 1: Stopping}
    result = compare({"a": lambda seed: made[seed](5)}, data, orders=["file"], seeds=[0, 1])
    assert result.stopped
    assert len(result.runs["a", "file"]) == 1


def test_bad_input_is_named(data):
    with pytest.raises(TypeError, match="each run needs a new one"):
        compare({"a": DecayedCounts(5)}, data)
    with pytest.raises(TypeError, match=r"models is .*, but must be a dict"):
        compare([], data)
    with pytest.raises(ValueError, match="orders and seeds"):
        compare({"a": lambda seed: DecayedCounts(5)}, data, seeds=[])


@pytest.mark.parametrize("points", [2, 5, 50])
def test_curves_do_not_depend_on_the_blocks(points):
    values = np.random.default_rng(0).random(1003)
    curves = []
    for cut in ([1003], [1] * 1003, [500, 3, 500]):
        recorder = CurveRecorder(window=17, points=points)
        start = 0
        for size in cut:
            recorder.extend(values[start : start + size])
            recorder.extend(values[:0])
            start += size
        curves.append(recorder.curve())
    for curve in curves:
        np.testing.assert_array_equal(curve.n, curves[0].n)
        np.testing.assert_array_equal(curve.windowed, curves[0].windowed)
        assert len(curve) <= 2 * points
        assert curve.n[-1] == 1003
    assert len(CurveRecorder(3).curve()) == 0
