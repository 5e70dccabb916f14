"""What the data tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def shared_data() -> Path:
    """Folder with the MULAN files; the test is skipped where there is none."""
    folder = os.environ.get("BOOSTLINE_DATA")
    if not folder:
        pytest.skip("BOOSTLINE_DATA is not set: the MULAN files are not on this machine")
    return Path(folder)
