"""What the tests of `boostline reproduce` share."""

import os
import sys
from pathlib import Path

import pytest
from reproduce_helpers import make_data

import boostline

SOURCE = Path(boostline.__file__).parents[1]


@pytest.fixture
def toy():
    return make_data()


@pytest.fixture
def environment():
    """Environment for processes that import boostline as this one does."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    # A terminal of a known width, whatever the tests are run in.
    return {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), "COLUMNS": "80"}


@pytest.fixture
def command():
    return [sys.executable, "-m", "boostline", "reproduce"]
