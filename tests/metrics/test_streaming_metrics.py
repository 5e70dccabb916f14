"""Streaming metrics are the means of the batch values, over everything or over a window."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn import metrics as skm

from boostline import metrics

ALL = [
    metrics.RankLoss(),
    metrics.RankLoss(ties="full"),
    metrics.Coverage(),
    metrics.AveragePrecision(),
    metrics.OneError(),
    metrics.PrecisionAt(2),
    metrics.NDCGAt(3),
    metrics.NDCGAt(),
]
IDS = [metric.name for metric in ALL]


@pytest.fixture(scope="module")
def block():
    rng = np.random.default_rng(0)
    Y = rng.random((300, 6)) < rng.random((300, 1))
    return Y, rng.integers(0, 9, (300, 6)) / 7


@pytest.mark.parametrize("metric", ALL, ids=IDS)
def test_blocks_leave_the_bits_of_single_updates(metric, block):
    Y, S = block
    single, whole, mixed = metric.fresh(), metric.fresh(), metric.fresh()
    for y, s in zip(Y, S, strict=True):
        single.update(y, s)
    whole.update(Y, S)
    for start, stop in ((0, 1), (1, 130), (130, 130), (130, 300)):
        mixed.update(Y[start:stop], S[start:stop])
    assert single.get() == whole.get() == mixed.get()
    assert single.n == whole.n == mixed.n == 300
    expected = np.count_nonzero(Y.all(axis=1) | ~Y.any(axis=1))
    assert single.n_without_pairs == whole.n_without_pairs == mixed.n_without_pairs == expected > 0
    assert whole.get() == pytest.approx(metric.rows(Y, S).mean())


def test_mean_of_a_stream_is_scikit_learns(block):
    Y, S = block
    expected = {
        "rank_loss_full": skm.label_ranking_loss(Y, S),
        "coverage": skm.coverage_error(Y, S),
        "average_precision": skm.label_ranking_average_precision_score(Y, S),
        "ndcg@3": skm.ndcg_score(Y, S, k=3),
        "ndcg": skm.ndcg_score(Y, S),
    }
    for name, value in expected.items():
        assert metrics.from_name(name).update(Y, S).get() == pytest.approx(value)


@pytest.mark.parametrize("metric", ALL, ids=IDS)
@pytest.mark.parametrize("window", [1, 37, 300, 1000])
def test_rolling_is_the_mean_over_the_last_rows(metric, window, block):
    Y, S = block
    values = metric.rows(Y, S)
    without = Y.all(axis=1) | ~Y.any(axis=1)
    single, blocks = metrics.Rolling(metric, window), metrics.Rolling(metric, window)
    for i, (y, s) in enumerate(zip(Y, S, strict=True)):
        single.update(y, s)
        start = max(0, i + 1 - window)
        assert abs(single.get() - values[start : i + 1].mean()) < 1e-9
        assert single.n == i + 1 - start
        assert single.n_without_pairs == without[start : i + 1].sum()
    for start in range(0, 300, 77):
        blocks.update(Y[start : start + 77], S[start : start + 77])
    assert blocks.get() == single.get()
    assert blocks.n_without_pairs == single.n_without_pairs


def test_rolling_leaves_the_metric_alone_and_tells_its_name():
    inner = metrics.RankLoss().update({0}, [0.0, 1.0])
    rolling = metrics.Rolling(inner, 5)
    rolling.update({0}, [1.0, 0.0])
    assert (inner.n, inner.get()) == (1, 1.0)
    assert (rolling.n, rolling.get()) == (1, 0.0)
    assert rolling.name == "rank_loss (last 5)"
    assert rolling.unit == inner.unit


def test_nothing_seen_is_nan_and_reset_forgets():
    metric = metrics.OneError()
    assert math.isnan(metric.get())
    assert math.isnan(metrics.Rolling(metric, 3).get())
    metric.update({0}, [0.0, 1.0])
    assert metric.get() == 1.0
    assert math.isnan(metric.reset().get())
    assert metric.n == metric.n_without_pairs == 0


def test_bad_input_changes_nothing():
    metric = metrics.RankLoss().update({0}, [0.0, 1.0])
    for relevant, scores in (({2}, [0.0, 1.0]), ({0}, [math.nan, 1.0]), ([True], [0.0, 1.0])):
        with pytest.raises(ValueError, match=r"label 2|NaN|shape"):
            metric.update(relevant, scores)
    assert (metric.n, metric.get()) == (1, 1.0)


def test_unknown_labels_of_one_example():
    metric = metrics.RankLoss()
    metric.update({0}, [1.0, 2.0, 0.0], unknown={1})
    assert metric.get() == 0
    metric.update({0}, [1.0, 2.0, 0.0], unknown=[False, True, True])
    assert metric.n_without_pairs == 1


@pytest.mark.parametrize("metric", [*ALL, metrics.Rolling(metrics.RankLoss(), 7)])
def test_copies_go_on_alike(metric, block):
    Y, S = block
    metric = metric.fresh().update(Y[:100], S[:100])
    for other in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert other.update(Y[100:], S[100:]).get() == metric.fresh().update(Y, S).get()
    assert metric.n in (100, 7)


def test_metrics_share_one_sorting(block):
    Y, S = block
    shared = metrics.ranking(Y, S)
    for metric in ALL:
        together = metric.fresh()
        values = together.update_ranking(shared)
        assert together.get() == metric.fresh().update(Y, S).get()
        np.testing.assert_array_equal(values, metric.rows(Y, S))


def test_names_lead_back_to_metrics():
    for metric in ALL:
        again = metrics.from_name(metric.name)
        assert type(again) is type(metric)
        assert again.name == metric.name
    for wrong in ("ndcg@0", "precision@", "loss"):
        with pytest.raises(ValueError, match=f"metric is '{wrong}', but must be one of rank_loss"):
            metrics.from_name(wrong)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: metrics.Rolling(metrics.RankLoss(), 0), ValueError, "window is 0"),
        (lambda: metrics.Rolling(metrics.RankLoss(), 2.5), TypeError, "window is 2.5"),
        (lambda: metrics.Rolling("rank_loss", 3), TypeError, "metric is a str"),
        (
            lambda: metrics.Rolling(metrics.Rolling(metrics.RankLoss(), 3), 3),
            TypeError,
            "metric is a Rolling",
        ),
        (lambda: metrics.RankLoss(ties="no"), ValueError, "ties is 'no'"),
        (lambda: metrics.PrecisionAt(0), ValueError, "k is 0"),
        (lambda: metrics.NDCGAt(-1), ValueError, "k is -1"),
    ],
)
def test_bad_settings_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.process
def test_numpy_is_all_that_is_imported():
    code = (
        "import sys, boostline.metrics\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'river', 'matplotlib', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
