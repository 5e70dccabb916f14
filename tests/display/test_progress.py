"""One progress bar for everything that takes long."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import boostline
from boostline.display import progress
from boostline.display.progress import show_progress

SOURCE = Path(boostline.__file__).parent


def shown(text: str) -> str:
    """Return what a terminal shows, without what moves its cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_bars_are_made_in_one_place():
    makers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "rich.progress" in path.read_text()
    }
    assert makers == {"display/progress.py"}


def test_without_a_terminal_nothing_is_shown(capsys):
    with show_progress(None, "rows.csv", 10, "rows") as advance:
        advance(10)
    assert not advance.shown and advance.done == 10
    assert capsys.readouterr() == ("", "")


def test_a_bar_says_what_how_many_and_how_long(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    now = 100.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with show_progress(None, "[rows].csv", 10_000, "rows", done=2_000) as advance:
        now = 110.0
        advance(4_000, note="rank loss 0.1234")
    out, err = capsys.readouterr()
    # 4,000 rows took 10 s, 4,000 are left; those of an earlier call took none of it.
    for part in ("[rows].csv", "6,000 of 10,000 rows", "0:00:10 left", "rank loss 0.1234"):
        assert part in shown(err)
    assert out == ""


def test_time_left_goes_by_the_cost_of_what_is_left(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with show_progress(None, "runs", 2, "runs", work=100.0) as advance:
        now = 1.0
        advance(1, work=1.0)
    assert "1 of 2 runs" in (err := shown(capsys.readouterr().err)) and "0:01:39 left" in err


@pytest.mark.parametrize(("total", "text"), [(2_500_000, "1.5 of 2.5 MB"), (None, "1.5 MB")])
def test_bytes_are_megabytes(monkeypatch, capsys, total, text):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    with show_progress(None, "a.arff", total, "bytes") as advance:
        advance.to(2_000_000)
        advance.to(1_500_000)  # begun anew
    assert text in shown(capsys.readouterr().err)
