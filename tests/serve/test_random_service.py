"""Ten seeds of scripts/random_service.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/random_service.py"


@pytest.mark.gate
@pytest.mark.process
def test_random_calls_kills_and_full_disks_lose_nothing():
    command = [sys.executable, str(SCRIPT), "--seeds", "10", "--lives", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
