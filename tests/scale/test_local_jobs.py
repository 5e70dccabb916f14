"""History, scores, rankings and evaluation with the processes of one machine."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scale_models import LABELS, small_model, tenant_model, tenants

from boostline import scale
from boostline.data import DataError
from boostline.metrics import rank_loss
from boostline.scale.engines import LocalEngine
from boostline.scale.history import _dealt, plan

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def learned(history):
    return scale.warm_start(small_model(), history / "*.parquet", drop=["id"], n_groups=4)


def same_state(a, b):
    one, two = a.state()["arrays"], b.state()["arrays"]
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], name)


def test_history_in_files(history, table, model):
    X, Y = table
    seen = []
    made = scale.warm_start(
        model, history / "part-*.parquet", drop=["id"], progress=lambda *at: seen.append(at)
    )
    assert made.clock == 2400 and model.clock == 0
    assert made.features == [f"x{i}" for i in range(12)]
    in_sequence = small_model()
    in_sequence.learn(X[:2400], Y[:2400])
    losses = [rank_loss(Y[2400:], m.score(X[2400:])) for m in (in_sequence, made)]
    assert losses[1] < losses[0] + 0.01
    assert seen[-1] == (2400, 2400)


def test_a_model_that_has_learned_needs_no_sample(history, table, model):
    X, Y = table
    model.features = [f"x{i}" for i in range(12)]
    model.learn(X[2400:], Y[2400:])
    made = scale.warm_start(model, history / "part-0.parquet", drop=["id"], sample=0, tail=0)
    assert made.clock == 900
    got = made.state()["arrays"]["learners.1.total"][0]
    assert (
        got == (Y[:300].any(1) & ~Y[:300].all(1)).sum() + (Y[2400:].any(1) & ~Y[2400:].all(1)).sum()
    )


def test_how_rows_are_dealt():
    assert plan([10, 10], 0, 0) == ([0, 0], [10, 10])
    assert plan([5, 100], 40, 10) == ([5, 35], [5, 90])
    assert plan([5, 5], 100, 100) == ([5, 5], [5, 5])
    heads, ends = plan([1000] * 40, 1600, 1500)
    assert sum(heads) == 1600 and max(heads) == 100 and sum(h > 0 for h in heads) == 16
    assert sum(1000 - e for e in ends) == 1500


def test_groups_are_even_and_have_each_row_once():
    rng = np.random.default_rng(0)
    for _ in range(500):
        n, n_groups = int(rng.integers(1, 12)), int(rng.integers(1, 9))
        starts = rng.integers(0, 50, n)
        stops = starts + rng.integers(0, 200, n) * rng.integers(0, 2, n)
        groups = _dealt(starts.tolist(), stops.tolist(), n_groups)
        pieces = [piece for group in groups for piece in group]
        rows = [(i, row) for i, start, stop in pieces for row in range(start, stop)]
        assert rows == [(i, row) for i in range(n) for row in range(starts[i], stops[i])]
        share = (stops - starts).sum() / n_groups
        if share >= 50:
            sizes = [sum(stop - start for _, start, stop in group) for group in groups]
            assert (
                len(sizes) == n_groups and max(abs(size - share) for size in sizes) < 0.15 * share
            )


@pytest.mark.process
def test_two_processes_give_what_one_gives(history, model, tmp_path):
    options = {"drop": ["id"], "n_groups": 4}
    one, two = (scale.warm_start(model, history / "*.parquet", n_jobs=n, **options) for n in (1, 2))
    same_state(one, two)
    rows = np.random.default_rng(0).normal(size=(2500, 12))
    np.testing.assert_array_equal(scale.score(one, rows, n_jobs=2), one.score(rows))
    ranked = [
        scale.rank_files(one, history / "*.parquet", tmp_path / str(n), keys=["id"], n_jobs=n)
        for n in (1, 2)
    ]
    for a, b in zip(ranked[0].files, ranked[1].files, strict=True):
        assert pq.read_table(a).equals(pq.read_table(b))


def dies_once(folder, item):
    """A task of a process that is killed the first time that it gets a three."""
    mark = Path(folder) / "was killed"
    if item == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * item


def dies_always(folder, item):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.process
def test_a_killed_process_is_replaced(tmp_path):
    found = list(LocalEngine(2).map(dies_once, range(12), str(tmp_path)))
    assert (tmp_path / "was killed").exists()
    assert found == [10 * item for item in range(12)]
    with pytest.raises(scale.WorkerError, match="3 times the worker process of a task died"):
        list(LocalEngine(2).map(dies_always, range(3), str(tmp_path)))


def raises(_, item):
    if item == 5:
        raise LookupError("five")
    return item


@pytest.mark.process
def test_items_are_taken_as_they_are_needed_and_errors_arrive():
    taken = []

    def items():
        for i in range(40):
            taken.append(i)
            yield i

    results = LocalEngine(2).map(raises, items(), 0)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert len(taken) <= 8
    with pytest.raises(LookupError, match="five"):
        list(results)
    assert list(LocalEngine(2).map(raises, [], 0)) == []
    assert list(LocalEngine(2).map(raises, [1], 0)) == [1]
    assert not multiprocessing.active_children()


@pytest.mark.process
@pytest.mark.parametrize(
    "job",
    [
        "history",
        "keys",
        pytest.param("ranking", marks=pytest.mark.slow),
        pytest.param("evaluation", marks=pytest.mark.slow),
    ],
)
def test_one_of_two_processes_is_killed(job, history, model, learned, tmp_path):
    """The first process that has begun; how one is replaced that dies within a task, the test before says."""

    def run(n_jobs, name):
        if job == "history":
            options = {"drop": ["id"], "n_groups": 4}
            made = scale.warm_start(model, history / "*.parquet", n_jobs=n_jobs, **options)
            return made.state()["arrays"]
        if job == "ranking":
            out = tmp_path / name
            files = scale.rank_files(learned, history / "*.parquet", out, n_jobs=n_jobs).files
            return {Path(f).name: pq.read_table(f)["scores"].to_pylist() for f in files}
        if job == "evaluation":
            return scale.evaluate(learned, history / "*.parquet", drop=["id"], n_jobs=n_jobs)
        options = {"key": "tenant", "model": tenant_model(), "n_buckets": 6}
        rows = tenants(n_rows=600, n_keys=20)
        scale.learn_by_key(rows, store=tmp_path / name, n_jobs=n_jobs, **options)
        store = scale.ModelStore(tmp_path / name)
        return {f"{k} {n}": a for k in store for n, a in store[k].state()["arrays"].items()}

    wanted = run(1, "one")
    killed = []

    def kill():
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            for process in multiprocessing.active_children():
                used = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
                if int(used[11]) > 0.05 * os.sysconf("SC_CLK_TCK"):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    return
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    got = run(2, "two")
    killer.join()
    assert killed
    assert got.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(got[name], values, name)


def test_rankings_of_files(history, table, model, tmp_path):
    X, Y = table
    model.features = [f"x{i}" for i in range(12)]
    model.learn(X[2400:], Y[2400:])
    made = scale.rank_files(model, str(history / "*.parquet"), tmp_path / "out", top=3, keys=["id"])
    assert made.n_rows == 2400 and made.n_skipped == 0 and len(made.files) == 8
    found = pq.read_table(tmp_path / "out" / "part-3.parquet").to_pydict()
    assert found["id"] == [f"row-{i}" for i in range(900, 1200)]
    assert found["row"] == list(range(1, 301))
    assert found["labels"] == model.rank(X[900:1200], top=3)
    scores = model.score(X[900:1200])
    np.testing.assert_array_equal(np.array(found["scores"]), -np.sort(-scores, axis=1)[:, :3])
    # Once more: only what is missing is done, and what another model ranked is done anew.
    (tmp_path / "out" / "part-5.parquet").unlink()
    again = scale.rank_files(model, history / "*.parquet", tmp_path / "out", top=3, keys=["id"])
    assert again.n_rows == 2400 and again.n_skipped == 7
    model.learn(X[:5], Y[:5])
    other = scale.rank_files(model, history / "*.parquet", tmp_path / "out", top=3, keys=["id"])
    assert other.n_skipped == 0


def test_evaluation_of_files(history, table, model):
    X, Y = table
    model.features = [f"x{i}" for i in range(12)]
    model.learn(X[2400:], Y[2400:])
    found = scale.evaluate(model, history / "*.parquet", ["rank_loss", "one_error"], drop=["id"])
    assert found["n"] == 2400
    assert found["rank_loss"] == pytest.approx(
        rank_loss(Y[:2400], model.score(X[:2400])), abs=1e-12
    )


def test_a_bad_row_is_named(history, model, tmp_path):
    import pandas as pd

    for part in range(3):
        frame = pd.read_parquet(history / f"part-{part}.parquet")
        if part == 1:
            frame.loc[frame.index[123], "x4"] = np.inf
        frame.to_parquet(tmp_path / f"part-{part}.parquet")
    with pytest.raises(
        DataError, match=r"part-1\.parquet:124: the column 'x4' has an infinite value"
    ):
        scale.warm_start(model, tmp_path / "*.parquet", drop=["id"], tail=100, sample=150)


def test_what_does_not_fit_is_refused(history, model, tmp_path):
    import boostline as bl

    with pytest.raises(FileNotFoundError, match="no file matches"):
        scale.warm_start(model, tmp_path / "*.parquet")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        scale.evaluate(model, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="model has no names of labels"):
        scale.warm_start(bl.LabelRanker(6), history / "*.parquet")
    with pytest.raises(ValueError, match=r"both become 'part-0\.parquet'"):
        scale.rank_files(model, [history / "part-0.parquet"] * 2, tmp_path)
    with pytest.raises(ValueError, match="n_jobs is 0, but must be between 1"):
        LocalEngine(0)
    with pytest.raises(ValueError, match="X is one example"):
        scale.score(model, np.zeros(12))
    assert model.labels == LABELS
