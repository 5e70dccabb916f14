"""Weak learners written in Python: any object with ``predict`` and ``learn``."""

from __future__ import annotations

import copy
import sys
import warnings
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostline import _core
from boostline.array_types import BoolArray, FloatArray
from boostline.learners.description import Description
from boostline.learners.encodings import _Encoded

# How far the sum of a distribution may be from 1, and how far below 0 a vote may lie, by rounding.
_ROUNDING = 1e-6


@runtime_checkable
class PythonLearner(Protocol):
    """Interface of a weak learner written in Python.

    ``predict`` must not change the learner. ``relevant`` is an indicator of length k, and ``costs`` are in [0, 1].
    The loss of the learner is ``weight * costs @ votes``, so it should vote for labels with low costs.
    """

    def predict(self, x: Any) -> ArrayLike:
        """Return votes: a distribution over the k labels."""
        ...

    def learn(self, x: Any, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Learn from one example."""
        ...


class FromPython(Description):
    """The description of a learner written in Python: the object itself."""

    kind: ClassVar[str] = "python"

    def __init__(self, learner: Any) -> None:
        if isinstance(learner, type):
            raise TypeError(
                f"learners has the class {learner.__name__}, but must have an object: {learner.__name__}(...)"
            )
        if not isinstance(learner, PythonLearner):
            raise TypeError(
                f"learners has {learner!r}, but must have learners from boostline.learners or objects with "
                "predict(x) and learn(x, relevant, costs, weight)"
            )
        if not (hasattr(learner, "get_state") and hasattr(learner, "set_state")):
            warnings.warn(
                f"{type(_innermost(learner)).__name__} has no get_state() and set_state(state), so that models with it "
                "cannot be saved",
                stacklevel=2,
            )
        self.learner = learner

    @property
    def name(self) -> str:
        return type(self.learner).__qualname__

    @property
    def votes_single_label(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.learner, "votes_single_label", False))

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        return 0  # the memory of Python objects is not counted

    def within(self) -> Description | None:
        return self

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        return _core.PythonLearner(Adapter(self.learner, n_labels), n_labels)

    def config(self) -> dict[str, Any]:
        cls = type(self.learner)
        return {"kind": self.kind, "class": f"{cls.__module__}.{cls.__qualname__}"}


class Adapter:
    """Stands between the core and a Python learner: checks its votes, undoes what it learned on errors."""

    def __init__(self, learner: Any, n_labels: int) -> None:
        self.learner = learner
        self.n_labels = n_labels
        self.votes_single_label = bool(getattr(learner, "votes_single_label", False))

    def votes(self, x: Any) -> FloatArray:
        row = _as_row(x)
        if isinstance(self.learner, _Encoded):
            given: Any = self.learner.predict(row, self.n_labels)
        else:
            given = self.learner.predict(row)
        name = type(self.learner).__name__
        try:
            votes = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{name}.predict returned {given!r}, but must return a distribution over the labels"
            ) from error
        if votes.shape != (self.n_labels,):
            raise ValueError(
                f"{name}.predict returned shape {votes.shape}, but must return ({self.n_labels},)"
            )
        total = float(votes.sum())
        if not abs(total - 1.0) <= _ROUNDING or not (votes >= -_ROUNDING).all():
            raise ValueError(
                f"{name}.predict returned votes that are not a distribution (sum {total:g}, smallest "
                f"{votes.min():g}); see boostline.learners.encodings"
            )
        # Potentials of the rank loss, and the bounds that come with them, rest on it.
        if self.votes_single_label and not votes.max() >= 1.0 - _ROUNDING:
            raise ValueError(
                f"{name}.predict returned a largest vote of {votes.max():g}, but must put all of it on one label, "
                "because votes_single_label is True"
            )
        return votes

    def learn(self, x: Any, relevant: NDArray[np.uint8], costs: FloatArray, weight: float) -> None:
        self.learner.learn(_as_row(x), relevant.astype(bool), costs, weight)

    def grow_labels(self, n_labels: int) -> None:
        self.learner.grow_labels(n_labels)
        self.n_labels = n_labels

    def grow_features(self, n_features: int, were_missing: bool) -> None:
        self.learner.grow_features(n_features)

    def memory_bytes(self) -> int:
        return sys.getsizeof(self.learner)

    def copy(self) -> Adapter:
        return Adapter(copy.deepcopy(self.learner), self.n_labels)

    def alias(self) -> Adapter:
        return Adapter(self.learner, self.n_labels)

    def snapshot(self) -> Any:
        """Keep what `restore` needs to take back what the learner learns from now on."""
        target = _innermost(self.learner)
        if hasattr(target, "get_state") and hasattr(target, "set_state"):
            return copy.deepcopy(target.get_state())
        return copy.deepcopy(getattr(target, "__dict__", None))

    def restore(self, snapshot: Any) -> None:
        target = _innermost(self.learner)
        if hasattr(target, "get_state") and hasattr(target, "set_state"):
            target.set_state(snapshot)
        elif snapshot is not None:
            target.__dict__.clear()
            target.__dict__.update(snapshot)


def _innermost(learner: Any) -> Any:
    return learner.learner if isinstance(learner, _Encoded) else learner


def _as_row(x: Any) -> Any:
    if not isinstance(x, tuple):
        return x
    from scipy.sparse import csr_array

    indices, values, n_features = x
    return csr_array((values, indices, np.array([0, len(values)])), shape=(1, n_features))
