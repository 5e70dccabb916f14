"""The committed types of the compiled core are those that it has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.gate, pytest.mark.process]

ROOT = Path(__file__).parents[2]


def test_the_stubs_are_those_of_the_compiled_core(tmp_path: Path) -> None:
    pytest.importorskip("nanobind")
    env = os.environ | {"PYTHON": sys.executable}
    subprocess.run(["bash", str(ROOT / "scripts" / "stubs.sh"), str(tmp_path)], env=env, check=True)
    for name in ("__init__.pyi", "testing.pyi"):
        committed = ROOT / "src" / "boostline" / "_core" / name
        made = (tmp_path / "_core" / name).read_text()
        assert made == committed.read_text(), "run scripts/stubs.sh"
