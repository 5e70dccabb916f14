"""The shell: train on many files, rank with several processes, into a folder, on a Dask cluster."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from scale_models import small_model

import boostline as bl
from boostline import scale
from boostline.cli import main

pytestmark = pytest.mark.process
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def boostline(capsys, monkeypatch, environment_for_workers):
    """Run the command in this process, since a new one takes seconds to start; its workers are processes."""
    monkeypatch.setenv("PYTHONPATH", environment_for_workers["PYTHONPATH"])

    def run(*arguments, fails=False):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert bool(ended.value.code) == fails, printed.err
        return printed.err if fails else printed.out

    return run


@pytest.fixture
def saved(history, tmp_path):
    path = tmp_path / "model.blm"
    scale.warm_start(small_model(), history / "*.parquet", drop=["id"]).save(path)
    return path


def test_rank_with_several_processes(boostline, saved, history):
    rows = history / "part-1.parquet"
    one, two = (boostline("rank", saved, rows, "--json", "--jobs", n) for n in (1, 2))
    assert one == two and len(one.splitlines()) == 300


def test_on_a_cluster(boostline, cluster, history, tmp_path):
    while cluster.n_alive() < 2:
        cluster.add_worker()
    files = sorted(history.glob("*.parquet"))
    made = tmp_path / "made.blm"
    about = ("--labels", "tag_*", "--drop", "id", "--dask", cluster.address)
    said = json.loads(boostline("train", *files, "-m", made, *about, "--json"))
    assert said["rows"] == bl.load(made).clock == 2400 and said["files"] == 8
    assert said["rows_measured"] + said["rows_merged"] <= 2400 and said["rows_merged"] > 200
    assert 0.01 < said["mean_rank_loss"] < 0.5
    options = ("--out", tmp_path / "out", "--key", "id", "--dask", cluster.address, "--json")
    said = json.loads(boostline("rank", made, *files, *options))
    assert said["rows"] == 2400 and said["files"] == 8
    assert pq.read_table(tmp_path / "out" / "part-7.parquet")["id"][-1].as_py() == "row-2399"
    more = boostline("train", files[0], "-m", made, "--resume", fails=True)
    assert "use --append if all rows of the input are new" in more


def test_what_does_not_fit_is_refused(boostline, saved, history):
    files = sorted(history.glob("*.parquet"))
    assert "need --jobs or --dask" in boostline("train", *files, "-m", "x.blm", fails=True)
    assert "several files need --out" in boostline("rank", saved, *files, fails=True)
    out = ("--out", "ranked")
    refused = boostline("rank", saved, *files, *out, "--probabilities", fails=True)
    assert "rankings that are printed" in refused


def test_values_that_the_model_has_never_seen(boostline, tmp_path):
    rows = ["colour,size,hot,cold", *(["red,1,1,0", "blue,2,0,1"] * 20)]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("colour,size\nred,1\ngreen,2\n")
    made, out = tmp_path / "m.blm", tmp_path / "out"
    about = ("--labels", "hot,cold", "--categories", "colour=red,blue")
    boostline("train", tmp_path / "rows.csv", *about, "-m", made)
    boostline("rank", made, tmp_path / "new.csv", "--out", out)
    assert pq.read_table(out / "new.parquet")["row"].to_pylist() == [1, 2]
    new = ("rank", made, tmp_path / "new.csv", "--out", tmp_path / "other", "--unseen", "error")
    assert "new.csv:3" in (said := boostline(*new, fails=True)) and "green" in said


def test_rankings_go_on_after_a_kill(boostline, environment_for_workers, history, tmp_path):
    model = tmp_path / "model.blm"
    scale.warm_start(small_model(), history / "*.parquet", drop=["id"]).save(model)
    many = tmp_path / "many"
    many.mkdir()
    for copy in range(6):
        for path in history.glob("*.parquet"):
            shutil.copy(path, many / f"{copy}-{path.name}")
    files, out = sorted(many.glob("*.parquet")), tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "boostline",
        "rank",
        model,
        *files,
        "--out",
        out,
        "--key",
        "id",
    ]
    job = subprocess.Popen(command, env=environment_for_workers, start_new_session=True)
    end = time.monotonic() + 60
    while len(list(out.glob("*.parquet"))) < 5:
        assert time.monotonic() < end and job.poll() is None
        time.sleep(0.002)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    n_done = len(list(out.glob("*.parquet")))
    assert 5 <= n_done < 48
    said = json.loads(boostline("rank", model, *files, "--out", out, "--key", "id", "--json"))
    assert said == {"files": 48, "rows": 14400, "skipped": n_done, "out": str(out)}
    for path in files:
        found = pq.read_table(out / path.name)
        assert found["id"].equals(pq.read_table(path)["id"])
