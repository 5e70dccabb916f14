"""Requests that nobody would send; `python tests/helpers/fuzzed_requests.py` asks 50,000 of them."""

from __future__ import annotations

import pytest
from fuzzed_requests import fuzzed


@pytest.mark.gate
def test_odd_requests_are_refused_and_never_an_internal_error(tmp_path):
    statuses, _ = fuzzed(str(tmp_path), 500, seed=1)
    assert statuses[200] > 50 and statuses[422] > 50 and 500 not in statuses
