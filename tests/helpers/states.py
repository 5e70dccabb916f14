"""Comparing models by all that they are: settings, arrays, and the states of learners written in Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def fingerprint(state: dict[str, Any]) -> tuple[Any, ...]:
    """All of a state, quick to compare."""
    arrays = {name: (a.dtype, a.shape, a.tobytes()) for name, a in state["arrays"].items()}
    return (arrays, *(repr(state[part]) for part in sorted(state) if part != "arrays"))


def assert_same_state(found: dict[str, Any], expected: dict[str, Any], where: str = "") -> None:
    """Two results of `model.state()` are the same, to the bit."""
    if fingerprint(found) == fingerprint(expected):
        return
    np.testing.assert_equal(
        {part: value for part, value in found.items() if part != "arrays"},
        {part: value for part, value in expected.items() if part != "arrays"},
        where,
    )
    assert found["arrays"].keys() == expected["arrays"].keys(), where
    for name, array in expected["arrays"].items():
        np.testing.assert_array_equal(found["arrays"][name], array, f"{where} {name}")


def assert_same_model(found: Any, expected: Any, where: str = "") -> None:
    """Two models have the same state, to the bit."""
    assert_same_state(found.state(), expected.state(), where)
