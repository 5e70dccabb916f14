"""The state of a model: what describes it, its arrays, and the model that is made of them again."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.contract.numbers import whole_number
from boostline.learners import Description, HoeffdingTree, from_config
from boostline.learners.python import FromPython
from boostline.models.growth import Growth
from boostline.saving.states import InMemory, copied, own_array, restore

_BOOSTERS: dict[str, type[State]] = {}


class State(Growth):
    """The part of `Booster` that says what a model is made of; `load`, `pickle` and `copy` go the same way back."""

    algorithm: ClassVar[str]
    _seed: int
    n_threads: int
    features: list[Any] | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "algorithm" in cls.__dict__:
            _BOOSTERS[cls.algorithm] = cls

    # What the algorithms supply.

    def _make_native(self, learners: list[_core.Learner], n_features: int) -> _core.Model:
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """The algorithm's own arguments, as JSON-able values."""
        raise NotImplementedError

    def _live_settings(self) -> dict[str, Any]:
        """The same as objects, where the values say less."""
        return self._settings()

    # Out.

    def config(self) -> dict[str, Any]:
        """Return the settings from which the model can be made again, as values for JSON."""
        resolved = self._resolved if self._native is not None else None
        return {
            "algorithm": self.algorithm,
            "n_labels": self._n_labels,
            "labels": self._labels,
            "n_features": self._n_features,
            "features": self._features,
            "seed": self._seed,
            "settings": self._settings(),
            "learners": [d.config() for d in self._learners],
            "resolved": None if resolved is None else [d.config() for d in resolved],
        }

    def state(self) -> dict[str, Any]:
        """Return the complete state as `save` writes it: ``config`` (values for JSON) and ``arrays`` (name -> array).

        Arrays of learner i are named ``learners.i.<name>``; see the file format in the docs.
        """
        with self._turn():
            self._catch_up()
            python = {
                str(i): copy.deepcopy(d.learner.get_state())
                for i, d in enumerate(self._resolved or ())
                if isinstance(d, FromPython) and hasattr(d.learner, "get_state")
            }
            return {"config": self.config(), "arrays": self._arrays(), "python": python}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        if self._native is None:
            return {}
        return copied(self._native, len(self._resolved or ()))

    def _own(self, name: str) -> NDArray[Any]:
        native = self._native
        if native is None:
            # Before the first example these arrays depend on the number of votes alone: stand-ins serve.
            n = sum(d.n_votes for d in self._learners)
            stand_ins = [HoeffdingTree(features=(0,)).build(self._n_labels, 1) for _ in range(n)]
            native = self._make_native(stand_ins, 1)
        return own_array(native, name)

    def save(self, path: str | PathLike[str], extra: dict[str, Any] | None = None) -> None:
        """Save the model to a file; `boostline.load` reads it. An old file is replaced when the new one is complete.

        ``extra`` is saved with the model, see `boostline.saving.save`.
        """
        from boostline.saving import save

        save(self, path, extra)  # type: ignore[arg-type]

    # And in again.

    @classmethod
    def from_config(cls, config: dict[str, Any], python_learners: Sequence[Any] = ()) -> Self:
        """Make the model that `config` describes, with learners as new.

        Learners written in Python cannot be made from a description: they are taken from ``python_learners`` in order.
        """
        algorithm = config.get("algorithm")
        if algorithm not in _BOOSTERS:
            raise ValueError(
                f"algorithm is {algorithm!r}, but must be one of {', '.join(_BOOSTERS)}"
            )
        make: Any = cls if getattr(cls, "algorithm", None) == algorithm else _BOOSTERS[algorithm]

        def described(learners: Sequence[Any]) -> Any:
            return make(
                config["n_labels"],
                labels=config["labels"],
                learners=_described(learners, python_learners),
                seed=config["seed"],
                **config["settings"],
            )

        model = described(config["learners"])
        if config["resolved"] is not None:
            model._resolved = described(config["resolved"])._learners
            n_features = whole_number(config["n_features"], "n_features", 1, 2**31 - 1)
            built = [d.build(model._n_labels, n_features) for d in model._resolved]
            model._native = model._make_native(built, n_features)
            model._n_features = n_features
        model.features = config["features"]
        return model  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        with self._turn():
            self._catch_up()
            config = {**self.config(), "settings": self._live_settings()}
            chosen = self._learners if self._resolved is None else self._resolved
            learners = [d.learner for d in chosen if isinstance(d, FromPython)]
            return _restored, (type(self), config, learners, self._arrays(), self.n_threads)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._lock:
            self._catch_up()
            native = self._cloned()
            if native is not None:
                twin = object.__new__(type(self))
                own = {k: v for k, v in self.__dict__.items() if k not in ("_native", "_lock")}
                twin.__dict__.update(
                    copy.deepcopy(own, memo), _native=native, _lock=_core.TurnLock()
                )
                return twin
        make, arguments = self.__reduce__()
        return make(*copy.deepcopy(arguments, memo))  # type: ignore[no-any-return]

    def _cloned(self) -> _core.Model | None:
        """A copy of the compiled model, which takes a millisecond; None if it cannot be copied alone."""
        if self._native is None or self._native.python_adapters():
            return None
        native = self._native.clone()
        native.set_threads(self.n_threads)
        return native

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


def _restored(
    kind: type[State],
    config: dict[str, Any],
    learners: list[Any],
    arrays: dict[str, NDArray[np.generic]],
    n_threads: int,
) -> State:
    model = kind.from_config(config, learners)
    restore(model, InMemory(arrays))
    model.n_threads = n_threads
    return model


def _described(configs: Sequence[Any], python_learners: Sequence[Any]) -> list[Description]:
    given = iter(python_learners)
    return [
        _next_python(given, c) if c.get("kind") == FromPython.kind else from_config(c)
        for c in configs
    ]


def _next_python(given: Any, config: dict[str, Any]) -> FromPython:
    try:
        return FromPython(next(given))
    except StopIteration:
        raise ValueError(
            f"the model has a learner written in Python ({config.get('class')}); pass these objects in the same "
            "order as learners="
        ) from None
