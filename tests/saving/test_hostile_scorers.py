"""Forged states of the learners that score labels: refused, or harmless. The checksum is right in all of them."""

import signal
from typing import Any

import numpy as np
import pytest
from committees import committee
from forging import changed, forged, is_harmless, parts, refuse, with_odd_numbers
from forked import in_child

import boostline as bl

L = bl.learners
K, D = 3, 4
# NaN is a missing value there.
MAY_BE_MISSING = ("row_value", "landmarks.value")
# Rows learned, and learners.
MODELS = {
    "before the first fit": (20, [committee(), L.Kernel(64)]),
    "kernel before the switch": (50, [committee(), L.Kernel(64)]),
    "kernel after the switch": (80, [committee(), L.Kernel(64)]),
    "others": (60, [L.Linear(memory=30), L.Ridge(), L.Neighbours(5, 30), L.Recency(), L.Tracker()]),
    "sparse": (80, [committee(n_landmarks=40, few_features=1)]),
    "text": (
        40,
        [L.SparseLinear(memory=30, max_bytes=1000), L.SparseLinear(n_replays=0), L.Centroids(500)],
    ),
    "auto": (40, "auto"),
}


def rows(n, sparse):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n, D))
    Y = X[:, :K] > 0.3
    if sparse:
        X[rng.random(X.shape) < 0.9] = 0.0
    else:
        X[3:30:7, 1] = np.nan
    return X, Y


@pytest.fixture(scope="module", params=MODELS)
def case(request, tmp_path_factory):
    """Description, arrays, and rows to go on with."""
    n, learners = MODELS[request.param]
    X, Y = rows(n + 10, request.param == "sparse")
    model = bl.LabelRanker(K, learners=learners)
    model.learn(X[:n], Y[:n])
    path = tmp_path_factory.mktemp("scorers") / "m.blm"
    model.save(path)
    return *parts(path.read_bytes()), X[n:], Y[n:]


