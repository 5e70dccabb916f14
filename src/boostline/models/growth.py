"""Labels and features that come while a model runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boostline import _core
from boostline.contract.frames import distinct
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import whole_number
from boostline.learners import Description
from boostline.learners.python import Adapter, FromPython
from boostline.models.record import Record
from boostline.models.undo import Undo
from boostline.saving.limits import least_bytes, machine_bytes, too_little_memory_to_grow


class CannotGrow(TypeError):
    """A learner written in Python has no method for it."""


class Growth(Record):
    """The part of `Booster` that makes room for new labels and features."""

    _lock: _core.TurnLock  # see _turn
    _n_labels: int
    _labels: list[Any] | None
    _space: LabelSpace
    _n_features: int | None
    _features: list[Any] | None
    _learners: list[Description]
    _resolved: list[Description] | None

    def _turn(self) -> _core.TurnLock:
        """For `with`: calls that change the model, or need all of it, come one after the other."""
        if self._native is not None:
            self._lock.check(self._native)
        return self._lock

    def add_labels(self, labels: int | Sequence[Any]) -> None:
        """Make room for new labels: their number, or their names if labels have names.

        The new labels come last, and start like labels that have never been seen. The bounds of
        `boostline.lab.theory` hold for the whole run: each round counts with the number of labels that it had.
        """
        with self._turn():
            self._catch_up()
            self._add_labels(labels)

    def _add_labels(self, labels: int | Sequence[Any]) -> None:
        if isinstance(labels, int | np.integer):
            if self._labels is not None:
                raise TypeError(
                    "this model's labels have names, so pass the names of the new labels"
                )
            n_new, names = whole_number(labels, "labels", 1), None
        else:
            if self._labels is None:
                raise TypeError(
                    "this model's labels have no names, so pass the number of new labels"
                )
            names = distinct([*self._labels, *distinct(labels, "labels")], "labels")
            n_new = len(names) - self._n_labels
        n = whole_number(self._n_labels + n_new, "n_labels", 2, 2**24)
        self._refuse_rigid_learners("grow_labels", "labels")
        space = LabelSpace(n, names)
        # The names first: a thread that ranks meanwhile then finds a name for every label.
        before, self._labels = self._labels, names
        try:
            if self._native is None:
                self._grow_learners(n)
            else:
                self._grow(self._native, lambda native: native.grow_labels(n), n_labels=n)
        except BaseException:
            self._labels = before
            raise
        self._n_labels = n
        self._space = space
        if self._native is not None:
            self._after_growth(self._native)

    def rename_labels(self, names: Mapping[Any, Any]) -> None:
        """Give labels other names; nothing else changes.

        Parameters
        ----------
        names
            Old names and the new ones.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(labels=["sun", "rain"])
        >>> model.rename_labels({"rain": "drizzle"})
        >>> model.labels
        ['sun', 'drizzle']
        """
        with self._lock:
            self._catch_up()
            if self._labels is None:
                raise TypeError("this model's labels have no names, so there is none to change")
            for old in names:
                if old not in self._labels:
                    raise ValueError(f"names has label {old!r}, but the model has no such label")
            renamed = distinct([names.get(label, label) for label in self._labels], "names")
            self._labels = renamed
            self._space = LabelSpace(self._n_labels, renamed)

    def add_features(self, features: int | Sequence[Any], *, past_values: str = "missing") -> None:
        """Make room for new features: their number, or their names if features have names.

        They come last in the rows from now on.

        Adding them changes no score. The built-in learners use the new features as their values come in, except trees,
        which keep the covariates they started with, and the kernel, once its landmarks are complete.

        Parameters
        ----------
        features
            How many, or what they are called.
        past_values
            What they were in the rows so far: "missing", or "zero", like words that had not occurred yet.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(3)
        >>> _ = model.learn([1.0, 2.0], {0})
        >>> model.add_features(1)
        >>> model.learn([1.0, 2.0, 0.5], {0}).shape
        (3,)
        """
        with self._turn():
            self._catch_up()
            self._add_features(features, past_values)

    def _add_features(self, features: int | Sequence[Any], past_values: str) -> None:
        n, names = self._new_features(features)
        if past_values not in ("missing", "zero"):
            raise ValueError(f"past_values is {past_values!r}, but must be 'missing' or 'zero'")
        if self._native is None or self._n_features is None:
            raise RuntimeError(
                "features can be added only after the first example has been learned, because it sets their number"
            )
        total = whole_number(self._n_features + n, "n_features", 1, 2**31 - 1)
        self._refuse_rigid_learners("grow_features", "features")
        # Names first, as with labels.
        before, self._features = self._features, names
        try:
            self._grow(
                self._native,
                lambda native: native.grow_features(total, past_values == "missing"),
                n_features=total,
            )
        except BaseException:
            self._features = before
            raise
        self._n_features = total

    def _new_features(self, features: int | Sequence[Any]) -> tuple[int, list[Any] | None]:
        """How many there are, and the names of all features."""
        if isinstance(features, int | np.integer):
            if self._features is not None:
                raise TypeError(
                    f"features is {features}, but must be the names of the new features, because this model's "
                    "features have names"
                )
            return whole_number(features, "features", 1, 2**31 - 1), None
        if self._features is None:
            raise TypeError(
                f"features is {features!r}, but must be the number of new features, because this model's "
                "features have no names"
            )
        names = distinct([*self._features, *distinct(features, "features")], "features")
        return whole_number(len(names) - len(self._features), "len(features)", 1), names

    def _refuse_rigid_learners(self, method: str, what: str) -> None:
        for description in self._resolved or ():
            if isinstance(description, FromPython) and not hasattr(description.learner, method):
                name = type(description.learner).__name__
                raise CannotGrow(
                    f"{name} has no {method}(n_{what}), so no {what} can be added to the model"
                )

    def _grow(
        self,
        native: _core.Model,
        grow: Callable[[_core.Model], None],
        *,
        n_labels: int | None = None,
        n_features: int | None = None,
    ) -> None:
        """Let the compiled model grow to so many labels or features: if it cannot, nothing has changed."""
        size = (n_labels or native.n_labels(), n_features or native.n_features())
        held = native.memory_bytes()
        needed = max(held, least_bytes(self._resolved or (), *size))
        if needed + held > machine_bytes():
            raise MemoryError(too_little_memory_to_grow(*size, needed, held))
        try:
            undo = Undo(native, n_rows=1)
            try:
                grow(native)
            except BaseException:
                undo.run()
                raise
        except MemoryError as error:  # the machine had enough, but not now
            raise MemoryError(too_little_memory_to_grow(*size, needed, held)) from error

    def _grow_learners(self, n_labels: int) -> None:
        """Tell the learners written in Python, as the compiled model does once there is one."""
        adapters = [
            Adapter(description.learner, self._n_labels)
            for description in self._learners
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

    def _catch_up(self) -> None:
        """Go by the compiled model's numbers of labels and features.

        They differ only in a process forked while another thread had the compiled model grow.
        """
        if self._native is None:
            return
        n_labels, n_features = self._native.n_labels(), self._native.n_features()
        if n_labels != self._n_labels or len(self._labels or ()) > n_labels:
            self._n_labels = n_labels
            self._labels = self._labels and self._labels[:n_labels]
            self._space = LabelSpace(n_labels, self._labels)
        self._n_features = n_features
        self._features = self._features and self._features[:n_features]

    def _after_growth(self, native: _core.Model) -> None:
        """Forget what depends on the number of labels."""
