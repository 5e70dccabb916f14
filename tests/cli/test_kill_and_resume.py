"""The script that kills at random moments; its docstring says what it compares."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill_and_resume.py"


@pytest.mark.slow
@pytest.mark.process
def test_random_kills_with_random_blocks_leave_no_trace():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--kills", "6"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 kills" in done.stdout
