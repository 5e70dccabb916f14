"""docs/reproduce.md: its Python runs, and the options it names are there."""

import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_code_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "reproduce.md").read_text()
    [block] = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(compile(block, "reproduce.md", "exec"), {})
    assert "report.html" in capsys.readouterr().out


def test_options_exist(command, environment):
    wide = {**environment, "COLUMNS": "200"}
    done = subprocess.run(
        [*command, "--help"], env=wide, capture_output=True, text=True, check=True
    )
    named = set(re.findall(r"--[a-z][a-z-]+", (DOCS / "reproduce.md").read_text()))
    assert named and named <= set(re.findall(r"--[a-z][a-z-]+", done.stdout))
