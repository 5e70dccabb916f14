"""The Dask door against a real cluster of a scheduler and two workers, one of which is killed during each job."""

import numpy as np
import pytest
from scale_models import LABELS, assert_same_stores, small_model, tenant_model, tenants

from boostline import scale

pytestmark = pytest.mark.process

distributed = pytest.importorskip("distributed")
bd = pytest.importorskip("boostline.scale.engines.dask")
pq = pytest.importorskip("pyarrow.parquet")

N_GROUPS = 4


@pytest.fixture(scope="module")
def learned(history):
    """A model of the whole history, made in this process."""
    return scale.warm_start(small_model(), history / "*.parquet", drop=["id"], n_groups=N_GROUPS)


def assert_same(a, b):
    one, two = a.state()["arrays"], b.state()["arrays"]
    assert one.keys() == two.keys()
    for name, values in one.items():
        # BLAS rounds differently with another number of threads.
        np.testing.assert_allclose(values, two[name], rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.fixture
def two_workers(cluster):
    while cluster.n_alive() < 2:
        cluster.add_worker()
    cluster.wait_for(2)
    return cluster


def test_history_with_a_killed_worker(two_workers, history, model, learned):
    seen = []
    killer = two_workers.kill_a_busy_worker()
    made = scale.warm_start(
        model,
        history / "*.parquet",
        engine=bd.DaskEngine(two_workers.client),
        drop=["id"],
        n_groups=N_GROUPS,
        progress=lambda *at: seen.append(at),
    )
    killer.join()
    assert two_workers.n_alive() == 1
    assert_same(made, learned)
    assert seen[-1] == (2400, 2400)


def test_rankings_with_a_killed_worker(two_workers, history, learned, tmp_path):
    wanted = scale.rank_files(learned, history / "*.parquet", tmp_path / "here", keys=["id"])
    killer = two_workers.kill_a_busy_worker()
    made = scale.rank_files(
        learned,
        history / "*.parquet",
        tmp_path / "there",
        keys=["id"],
        engine=bd.DaskEngine(two_workers.client),
    )
    killer.join()
    assert two_workers.n_alive() == 1
    assert made.n_rows == 2400
    for here, there in zip(wanted.files, made.files, strict=True):
        assert pq.read_table(here).equals(pq.read_table(there))
    assert not list((tmp_path / "there").glob(".*"))  # nothing half written is left
    again = scale.rank_files(
        learned,
        history / "*.parquet",
        tmp_path / "there",
        keys=["id"],
        engine=bd.DaskEngine(two_workers.client),
    )
    assert again.n_skipped == 8


def test_evaluation_with_a_killed_worker(two_workers, history, learned):
    wanted = scale.evaluate(learned, history / "*.parquet", drop=["id"])
    killer = two_workers.kill_a_busy_worker()
    client = two_workers.client
    assert (
        scale.evaluate(learned, history / "*.parquet", engine=bd.DaskEngine(client), drop=["id"])
        == wanted
    )
    killer.join()
    assert two_workers.n_alive() == 1


def test_scores_with_a_killed_worker(two_workers, history, learned):
    dd = pytest.importorskip("dask.dataframe")
    client = two_workers.client
    frame = dd.read_parquet(str(history / "*.parquet"))
    killer = two_workers.kill_a_busy_worker("_score_frame")
    scores = client.compute(bd.score_frame(learned, frame)).result(timeout=60)
    killer.join()
    assert two_workers.n_alive() == 1
    rows = frame.compute(scheduler="synchronous")
    np.testing.assert_array_equal(scores.to_numpy(), learned.score(rows[learned.features]))


def test_models_by_key_with_a_killed_worker(two_workers, tmp_path):
    frame = tenants(n_rows=600, n_keys=20)
    for part, first in enumerate(range(0, 600, 100)):
        frame.iloc[first : first + 100].to_parquet(tmp_path / f"{part}.parquet")
    settings: dict = {"key": "tenant", "model": tenant_model(), "n_buckets": 6}
    scale.learn_by_key(tmp_path / "*.parquet", store=tmp_path / "here", **settings)
    client = two_workers.client
    killer = two_workers.kill_a_busy_worker()
    done = scale.learn_by_key(
        tmp_path / "*.parquet", store=tmp_path / "there", engine=bd.DaskEngine(client), **settings
    )
    killer.join()
    assert two_workers.n_alive() == 1
    assert done.n_keys == 20
    assert_same_stores(tmp_path / "here", tmp_path / "there")
    dd = pytest.importorskip("dask.dataframe")
    parts = dd.from_pandas(frame, npartitions=3)
    scale.learn_by_key(parts, store=tmp_path / "frame", engine=bd.DaskEngine(client), **settings)
    assert_same_stores(tmp_path / "here", tmp_path / "frame")


def test_frames(two_workers, history, model, learned):
    dd = pytest.importorskip("dask.dataframe")
    client = two_workers.client
    frame = dd.read_parquet(str(history / "*.parquet")).drop(columns=["id"])
    made = scale.warm_start(model, frame, engine=bd.DaskEngine(client), n_groups=N_GROUPS)
    assert_same(made, learned)
    scores = client.compute(bd.score_frame(made, frame[made.features])).result(timeout=60)
    assert list(scores.columns) == LABELS
    rows = frame.compute(scheduler="synchronous")
    np.testing.assert_array_equal(scores.to_numpy(), made.score(rows[made.features]))
    found = scale.evaluate(made, frame, engine=bd.DaskEngine(client))
    assert found["n"] == 2400


def test_a_poisoned_partition_is_named(two_workers, history, model, learned, tmp_path):
    import pandas as pd

    for part in range(4):
        frame = pd.read_parquet(history / f"part-{part}.parquet")
        if part == 2:
            frame["tag_3"] = frame["tag_3"].astype(int)
            frame.loc[frame.index[200], "tag_3"] = 7
        frame.to_parquet(tmp_path / f"part-{part}.parquet")
    with pytest.raises(ValueError, match=r"part-2\.parquet:201: the label 'tag_3' has 7"):
        scale.warm_start(
            model,
            tmp_path / "*.parquet",
            engine=bd.DaskEngine(two_workers.client),
            drop=["id"],
            sample=200,
            tail=50,
        )
    client = two_workers.client
    with pytest.raises(ValueError, match=r"part-2\.parquet:201: the label 'tag_3' has 7"):
        scale.evaluate(model, tmp_path / "*.parquet", engine=bd.DaskEngine(client), drop=["id"])
    with pytest.raises(ValueError, match=r"part-2\.parquet:201: the label 'tag_3' has 7"):
        store = tmp_path / "store"
        scale.learn_by_key(
            tmp_path / "*.parquet",
            key="id",
            store=store,
            model=model,
            engine=bd.DaskEngine(client),
            n_buckets=2,
        )
    frame.loc[frame.index[33], "x5"] = -np.inf
    frame.to_parquet(tmp_path / "bad-3.parquet")
    with pytest.raises(ValueError, match=r"bad-3\.parquet:34: the column 'x5' has an infinite"):
        scale.rank_files(
            learned, tmp_path / "*-3.parquet", tmp_path / "out", engine=bd.DaskEngine(client)
        )
    dd = pytest.importorskip("dask.dataframe")
    rows = pd.read_parquet(history / "part-0.parquet").drop(columns=["id"])
    rows.loc[rows.index[250], "x3"] = np.inf
    poisoned = dd.from_pandas(rows, npartitions=2)
    with pytest.raises(ValueError, match=r"partition 1, row 101: x has an infinite value"):
        scale.warm_start(
            model, poisoned, engine=bd.DaskEngine(two_workers.client), sample=100, tail=0
        )


def test_no_scheduler_and_no_worker_are_told(two_workers, monkeypatch, learned, history):
    monkeypatch.setattr(bd, "PATIENCE", 1.0)
    with (
        pytest.raises(bd.WorkerError, match=r"no Dask scheduler at 'tcp://127.0.0.1:1'"),
        bd.connected("tcp://127.0.0.1:1"),
    ):
        pass
    for worker in two_workers.workers.values():
        worker.kill()
        worker.wait()
    engine = bd.DaskEngine(two_workers.client, patience=1.0)
    with pytest.raises(bd.WorkerError, match="the Dask cluster has"):
        scale.evaluate(learned, history / "*.parquet", engine=engine, drop=["id"])
