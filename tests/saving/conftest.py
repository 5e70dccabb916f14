"""What tests of hostile files share."""

import resource
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def limited_memory():
    """A hostile file that makes the loader allocate gigabytes fails here instead of going unnoticed."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
