"""Runs spread over a real Dask cluster of two worker processes, one of which is killed."""

import subprocess
import sys
import time

import pytest
from reproduce_helpers import essence

from boostline.lab import reproduce, synthetic
from boostline.lab.reproduce.plan import Settings

pytestmark = pytest.mark.process

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster(environment, tmp_path):
    """Address of a scheduler, and its two workers, each a process of its own without a nanny."""
    ready = tmp_path / "scheduler.json"
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(ready)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        return process

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    end = time.monotonic() + 60
    while not ready.exists():
        assert time.monotonic() < end, "the scheduler did not start"
        time.sleep(0.1)
    local = ["--local-directory", str(tmp_path), "--no-dashboard"]
    workers = [start("worker", "--no-nanny", "--nthreads", "1", *local) for _ in range(2)]
    with distributed.Client(scheduler_file=str(ready), set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client.scheduler.address, workers
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_killed_worker_loses_nothing(tmp_path, cluster):
    address, workers = cluster
    # Runs of some tenths of a second, so that both workers are in the middle of one when the first ends.
    data = synthetic.noisy(1500, d=30, k=8, n_train=1000)
    options = {"seeds": 3, "edges": [0.1], "settings": Settings(trees=100), "report": False}
    options["orders"] = ["shuffled"]
    finished = []

    def kill_one(done, total):
        finished.append(done)
        if done == 2:
            workers[0].kill()
            workers[0].wait()

    made = reproduce.run(data, tmp_path / "dask", dask=address, progress=kill_one, **options)
    assert workers[0].returncode is not None and workers[1].poll() is None
    assert made.finished and made.n_new == made.n_tasks == len(finished) == 3 * 4
    here = reproduce.run(data, tmp_path / "here", jobs=1, **options)
    assert essence(made.summary) == essence(here.summary)


def test_no_scheduler_is_told(tmp_path, toy, monkeypatch):
    monkeypatch.setattr("boostline.scale.engines.dask.PATIENCE", 1)
    with pytest.raises(reproduce.ClusterError, match=r"no Dask scheduler at 'tcp://127.0.0.1:1'"):
        reproduce.run(toy, tmp_path, dask="tcp://127.0.0.1:1", report=False)
