"""The arrays of a model by name, out of the core and in again: one way each, for files, pickles and copies."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boostline.saving.container import DTYPES, Stored, bytes_of, dtype_name
from boostline.saving.errors import LoadError

if TYPE_CHECKING:
    from boostline import _core

#: The booster itself, where the core is asked for the arrays of a learner.
OWN = -1


def _prefix(learner: int) -> str:
    return "" if learner == OWN else f"learners.{learner}."


def held(state: _core.StoredState, learner: int) -> dict[str, Stored]:
    """The arrays of a learner, or of the booster itself, in a model that is held."""
    return {
        _prefix(learner) + name: Stored(
            DTYPES[kind], (n,), functools.partial(state.write, learner, name)
        )
        for name, kind, n in state.arrays(learner)
    }


def copied(native: _core.Model, n_learners: int) -> dict[str, NDArray[Any]]:
    """All arrays of a compiled model, at one moment."""
    return native.hold(
        lambda state: {
            name: array.read()
            for learner in range(OWN, n_learners)
            for name, array in held(state, learner).items()
        }
    )


def own_array(native: _core.Model, name: str) -> NDArray[Any]:
    """One array of the booster itself."""
    return native.hold(lambda state: held(state, OWN)[name].read())


class Source(Protocol):
    """Where arrays come from: an `ArrayFile`, or a mapping. Entries have a ``dtype`` and a ``shape``."""

    @property
    def entries(self) -> Mapping[str, Any]: ...
    def read_into(self, name: str, first: int, buffer: memoryview) -> None: ...


class _InMemory:
    """Arrays of a pickle or a copy, read like those of a file."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.entries = arrays

    def read_into(self, name: str, first: int, buffer: memoryview) -> None:
        np.asarray(buffer)[:] = bytes_of(self.entries[name])[first : first + len(buffer)]


def restore(
    core: _core.Model | None, kinds: Sequence[str], arrays: Source | Mapping[str, NDArray[Any]]
) -> None:
    """Fill a model with learners of these kinds, piece by piece; every array must be there, fit, and belong to one."""
    source = _InMemory(arrays) if isinstance(arrays, Mapping) else arrays
    names = by_owner(source.entries)
    for i, kind in enumerate(["booster", *kinds], OWN):
        given, wanted = names.pop(None if i == OWN else str(i), []), list[str]()
        if core is not None and kind != "python":
            _fill(core, i, source, given)
            # Which arrays there are may depend on how far it has come: so compare with what it has now.
            wanted = [*core.hold(functools.partial(held, learner=i))]
        _check_names(given, wanted, "the booster" if i == OWN else f"learner {i}")
    if names:
        raise LoadError(
            f"it has arrays of learner {next(iter(names))}, but the model has {len(kinds)} learners"
        )


def by_owner(entries: Iterable[str]) -> dict[str | None, list[str]]:
    """Names of the arrays of each learner, by its number as text, and of the booster itself (None)."""
    names: dict[str | None, list[str]] = {}
    for name in sorted(entries):
        part, _, rest = name.partition(".")
        if part == "learners" and rest:
            names.setdefault(rest.partition(".")[0], []).append(name)
        elif not rest or part == "rival":
            names.setdefault(None, []).append(name)
        elif part not in ("python", "text", "extra"):
            raise LoadError(f"it has an unexpected array {name!r}")
    return names


def _fill(native: _core.Model, learner: int, source: Source, names: Sequence[str]) -> None:
    prefix = _prefix(learner)
    arrays = {}
    for name in names:
        entry = source.entries[name]
        if len(entry.shape) != 1:
            raise LoadError(f"its array {name!r} has {len(entry.shape)} axes, but must have one")
        arrays[name.removeprefix(prefix)] = (str(dtype_name(entry.dtype)), entry.shape[0])
    native.load_arrays(
        learner, arrays, lambda name, first, buffer: source.read_into(prefix + name, first, buffer)
    )


def _check_names(given: Sequence[str], wanted: Sequence[str], owner: str) -> None:
    for name in sorted(set(given) ^ set(wanted)):
        what = "lacks" if name in wanted else "has"
        also = "" if name in wanted else ", which is unexpected"
        raise LoadError(f"{owner} {what} the array {name!r}{also}")
