"""The Spark door against a real cluster: two executors of their own beside the driver."""

import contextlib
import os
import shutil
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scale_models import LABELS, assert_same_stores, small_model, tenant_model, tenants

from boostline import scale

pytestmark = pytest.mark.process

pyspark = pytest.importorskip("pyspark", reason="pip install 'boostline[spark]'")
pq = pytest.importorskip("pyarrow.parquet")
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip(
        "Spark needs a Java runtime (apt-get install openjdk-17-jre-headless)",
        allow_module_level=True,
    )

from boostline.scale.engines import spark as bs  # noqa: E402


@pytest.fixture(scope="module")
def session(environment_for_workers, tmp_path_factory):
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", os.path.dirname(pyspark.__file__))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.chdir(tmp_path_factory.mktemp("spark"))  # for its own files
        helpers = os.path.join(os.path.dirname(os.path.dirname(__file__)), "helpers")
        path = os.pathsep.join([environment_for_workers["PYTHONPATH"], helpers])
        made = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.executorEnv.PYTHONPATH", path)
            .config("spark.executorEnv.OPENBLAS_NUM_THREADS", "1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        made.sparkContext.setLogLevel("ERROR")
        yield made
        made.stop()


@pytest.fixture(scope="module")
def learned(history):
    return scale.warm_start(small_model(), history / "*.parquet", drop=["id"], n_groups=4)


def assert_same(a, b):
    one, two = a.state()["arrays"], b.state()["arrays"]
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_allclose(values, two[name], rtol=1e-9, atol=1e-12, err_msg=name)


def test_history_in_files(session, history, model, learned):
    made = scale.warm_start(
        model, history / "*.parquet", engine=bs.SparkEngine(session), drop=["id"], n_groups=4
    )
    assert_same(made, learned)


@pytest.mark.slow
def test_frames(session, history, table, learned):
    X, _ = table
    frame = session.read.parquet(str(history)).orderBy("id")
    made = scale.warm_start(
        small_model(), frame.drop("id"), engine=bs.SparkEngine(session), n_groups=2
    )
    assert made.clock == 2400 and made.features == [f"x{i}" for i in range(12)]
    scores = bs.score_frame(learned, frame, keys=["id"]).toPandas()
    assert list(scores.columns) == ["id", *LABELS]
    place = [int(name.removeprefix("row-")) for name in scores["id"]]
    assert sorted(place) == list(range(2400))
    np.testing.assert_array_equal(scores[LABELS].to_numpy(), learned.score(X[:2400])[place])
    found = scale.evaluate(learned, frame.drop("id"), engine=bs.SparkEngine(session))
    wanted = scale.evaluate(learned, history / "*.parquet", drop=["id"])
    assert found == pytest.approx(wanted, abs=1e-12)


def test_models_by_key(session, tmp_path):
    frame = tenants(n_rows=300, n_keys=10)
    numbered = frame.assign(place=range(300))
    frame.to_parquet(tmp_path / "rows.parquet")
    settings: dict = {"key": "tenant", "model": tenant_model(), "n_buckets": 3}
    scale.learn_by_key(tmp_path / "rows.parquet", store=tmp_path / "here", **settings)
    done = scale.learn_by_key(
        tmp_path / "rows.parquet",
        store=tmp_path / "files",
        engine=bs.SparkEngine(session),
        **settings,
    )
    assert done.n_keys == 10 and done.n_rows == 300
    assert_same_stores(tmp_path / "here", tmp_path / "files")
    rows = session.createDataFrame(numbered).repartition(2, "tenant")
    rows = rows.sortWithinPartitions("place").drop("place")
    scale.learn_by_key(rows, store=tmp_path / "frame", engine=bs.SparkEngine(session), **settings)
    assert_same_stores(tmp_path / "here", tmp_path / "frame")


def executors():
    """Processes of this test that are executors."""
    found = []
    for about in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = about.read_bytes()
            parent = int((about.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if b"CoarseGrainedExecutorBackend" in command and b"java" in command.split(b"\0")[0]:
            found.append((int(about.parent.name), parent))
    return found


@contextlib.contextmanager
def an_executor_killed(session, after=0.5):
    """For `with`: so many seconds after the beginning an executor dies. Spark starts another."""
    parents = {os.getpid(), session.sparkContext._gateway.proc.pid}
    mine = [pid for pid, parent in executors() if parent in parents]
    assert mine
    killed = []

    def kill():
        os.kill(mine[0], signal.SIGKILL)
        killed.append(mine[0])

    timer = threading.Timer(after, kill)
    timer.start()
    yield
    timer.join()
    assert killed


@pytest.mark.slow
@pytest.mark.parametrize("job", ["history", "scores", "ranking", "evaluation", "keys"])
def test_a_killed_executor(job, session, history, model, learned, table, tmp_path):
    """Its tasks are done again."""
    files = history / "*.parquet"
    if job == "history":
        with an_executor_killed(session):
            made = scale.warm_start(
                model, files, engine=bs.SparkEngine(session), drop=["id"], n_groups=4
            )
        assert_same(made, learned)
    elif job == "scores":
        frame = session.read.parquet(str(history)).repartition(8)
        with an_executor_killed(session):
            scores = bs.score_frame(learned, frame, keys=["id"]).toPandas()
        place = [int(name.removeprefix("row-")) for name in scores["id"]]
        assert sorted(place) == list(range(2400))
        np.testing.assert_array_equal(scores[LABELS], learned.score(table[0][:2400])[place])
    elif job == "ranking":
        with an_executor_killed(session):
            made = scale.rank_files(
                learned, files, tmp_path / "out", engine=bs.SparkEngine(session)
            )
        wanted = scale.rank_files(learned, files, tmp_path / "here")
        for here, there in zip(wanted.files, made.files, strict=True):
            assert pq.read_table(here).equals(pq.read_table(there))
    elif job == "evaluation":
        with an_executor_killed(session):
            found = scale.evaluate(learned, files, engine=bs.SparkEngine(session), drop=["id"])
        assert found == scale.evaluate(learned, files, drop=["id"])
    else:
        tenants(n_rows=600, n_keys=20).to_parquet(tmp_path / "rows.parquet")
        settings: dict = {"key": "tenant", "model": tenant_model(), "n_buckets": 6}
        with an_executor_killed(session):
            store = tmp_path / "there"
            scale.learn_by_key(
                tmp_path / "rows.parquet", store=store, engine=bs.SparkEngine(session), **settings
            )
        scale.learn_by_key(tmp_path / "rows.parquet", store=tmp_path / "here", **settings)
        assert_same_stores(tmp_path / "here", tmp_path / "there")


def test_rankings_of_files_and_a_poisoned_one(session, history, learned, tmp_path):
    import pandas as pd

    made = scale.rank_files(
        learned,
        history / "*.parquet",
        tmp_path / "out",
        keys=["id"],
        engine=bs.SparkEngine(session),
    )
    wanted = scale.rank_files(learned, history / "*.parquet", tmp_path / "here", keys=["id"])
    assert made.n_rows == 2400
    for here, there in zip(wanted.files, made.files, strict=True):
        assert pq.read_table(here).equals(pq.read_table(there))
    rows = pd.read_parquet(history / "part-0.parquet")
    rows.loc[rows.index[77], "x3"] = np.inf
    rows.to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=r"bad\.parquet:78: the column 'x3' has an infinite value"):
        scale.evaluate(
            learned, tmp_path / "bad.parquet", engine=bs.SparkEngine(session), drop=["id"]
        )
    frame = session.createDataFrame(rows.drop(columns=["id"])).coalesce(1)
    with pytest.raises(ValueError, match=r"partition 0, row 78: x has an infinite value"):
        scale.evaluate(learned, frame, engine=bs.SparkEngine(session))