@pytest.fixture(autouse=True)
def no_hang():
    """A file that makes the loader or the model loop for ever fails instead."""

    def stop(number, frame):
        raise TimeoutError("a hostile file takes for ever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def of_learners(arrays):
    return {name: array for name, array in arrays.items() if name.startswith("learners.")}


def test_the_forged_file_without_malice_loads(case, tmp_path):
    metadata, arrays, X, _ = case
    (tmp_path / "m.blm").write_bytes(forged(metadata, arrays))
    assert bl.load(tmp_path / "m.blm").score(X).shape == (len(X), K)


@pytest.mark.gate
def test_every_array_is_needed(case, tmp_path):
    metadata, arrays, _, _ = case
    for name in of_learners(arrays):
        less = {key: value for key, value in arrays.items() if key != name}
        refuse(tmp_path / "m.blm", forged(metadata, less))


@pytest.mark.gate
def test_arrays_of_another_length_type_or_shape_are_refused(case, tmp_path):
    metadata, arrays, _, _ = case
    for name, array in of_learners(arrays).items():
        wider = np.float64 if array.dtype != np.float64 else np.int64
        attacks = [np.concatenate([array, array[-1:], array[-1:]]), array.reshape(1, -1)]
        attacks += [np.zeros(array.shape, wider)]
        if len(array):
            attacks += [array[:-1], array[:0]]
        else:
            attacks[0] = np.ones(7, array.dtype)
        for attack in attacks:
            refuse(tmp_path / "m.blm", forged(metadata, {**arrays, name: attack}))


@pytest.mark.gate
def test_numbers_that_are_not_finite_are_refused(case, tmp_path):
    metadata, arrays, _, _ = case
    for name, array in of_learners(arrays).items():
        if array.dtype.kind != "f" or not len(array):
            continue
        places = {0} if name.endswith("stretch") else {0, len(array) - 1}  # its second is a flag
        for value in (np.inf, -np.inf, *(() if name.endswith(MAY_BE_MISSING) else (np.nan,))):
            for place in places:
                attack = {**arrays, name: changed(array, place, value)}
                refuse(tmp_path / "m.blm", forged(metadata, attack))


ATTACKS: dict[str, list[Any]] = {
    "landmarks.index": [-1, D, 2**31 - 1],
    "landmarks.offset": [-1, 2**62],
    "landmarks.is_dense": [2, 255],
    "landmarks.width": [0.0, -1.0, 1e-7, 1e9],
    "landmarks.inverse": [-1.0],
    "n_rows": [-1, 2**62],
    "scale.n_rows": [0.5],
    "scale.n_nonzero": [-1.0, 0.0, 0.5, 1.0, 1e6],
    "scale.n_missing": [-1.0, 0.5, 1e6],
    "scale.mean": [1e200, -1e200],
    "scale.m2": [-1.0, 1e300],
    "landmarks.mean": [1e200],
    "landmarks.unit": [11.0, -1e200],
    "landmarks.value": [1e101],
    "row_value": [-1e200],
    "weights": [1e101, -1e300],
    "bias": [1e101],
    "covariance.cells": [1e101],
    "n_added": [1e300],
    "total": [-1.0],
    "row_index": [-1, D, 2**31 - 1],
    "row_length": [-1, D + 1, 2**31 - 1],
    "row_importance": [0.0, -1.0, 1.5],
    "row_targets": [3, 255],
    "point_importance": [0.0, 1.5],
    "point_targets": [3, 255],
    "points": [1e30],
    "relevant": [-1.0, 1e9],
    "is_dense": [2],
    "squares": [0.0, -1.0, 1e201],
    "stretch": [0.0, 1e200],
    "counts": [-1.0, 1e9],
    "importance": [0.0, -1.0],
    "features": [-1, D, 2**31 - 1],
    "n_weights": [-1, K + 1],
    "n_seen": [0, -1, 2**62],
    "weight_labels": [-1, K],
    "row_relevant": [-1, K],
    "row_relevant_length": [-1, K + 1],
    "row_dual_label": [-1, K],
    "row_dual": [0.0, -1.0, 1e7],
    "clock": [-1, 2**62],
}


@pytest.mark.gate
def test_numbers_out_of_range_are_refused(case, tmp_path):
    metadata, arrays, _, _ = case
    kinds = [one["kind"] for one in metadata["config"]["resolved"]]
    tried = 0
    for name, array in of_learners(arrays).items():
        for ending, values in ATTACKS.items():
            whole = name.split(".", 2)[2]
            if ".training." in name:
                continue  # it may have seen no row, and then some of these numbers are right; the old one is tried
            if not (whole == ending or whole.endswith(f".{ending}")) or not len(array):
                continue
            for value in values:
                if kinds[int(name.split(".")[1])] == "centroids" and value == 0.0:
                    continue  # a label without rows
                if array.flat[0] == value:
                    continue  # a row that was let go has no importance
                attack = {**arrays, name: changed(array, 0, value)}
                refuse(tmp_path / "m.blm", forged(metadata, attack))
                tried += 1
    assert tried >= 10


def test_another_committee_than_the_arrays_say_is_refused(case, tmp_path):
    metadata, arrays, _, _ = case
    resolved = metadata["config"]["resolved"]
    if resolved[0]["kind"] != "committee":
        pytest.skip("no committee")
    members = resolved[0]["members"]
    for attack in (
        members[:1],
        members[1:],
        [],
        [*members, members[0]],
        "kernel",
        [{"kind": "os.system"}],
        [*members[:-1], {**members[-1], "kind": "committee"}],
        *(
            [{**member, setting: value} if setting in member else member for member in members]
            for setting, value in (
                ("n_landmarks", 10**12),
                ("n_landmarks", -1),
                ("memory", 10**15),
                ("memory", 1),
                ("n_neighbours", 0),
                ("n_replays", -1),
                ("seed", -1),
                ("seed", "x"),
            )
            if any(setting in member for member in members)
        ),
    ):
        one = {**resolved[0], "members": attack}
        config = {**metadata["config"], "resolved": [one, *resolved[1:]]}
        refuse(tmp_path / "m.blm", forged({**metadata, "config": config}, arrays))


@pytest.mark.gate
def test_changed_numbers_are_refused_or_harmless(case, tmp_path):
    """Whoever forges the checksum as well may get a wrong model, but no crash, no hang and no endless loop."""
    metadata, arrays, X, Y = case
    rng = np.random.default_rng(4)
    names = sorted(name for name, array in arrays.items() if len(array))
    loaded = 0
    for _ in range(250):
        (tmp_path / "m.blm").write_bytes(forged(metadata, with_odd_numbers(arrays, names, rng)))
        loaded += is_harmless(tmp_path / "m.blm", X, Y)
    assert 20 < loaded < 240  # both happen, else the test says nothing


@pytest.mark.process
@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_a_covariance_that_cancels_to_nothing_is_begun_anew(n_features, tmp_path):
    # Found by fuzzing: with all cells alike the diagonal becomes zero, and lifting zero by a share of it has no end.
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(56, n_features)), rng.random((56, K)) < 0.4
    model = bl.OnlineBMR(K, edge=0.01, learners=[L.Ridge(forgetting=0.9)])
    model.learn(X[:16], Y[:16])  # so many that no change of the covariance is waiting
    path = tmp_path / "m.blm"
    model.save(path)
    metadata, arrays = parts(path.read_bytes())
    name = "learners.0.covariance.cells"
    path.write_bytes(forged(metadata, {**arrays, name: np.full_like(arrays[name], 2.0**53)}))

    def go_on():
        loaded = bl.load(path)
        loaded.learn(X[16:], Y[16:])
        assert np.isfinite(loaded.score(X)).all()

    in_child(go_on, 60)


