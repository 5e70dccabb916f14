"""The compiled model behind a `Booster`: how it is made, learns, grows and is copied.

A call that fails leaves no trace, also where only a learner written in Python finds out that it is bad.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import FloatArray
from boostline.contract.label_sets import LabelSets
from boostline.contract.rows import Rows
from boostline.learners import Description
from boostline.learners.python import Adapter, FromPython
from boostline.saving.limits import (
    least_bytes,
    machine_bytes,
    too_little_memory,
    too_little_memory_to_grow,
)
from boostline.saving.states import copied, own_array


class CannotGrow(TypeError):
    """A learner written in Python has no method for it."""


class Native:
    """A compiled model and the descriptions that its learners were built from.

    Parameters
    ----------
    learners
        Descriptions with all settings drawn.
    n_labels, n_features
        Size of the model.
    make
        Makes the compiled model from the compiled learners.
    """

    def __init__(
        self,
        learners: Sequence[Description],
        n_labels: int,
        n_features: int,
        make: Callable[[list[_core.Learner]], _core.Model],
    ) -> None:
        size = (learners, n_labels, n_features)
        if least_bytes(*size) > machine_bytes():
            raise MemoryError(too_little_memory(*size))
        try:
            self.core = make([d.build(n_labels, n_features) for d in learners])
        except MemoryError as error:  # the machine had enough, but not now
            raise MemoryError(too_little_memory(*size)) from error
        self.learners = list(learners)
        self.python_learners = [d for d in learners if isinstance(d, FromPython)]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.core.n_features()

    def learn(
        self,
        rows: Rows,
        sets: LabelSets,
        weights: FloatArray,
        return_scores: bool,
        with_probabilities: bool,
    ) -> FloatArray:
        """Learn rows; the scores from before each, (n, k), with the probabilities behind them if wanted.

        A row is learned by all learners or by none. With learners written in Python a failed call is undone as a
        whole. Without them the rows before Ctrl-C, or before memory ran out, stay learned.
        """
        clock = self.core.clock()
        undo = None
        try:
            undo = Undo(self.core, rows.n) if self.python_learners else None
            return self.core.learn(rows, sets.native, weights, return_scores, with_probabilities)
        except BaseException as error:
            if undo is not None:
                undo.run()
            if isinstance(error, MemoryError):
                now = self.core.clock()
                raise MemoryError(
                    f"there is not enough memory to learn all {rows.n} rows: the first {now - clock} were learned, "
                    f"the others were not; clock is {now}"
                ) from error
            raise

    def grow(
        self,
        change: Callable[[_core.Model], None],
        n_labels: int,
        n_features: int,
        learners: Sequence[Description],
    ) -> None:
        """Let ``change`` enlarge the compiled model to a size; if it cannot, nothing has changed.

        ``learners`` are the descriptions at the new size: their caps may be smaller.
        """
        held = self.core.memory_bytes()
        needed = max(held, least_bytes(self.learners, n_labels, n_features))
        if needed + held > machine_bytes():
            raise MemoryError(too_little_memory_to_grow(n_labels, n_features, needed, held))
        try:
            undo = Undo(self.core, n_rows=1)
            try:
                change(self.core)
                if learners is not self.learners:
                    for i, learner in enumerate(learners):
                        self.core.set_max_bytes(i, learner.caps)
            except BaseException:
                undo.run()
                raise
        except MemoryError as error:  # the machine had enough, but not now
            raise MemoryError(
                too_little_memory_to_grow(n_labels, n_features, needed, held)
            ) from error
        self.learners = list(learners)

    def array(self, name: str) -> NDArray[Any]:
        """One of the booster's own arrays."""
        return own_array(self.core, name)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays, as they are in a file."""
        return copied(self.core, len(self.learners))

    def copy(self, n_threads: int) -> Native | None:
        """A copy, which takes a millisecond; None if learners written in Python have to be copied as well."""
        if self.python_learners:
            return None
        twin = object.__new__(Native)
        twin.core, twin.learners, twin.python_learners = self.core.clone(), self.learners, []
        twin.core.set_threads(n_threads)
        return twin


class Undo:
    """Takes back what a failed call has done, where learners written in Python can make a call fail."""

    def __init__(self, core: _core.Model, n_rows: int) -> None:
        self._core = core
        self._adapters = core.python_adapters()
        self._snapshots = [adapter.snapshot() for adapter in self._adapters]
        # In a single row Python learners come first: nothing compiled has changed when one of them fails.
        self._before = core.clone(share_serial=True) if self._adapters and n_rows > 1 else None

    def run(self) -> None:
        """Take everything back, if there are such learners."""
        for adapter, snapshot in zip(self._adapters, self._snapshots, strict=True):
            adapter.restore(snapshot)
        if self._before is not None:
            self._core.restore(self._before)


def refuse_rigid_learners(learners: Sequence[Description], method: str, what: str) -> None:
    """Raise an error if a learner written in Python cannot grow."""
    for description in learners:
        if isinstance(description, FromPython) and not hasattr(description.learner, method):
            name = type(description.learner).__name__
            raise CannotGrow(
                f"{name} has no {method}(n_{what}), so no {what} can be added to the model"
            )


def grow_python_learners(learners: Sequence[Description], n_before: int, n_labels: int) -> None:
    """Tell learners written in Python of new labels before there is a compiled model to do it."""
    adapters = [
        Adapter(description.learner, n_before)
        for description in learners
        if isinstance(description, FromPython) and hasattr(description.learner, "grow_labels")
    ]
    snapshots = [adapter.snapshot() for adapter in adapters]
    try:
        for adapter in adapters:
            adapter.grow_labels(n_labels)
    except BaseException:
        for adapter, snapshot in zip(adapters, snapshots, strict=True):
            adapter.restore(snapshot)
        raise
