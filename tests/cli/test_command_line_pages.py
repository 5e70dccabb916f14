"""Every shell block of the page on the command line runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import FEATURES, rows, write_csv

pytestmark = pytest.mark.process

DOCS = Path(__file__).parents[2] / "docs"


def test_shell_blocks_run(tmp_path):
    blocks = re.findall(
        r"^```console\n(.*?)^```", (DOCS / "command-line.md").read_text(), re.M | re.S
    )
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    assert len(lines) > 10
    X, Y = rows(300)
    write_csv(tmp_path / "data.csv", X, Y)
    new = [",".join(["name", *FEATURES]), *(f"n{i}," + ",".join(map(str, X[i])) for i in range(3))]
    (tmp_path / "new.csv").write_text("\n".join(new) + "\n")
    script = f'set -euo pipefail\nboostline() {{ "{sys.executable}" -m boostline "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", script + "\n".join(lines)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "m.html").exists() and (tmp_path / "piped.blm").exists()