def test_counts_of_a_sparse_learner_stay_such_as_can_be_saved(tmp_path):
    # Found by fuzzing: after another row they were beyond what a file may have.
    model = bl.LabelRanker(K, learners=[L.SparseLinear(n_replays=0), L.Centroids()])
    model.learn(np.ones((3, D)), [{0}, {1}, {0}])
    path = tmp_path / "m.blm"
    model.save(path)
    metadata, arrays = parts(path.read_bytes())
    of_rows = [n for n in arrays if n.startswith("learners.") and n.endswith(("n_seen", ".clock"))]
    assert len(of_rows) == 3
    path.write_bytes(forged(metadata, {**arrays, **{n: arrays[n] * 0 + 2**53 for n in of_rows}}))
    model = bl.load(path)
    model.learn(np.ones((3, D)), [{0}, {1}, {0}])
    model.save(path)
    np.testing.assert_array_equal(bl.load(path).score(np.ones(D)), model.score(np.ones(D)))


@pytest.mark.parametrize("weight", [2.0**60, -(2.0**60)])
def test_the_largest_weights_of_a_tracker_can_be_saved_again(weight, tmp_path):
    model = bl.LabelRanker(K, learners=[L.Tracker(1.0)])
    X, Y = rows(20, sparse=False)
    model.learn(X[:10], Y[:10])
    path = tmp_path / "m.blm"
    model.save(path)
    metadata, arrays = parts(path.read_bytes())
    for name in ("weights", "bias"):
        (whole,) = (n for n in arrays if n.startswith("learners.") and n.endswith(f".{name}"))
        path.write_bytes(forged(metadata, {**arrays, whole: np.full_like(arrays[whole], weight)}))
        other = bl.load(path)
        assert np.isfinite(other.learn(X[10:], Y[10:])).all()
        other.save(path)
        np.testing.assert_array_equal(bl.load(path).score(X), other.score(X))
        too_large = {**arrays, whole: np.full_like(arrays[whole], 2 * weight)}
        refuse(path, forged(metadata, too_large))
