"""Benchmarks append to their history, and it reads back."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def history() -> ModuleType:
    spec = importlib.util.spec_from_file_location("history", BENCHMARKS / "history.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.process
def test_a_line_for_each_run(history: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    history.append("speed", {"ratio": 123.456789}, file)
    history.append("speed", {"ratio": 2.0, "other": 0.5}, file)
    first, second = history.read(file)
    assert first["figures"] == {"ratio": 123.5}
    assert second["figures"] == {"ratio": 2.0, "other": 0.5}
    assert first["benchmark"] == "speed" and len(first["date"]) == len("2026-01-31")
    assert first["machine"]["cores"] >= 1


def test_the_history_that_is_kept_reads_back(history: ModuleType) -> None:
    for line in history.read():
        assert {"date", "commit", "benchmark", "figures", "machine"} <= line.keys()
        assert all(value > 0 for value in line["figures"].values())
