"""Allocations that fail on purpose: only a core built with BOOSTLINE_FAULTS=ON can do that."""

import pytest

from boostline import _core


def grant_allocations(n: int, only_one: bool = False) -> int:
    """See `_core.testing.grant_allocations`; skips the test if the core is built without it."""
    if not _core.testing.has_faults():
        pytest.skip("the core is built without BOOSTLINE_FAULTS=ON")
    return _core.testing.grant_allocations(n, only_one)
