"""A checkpoint is checked before it takes the old one's place: what `save` writes, `load` reads."""

import os
import threading
from typing import Any

import numpy as np
import pytest
from faults import grant_allocations

import boostline as bl
from boostline import saving
from boostline.contract import rows
from boostline.saving import LoadError, SaveError
from boostline.saving.container import write

L = bl.learners
K, D = 3, 4
LEARNERS = {
    "trees": [L.HoeffdingTree()] * 2,
    "linear": [L.Linear()],
    "ridge": [L.Ridge()],
    "kernel": [L.Kernel(32)],
    "neighbours": [L.Neighbours()],
}


def examples(n=60):
    X = np.random.default_rng(0).normal(size=(n, D))
    return X, X[:, :K] > 0.3


@pytest.mark.parametrize("name", LEARNERS)
def test_a_state_that_no_file_can_hold_leaves_the_old_file(name, tmp_path, monkeypatch):
    """With the door open, a cell of 1e155 makes squares infinite."""
    X, Y = examples()
    model = bl.AdaOLMR(K, learners=LEARNERS[name])
    model.learn(X[:20], Y[:20])
    model.save(tmp_path / "m.blm")
    before = (tmp_path / "m.blm").read_bytes()
    monkeypatch.setattr(rows, "LARGEST_VALUE", 1e308)
    X[25] = 1e155
    with np.errstate(all="ignore"):
        model.learn(X[20:30], Y[20:30])
    with pytest.raises(SaveError, match=r"in the state of learner 0 the array '.*' has a value"):
        model.save(tmp_path / "m.blm")
    assert (tmp_path / "m.blm").read_bytes() == before
    assert os.listdir(tmp_path) == ["m.blm"]


@pytest.mark.parametrize("place", [0, 9, 3000, -1])
def test_a_file_that_is_not_what_was_written_leaves_the_old_one(place, tmp_path, monkeypatch):
    X, Y = examples()
    model = bl.AdaOLMR(K, learners=LEARNERS["trees"])
    model.save(tmp_path / "m.blm")
    before = (tmp_path / "m.blm").read_bytes()
    model.learn(X, Y)

    def write_badly(file, *content):
        write(file, *content)
        file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))

    monkeypatch.setattr("boostline.saving.model_files.write", write_badly)
    with pytest.raises(SaveError, match="could not be loaded"):
        model.save(tmp_path / "m.blm")
    assert (tmp_path / "m.blm").read_bytes() == before
    assert os.listdir(tmp_path) == ["m.blm"]


@pytest.mark.parametrize(
    "labels", [[("a", 1), ("b", 2)], [10**5000, 0]], ids=["tuples", "long numbers"]
)
def test_names_of_labels_that_a_file_cannot_give_back(labels, tmp_path):
    model = bl.LabelRanker(labels=labels)
    with pytest.raises((SaveError, TypeError), match="cannot be saved"):
        model.save(tmp_path / "m.blm")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("depth", [50, 200, 300, 400, 900])
def test_an_extra_of_any_depth_is_refused_when_it_is_saved_or_loads(depth, tmp_path):
    extra: dict[str, Any] = {}
    for _ in range(depth):
        extra = {"inner": extra}
    try:
        saving.save(bl.LabelRanker(2), tmp_path / "m.blm", extra)
    except (SaveError, TypeError, RecursionError):
        assert not os.listdir(tmp_path)
    else:
        assert saving.load_with_extra(tmp_path / "m.blm")[1] == extra


def test_a_file_saved_while_another_thread_learns_is_of_one_moment(tmp_path):
    X, _ = examples(400)
    model = bl.AdaOLMR(K, learners=[L.Recency(1.0), *[L.HoeffdingTree()] * 5])
    model.learn(X[:1], [{0}])
    done = threading.Event()

    def learn():
        for i in range(1, 400):
            model.learn(X[i], {i % K})
            if i % 100 == 0:
                model.add_labels(1)
        done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    n_saved = 0
    while not done.is_set() or n_saved == 0:
        model.save(tmp_path / "m.blm")
        loaded = bl.load(tmp_path / "m.blm")
        counts = loaded.state()["arrays"]["learners.0.counts"]
        assert counts.sum() == loaded.clock  # one relevant label in each row
        n_saved += 1
    thread.join()
    assert bl.load(tmp_path / "m.blm").clock <= 400


def test_penalties_whose_inverse_is_infinite_are_refused():
    for learner in (L.Ridge, L.Kernel):
        with pytest.raises(ValueError, match=r"ridge is 5e-324, but must be in \[1e-12"):
            learner(ridge=5e-324)


@pytest.mark.parametrize("learner", [bl.learners.Linear(), bl.learners.Neighbours()])
def test_counts_stay_where_they_are_exact(learner, tmp_path):
    """A stranger's file may say that 2^53 rows have been learned: learning goes on, and what is saved loads."""
    X, Y = np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([[True, False], [False, True]])
    model = bl.LabelRanker(2, learners=[learner])
    model.learn(X, Y)
    restored, (cls, config, learners, arrays, n_threads) = model.__reduce__()
    arrays["learners.0.scale_n_rows"][:] = 2.0**53
    arrays["learners.0.scale_n_missing"][1] = 2.0**53 - 1
    forged = restored(cls, config, learners, arrays, n_threads)
    forged.learn(X, Y)
    forged.save(tmp_path / "m.blm")
    assert bl.load(tmp_path / "m.blm").clock == 4


def test_without_memory_load_says_so(tmp_path):
    model = bl.LabelRanker(2)
    model.learn(np.eye(2), np.eye(2))
    model.save(tmp_path / "m.blm")
    grant_allocations(0)
    try:
        with pytest.raises(LoadError, match=r"m\.blm cannot be loaded: there is no memory for it"):
            bl.load(tmp_path / "m.blm")
    finally:
        grant_allocations(-1)
    assert bl.load(tmp_path / "m.blm").clock == 2
