"""What happens inside a model along the stream: weights and loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.inspect.label_rows import LabelLosses

_COLUMNS = ("clock", "ranked", "loss", "weights")


@dataclass(frozen=True)
class Recording:
    """Snapshots of a model, the first row the earliest.

    Attributes
    ----------
    clock : ndarray (m,)
        Examples learned.
    ranked : ndarray (m,)
        Of these, examples with a pair to rank.
    loss : ndarray (m,)
        Sum of the rank losses of the scores given before learning.
    weights : ndarray (m, N)
        The factor of each learner's votes, as in `learners`.
    """

    clock: NDArray[np.int64]
    ranked: NDArray[np.int64]
    loss: FloatArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.clock)

    @property
    def mean_loss(self) -> FloatArray:
        """Mean rank loss of all examples until each snapshot."""
        return np.asarray(self.loss / np.maximum(self.ranked, 1))

    @property
    def recent_loss(self) -> FloatArray:
        """Mean rank loss of the examples between each snapshot and the one before; NaN if there were none."""
        loss, ranked = np.diff(self.loss, prepend=0.0), np.diff(self.ranked, prepend=0)
        result = np.full(len(self), np.nan)
        np.divide(loss, ranked, out=result, where=ranked > 0)
        return result


class Recorder:
    """Take snapshots of a model while it learns; keep at most ``2 * points``, evenly spaced.

    Call `record` after each block. If blocks end where `due` says, the snapshots do not depend on the size of the
    blocks.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import Recorder
    >>> model = bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(3))
    >>> recorder = Recorder(points=10)
    >>> for row in np.eye(2)[[0, 1] * 10]:
    ...     recorder.record(model, model.learn(row, row > 0), row > 0)
    >>> recorder.history.clock[-1], recorder.history.weights.shape[1]
    (np.int64(20), 3)
    """

    def __init__(self, points: int = 50) -> None:
        self._points = whole_number(points, "points", 2)
        self._step = 1
        self._rows: list[tuple[Any, ...]] = []
        self.labels: LabelLosses | None = None

    def record(self, model: Any, scores: Any = None, relevant: Any = None) -> None:
        """Take a snapshot if one is due. With `scores` from before learning, also record how labels are ranked."""
        if scores is not None and relevant is not None:
            if self.labels is None or self.labels.n_labels < model.n_labels:
                self.labels = _grown(self.labels, model.n_labels)
            self.labels.update(scores, relevant)
        clock = model.clock
        if self._rows and clock // self._step == self._rows[-1][0] // self._step:
            return
        self._rows.append(_snapshot(model))
        while len(self._rows) >= 2 * self._points:
            self._step *= 2
            self._rows = _thinned(self._rows, self._step)

    def due(self, clock: int) -> int:
        """Return the number of rows until the next snapshot, for a model that has learned `clock` rows."""
        return self._step - clock % self._step

    @property
    def history(self) -> Recording:
        """The snapshots so far."""
        columns = list(zip(*self._rows, strict=True)) if self._rows else [()] * len(_COLUMNS)
        clock, ranked = (np.array(column, dtype=np.int64) for column in columns[:2])
        loss, weights = (np.array(column, dtype=np.float64) for column in columns[2:])
        return Recording(clock, ranked, loss, weights.reshape(len(clock), -1 if len(clock) else 0))

    def state(self) -> dict[str, Any]:
        """Return the state as arrays and numbers, for `boostline.saving.save`."""
        history = self.history
        return {
            "points": self._points,
            "step": self._step,
            "labels": None if self.labels is None else self.labels.sums,
            **{name: getattr(history, name) for name in _COLUMNS},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Recorder:
        """Make a recorder that continues from a `state`."""
        recorder = cls(int(state["points"]))
        recorder._step = int(state["step"])
        columns = [np.asarray(state[name]) for name in _COLUMNS]
        if recorder._step < 1 or len({len(column) for column in columns}) != 1:
            raise ValueError("the state is not the state of a Recorder")
        recorder._rows = list(zip(*columns, strict=True))
        if state["labels"] is not None:
            sums = np.array(state["labels"], dtype=np.float64)
            recorder.labels = LabelLosses(sums.shape[1])
            recorder.labels.sums += sums
        return recorder


def _snapshot(model: Any) -> tuple[Any, ...]:
    return (
        model.clock,
        int(model.diagnostics.label_set_sizes.sum()),
        model.suffered_loss,
        model.learner_weights,
    )


def _thinned(rows: list[tuple[Any, ...]], step: int) -> list[tuple[Any, ...]]:
    """The first snapshot past each multiple of `step`."""
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        if not kept or row[0] // step != kept[-1][0] // step:
            kept.append(row)
    return kept


def _grown(losses: LabelLosses | None, n_labels: int) -> LabelLosses:
    grown = LabelLosses(n_labels)
    if losses is not None:
        grown.sums[:, : losses.n_labels] = losses.sums
    return grown
