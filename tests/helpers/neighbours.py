"""Neighbours bring versions of their own: each has an environment of its own, made for its test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import boostline


def environment(folder: Path, *requirements: str) -> tuple[Path, dict[str, str]]:
    """Make an environment with the given requirements and boostline; return its Python and the variables to set."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *requirements], check=False, capture_output=True, text=True)
    if "no matching distribution" in done.stderr.lower() or "connection" in done.stderr.lower():
        pytest.skip(f"no package index within reach: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    # The boostline that is tested, and nothing else of this environment.
    (folder / "path").mkdir()
    (folder / "path" / "boostline").symlink_to(Path(boostline.__file__).parent)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BOOSTLINE", "PYTHON"))}
    return python, {**kept, "PYTHONPATH": str(folder / "path")}
