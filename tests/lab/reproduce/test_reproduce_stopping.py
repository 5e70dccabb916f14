"""Ctrl-C is clean, in worker processes and without them, and the next call goes on from there."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from reproduce_helpers import essence

from boostline.lab import reproduce, synthetic
from boostline.lab.reproduce.plan import Settings

pytestmark = pytest.mark.process

N_RUNS = 14
SETTINGS = ["--seeds", "2", "--trees", "40", "--edge", "0.1", "--labels", "x,y,z"]


@pytest.fixture
def file(tmp_path):
    data = synthetic.noisy(900, d=8, k=3, relevant=1)
    columns = [*(f"f{i}" for i in range(8)), "x", "y", "z"]
    path = tmp_path / "own.csv"
    rows = np.column_stack([data.X, data.Y])
    np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="", fmt="%.6g")
    return path


def wait_for_files(folder, count, process):
    end = time.monotonic() + 120
    while len(list(folder.glob("runs/*.json"))) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "no run was finished in two minutes"
        time.sleep(0.01)


def wait_until_gone(group):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("processes are left behind")


MASKS = """
import signal
from boostline.scale.engines.local import LocalEngine

def mask(shared, item):
    return signal.pthread_sigmask(signal.SIG_BLOCK, [])

if __name__ == "__main__":
    masks = LocalEngine(2).map(mask, range(4), shared=())
    print([signal.SIGINT in one for one in masks], signal.SIGINT in mask((), 0))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs POSIX signals")
def test_workers_never_see_ctrl_c_not_even_while_they_start(environment, tmp_path):
    program = tmp_path / "masks.py"
    program.write_text(MASKS)
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("] ") == ["[True, True, True, True", "False\n"]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX process groups")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_is_finished(tmp_path, file, command, environment, jobs):
    out = tmp_path / "out"
    arguments = [*command, "--data", str(file), "--out", str(out), "--jobs", jobs, *SETTINGS]
    process = subprocess.Popen(
        arguments,
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_files(out, 2, process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to every process of the command
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "the same command continues from there" in errors
    wait_until_gone(process.pid)

    finished = {path: json.loads(path.read_text()) for path in out.glob("runs/*")}
    assert 2 <= len(finished) < N_RUNS  # no halves, no leftovers
    stamps = {path: path.stat().st_mtime_ns for path in finished}
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    assert "Table 3" in done.stdout
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in stamps.items())
    calls = json.loads((out / "calls.json").read_text())
    assert [call["finished"] for call in calls] == [False, True]
    assert sum(call["runs"] for call in calls) == N_RUNS

    options = {
        "labels": ["x", "y", "z"],
        "seeds": 2,
        "edges": [0.1],
        "settings": Settings(trees=40),
    }
    again = reproduce.run(str(file), out, report=False, jobs=1, **options)
    at_once = reproduce.run(str(file), tmp_path / "at-once", report=False, jobs=1, **options)
    assert again.n_new == 0
    assert essence(again.summary) == essence(at_once.summary)
