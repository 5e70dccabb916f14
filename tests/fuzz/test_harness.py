"""The fuzz harness: it finds what it is there for, and finds nothing in a short run."""

import harness
import pytest

pytestmark = pytest.mark.process

TROUBLED = """
import os, time
import numpy as np

def case(seed, folder, outcomes):
    if seed == 3:
        raise KeyError("seven 7")
    if seed == 5:
        os.abort()
    if seed == 6:
        while True: pass
    if seed == 7:
        time.sleep(1000)
    if seed == 9:
        np.ones(2**31)
    outcomes["fine"] += 1
"""


@pytest.fixture
def troubled(tmp_path, monkeypatch):
    (tmp_path / "troubled.py").write_text(TROUBLED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return "troubled"


def test_errors_crashes_hangs_and_memory_are_found_with_their_seeds(troubled, capsys):
    figures = harness.run(troubled, first=1, cases=10, seconds=60, limit=0.3)
    assert figures.cases == 10 and figures.outcomes == {"fine": 5, "died": 3}
    found = {seeds[0]: what for what, seeds in figures.finds.items()}
    assert "KeyError" in found[3] and "SIGABRT" in found[5] and "MemoryError" in found[9]
    assert "CPU time" in found[6] and "hangs" in found[7]
    said = capsys.readouterr().out
    assert "python tests/fuzz/harness.py troubled --seed 6 --cases 1" in said
    assert "while True: pass" not in said and "in case" in said  # faulthandler says where it hung


@pytest.mark.parametrize(
    ("kind", "cases"), [("model_files", 60), ("data_files", 300), ("calls", 20), ("streams", 10)]
)
def test_a_short_run_finds_nothing(kind, cases, capsys):
    figures = harness.run(kind, first=1_000_300, cases=cases, seconds=300)
    assert not figures.finds, capsys.readouterr().out
    assert figures.cases == cases and figures.steps >= cases
