"""Learners written in Python that go wrong on demand."""

from __future__ import annotations

from typing import Any

import numpy as np


class Trouble:
    """What the learners' next calls do; shared by all of them, so that it is no part of any state."""

    def __init__(self) -> None:
        self.calls_left: int | None = None
        self.error: BaseException | None = None

    def plan(self, calls: int, error: BaseException | None) -> None:
        """After so many calls raise `error`, or, if it is None, vote with what is no distribution."""
        self.calls_left, self.error = calls, error

    def off(self) -> None:
        """No trouble from now on."""
        self.calls_left = None

    def is_due(self) -> bool:
        """Count a call; raise the error if its time has come, or say that a bad vote is due."""
        if self.calls_left is None:
            return False
        self.calls_left -= 1
        if self.calls_left >= 0:
            return False
        if self.error is not None:
            raise self.error
        return True


TROUBLE = Trouble()


class _Counter:
    """Counts of the labels, for the sign of the first feature."""

    def __init__(self, n_labels: int) -> None:
        self.counts = np.ones((2, n_labels))

    def row(self, x: Any) -> Any:
        dense = x.toarray()[0] if hasattr(x, "toarray") else x
        return self.counts[int(dense[0] > 0)]

    def learn(self, x: Any, relevant: Any, costs: Any, weight: float) -> None:
        self.row(x)[:] += weight * relevant
        TROUBLE.is_due()  # after the change, so that it has to be undone

    def grow_labels(self, n_labels: int) -> None:
        missing = n_labels - self.counts.shape[1]
        self.counts = np.hstack([self.counts, np.ones((2, missing))])
        TROUBLE.is_due()

    def grow_features(self, n_features: int) -> None:
        TROUBLE.is_due()

    def reset(self) -> None:
        self.counts = np.ones_like(self.counts)

    def get_state(self) -> Any:
        return {"counts": self.counts.copy()}

    def set_state(self, state: Any) -> None:
        self.counts = np.array(state["counts"], dtype=float)


class Counting(_Counter):
    """Votes with the frequencies of the labels."""

    def predict(self, x: Any) -> Any:
        row = self.row(x)
        return np.full(len(row), np.nan) if TROUBLE.is_due() else row / row.sum()


class CountingOne(_Counter):
    """Votes for the most frequent label."""

    def predict(self, x: Any) -> Any:
        return -1 if TROUBLE.is_due() else int(self.row(x).argmax())
