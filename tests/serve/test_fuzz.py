"""Requests that nobody would send.

`python tests/helpers/fuzzed_requests.py` asks 50,000 of them without a network, `fuzzed_wire.py` on connections.
"""

from __future__ import annotations

import fuzzed_wire
import pytest
from fuzzed_requests import fuzzed


@pytest.mark.gate
def test_odd_requests_are_refused_and_never_an_internal_error(tmp_path):
    statuses, _ = fuzzed(str(tmp_path), 500, seed=1)
    assert statuses[200] > 50 and statuses[422] > 50 and 500 not in statuses


@pytest.mark.gate
@pytest.mark.process
def test_odd_bytes_on_connections_are_no_error_and_nobody_hears_of_others(tmp_path):
    statuses, _ = fuzzed_wire.fuzzed(str(tmp_path), 480, seed=2)
    assert statuses[200] > 50 and statuses[422] > 20 and statuses[400] > 20
