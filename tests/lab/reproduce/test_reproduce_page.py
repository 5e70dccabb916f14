"""docs/reproduce.md: the options it names are there."""

import re
import subprocess
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.process
def test_options_exist(command, environment):
    wide = {**environment, "COLUMNS": "200"}
    done = subprocess.run(
        [*command, "--help"], env=wide, capture_output=True, text=True, check=True
    )
    named = set(re.findall(r"--[a-z][a-z-]+", (DOCS / "reproduce.md").read_text()))
    assert named and named <= set(re.findall(r"--[a-z][a-z-]+", done.stdout))
