"""One file per model, safe to load from a stranger: safetensors for the arrays, JSON for the rest.

The file's one metadata entry, ``boostline``, is a JSON object: ``format`` (the version), ``config`` (as
`Booster.config` gives it), ``python`` (states of learners written in Python), ``extra`` (what the caller wants to keep
with the model) and ``sha256`` (of all of these and of the arrays). Nothing in a file is ever executed.
docs/file-format.md lists the arrays.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from boostline._atomic import replace_file
from boostline._safetensors import ArrayFile, DamagedError, canonical_json, write
from boostline._states import pack, unpack

if TYPE_CHECKING:
    from boostline.boosters import Booster

__all__ = ["FORMAT", "LoadError", "load", "load_with_extra", "read_header", "save"]

FORMAT = 2

# Votes, scores and costs of one round: what a booster holds for every learner and label.
_WORKSPACE_BYTES = 3 * 8
# What a learner takes at the least.
_LEARNER_BYTES = 512


class LoadError(ValueError):
    """The file is not a boostline model, is damaged, or needs a newer version."""


def save(model: Booster, path: str | os.PathLike[str], extra: dict[str, Any] | None = None) -> None:
    """Write ``model`` to ``path``, whole or not at all.

    Parameters
    ----------
    model
        An `AdaOLMR` or `OnlineBMR`. Learners written in Python need ``get_state()`` and ``set_state(state)``.
    path
        The file; one that is there is replaced in one step when the new one is complete.
    extra
        What to keep with the model: dicts, lists, tuples, strings, numbers, None and arrays. `load_with_extra` gives
        it back.

    Examples
    --------
    >>> import boostline as bl, tempfile, os
    >>> from boostline.saving import load_with_extra, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(bl.LabelRanker(n_labels=2), os.path.join(folder, "m.blm"), extra={"rows": 7})
    ...     load_with_extra(os.path.join(folder, "m.blm"))[1]
    {'rows': 7}
    """
    state = model.state()
    _refuse_own_loss(state["config"])
    arrays = dict(state["arrays"])
    python = {str(i): pack(s, f"python.{i}", arrays) for i, s in _python_states(model).items()}
    metadata = {
        "format": FORMAT,
        "config": state["config"],
        "python": python,
        "extra": pack({} if extra is None else extra, "extra", arrays),
    }
    try:
        canonical_json(metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the model cannot be saved: {error}") from error
    with replace_file(path) as file:
        write(file, metadata, arrays)


def load(
    path: str | os.PathLike[str],
    *,
    learners: Sequence[Any] = (),
    n_threads: int = 1,
    max_bytes: int | None = None,
) -> Any:
    """Read a model written by `Booster.save`; learning goes on exactly where it stopped.

    Parameters
    ----------
    path
        The file.
    learners
        For a model with learners written in Python: such objects, in their order, to receive the saved states.
    n_threads
        As in the constructor.
    max_bytes
        Refuse a model that would need more memory; default: this machine's memory. A small file may describe a model
        with very many learners and labels.

    Raises
    ------
    LoadError
        The file is no model, is damaged, or is of a newer format.

    Examples
    --------
    >>> import boostline as bl, tempfile, os
    >>> model = bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(3))
    >>> _ = model.learn([0.5, 1.0], {1})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "m.blm"))
    ...     bl.load(os.path.join(folder, "m.blm")).clock
    1
    """
    model, _ = load_with_extra(path, learners=learners, n_threads=n_threads, max_bytes=max_bytes)
    return model


def load_with_extra(
    path: str | os.PathLike[str],
    *,
    learners: Sequence[Any] = (),
    n_threads: int = 1,
    max_bytes: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Read a model and what was saved with it as ``extra``; see `load`."""
    with _Opened(path) as file:
        metadata = _checked_metadata(file)
        file.check_digest(metadata)
        model = _build(file, metadata, learners, max_bytes)
        extra = unpack(metadata["extra"], file.read)
        model.n_threads = n_threads
    return model, extra


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only what describes the model: ``format``, ``config`` and ``arrays`` (name -> type and shape).

    Examples
    --------
    >>> import boostline as bl, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bl.LabelRanker(n_labels=2).save(os.path.join(folder, "m.blm"))
    ...     read_header(os.path.join(folder, "m.blm"))["config"]["n_labels"]
    2
    """
    with _Opened(path) as file:
        metadata = _checked_metadata(file)
        arrays = {name: (entry.dtype.name, entry.shape) for name, entry in file.entries.items()}
    return {"format": metadata["format"], "config": metadata["config"], "arrays": arrays}


class _Opened:
    """An open model file. Whatever goes wrong with a stranger's file becomes a `LoadError` that names it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)

    def __enter__(self) -> ArrayFile:
        # A missing file and one that may not be read are no fault of the file: these errors pass as they are.
        try:
            self._file = open(self._path, "rb")  # closed in __exit__
        except IsADirectoryError as error:
            raise LoadError(f"{self._path} is a folder, not a model") from error
        try:
            return ArrayFile(self._file)
        except Exception as error:
            self.__exit__(type(error), error)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: Any, *_: object) -> None:
        self._file.close()
        if kind is None or not issubclass(kind, Exception):
            return
        if issubclass(kind, DamagedError | LoadError):
            raise LoadError(f"{self._path} cannot be loaded: {error}") from error
        what = f"it lacks {error}" if issubclass(kind, KeyError) else error or kind.__name__
        raise LoadError(f"{self._path} does not describe a model: {what}") from error


def _checked_metadata(file: ArrayFile) -> dict[str, Any]:
    metadata = file.metadata()
    version = metadata.get("format")
    if type(version) is not int or version < 1:
        raise LoadError(f"it has no valid format version (but {version!r})")
    if version > FORMAT:
        raise LoadError(
            f"it has format {version}, but this version of boostline reads up to {FORMAT}: upgrade boostline"
        )
    return metadata


def _build(
    file: ArrayFile, metadata: dict[str, Any], learners: Sequence[Any], max_bytes: int | None
) -> Booster:
    from boostline.boosters import Booster

    config, python = metadata["config"], metadata["python"]
    _check_size(config, file, max_bytes)
    _check_classes(config, learners)
    model = Booster.from_config(config, learners)
    names = sorted(n for n in file.entries if not n.startswith(("python.", "extra.")))
    native = model._native
    own = [name for name in names if "." not in name]
    if native is None:
        _check_names(own, {}, "the booster")
    else:
        beside = model._extra_arrays()
        _check_names(own, {**native.state(), **beside}, "the booster")
        native.set_state({name: file.read(name) for name in own if name not in beside})
        model._set_extra_arrays({name: file.read(name) for name in beside})
    of_learner: dict[str, list[str]] = {}
    for name in names:
        if "." in name:
            part, _, rest = name.partition(".")
            if part != "learners":
                raise LoadError(f"it has an array {name!r} that belongs to nothing")
            of_learner.setdefault(rest.partition(".")[0], []).append(name)
    chosen = model._resolved if model._resolved is not None else model._learners
    for i, description in enumerate(chosen):
        given = of_learner.pop(str(i), [])
        if description.kind == "python":
            state = unpack(python[str(i)], file.read)
            description.learner.set_state(state)  # type: ignore[attr-defined]
            _check_names(given, {}, f"learner {i}")
        elif native is not None:
            prefix = f"learners.{i}."
            short = [name.removeprefix(prefix) for name in given]
            # One learner's arrays at a time, so that no second copy of all of them exists.
            native.set_learner_state(i, {name: file.read(prefix + name) for name in short})
            # Which arrays there are may depend on how far it has come: so compare with what it has now.
            _check_names(short, native.learner_state(i), f"learner {i}")
    if of_learner:
        raise LoadError(f"it has arrays of learner {next(iter(of_learner))}, which is none")
    return model


def _check_size(config: dict[str, Any], file: ArrayFile, max_bytes: int | None) -> None:
    """Refuse what does not fit into memory before anything is allocated for it."""
    from boostline.learners import from_config

    k = config["n_labels"]
    resolved = config["resolved"]
    if resolved is not None:
        entry = file.entries.get("label_set_sizes")
        if entry is None or entry.shape != (k + 1,):
            raise LoadError(f"its array label_set_sizes does not fit to {k} labels")
    source = config["learners"] if resolved is None else resolved
    described = [from_config(c) for c in source if c.get("kind") != "python"]
    votes = sum(d.n_votes for d in described) + len(source) - len(described)
    needed = votes * (k * _WORKSPACE_BYTES + _LEARNER_BYTES)
    if resolved is not None:
        needed += sum(d.least_bytes(k, config["n_features"]) for d in described)
    limit = _machine_bytes() if max_bytes is None else max_bytes
    if needed > limit:
        raise LoadError(
            f"it has {votes} learners and {k} labels, which need {needed / 2**30:.1f} GiB; "
            f"at most {limit / 2**30:.1f} are allowed"
        )


def _machine_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system says
        return 2**36


def _check_classes(config: dict[str, Any], learners: Sequence[Any]) -> None:
    """States must not go to learners of another class: that is how a wrong order shows."""
    source = config["learners"] if config["resolved"] is None else config["resolved"]
    wanted = [c["class"] for c in source if c.get("kind") == "python"]
    if len(learners) != len(wanted):
        raise LoadError(
            f"it has {len(wanted)} learners written in Python ({', '.join(map(str, wanted)) or 'none'}), "
            f"but learners= has {len(learners)}; give such objects, in their order"
        )
    for i, (learner, name) in enumerate(zip(learners, wanted, strict=True)):
        found = type(learner).__qualname__
        if name.rpartition(".")[2] != found.rpartition(".")[2]:
            raise LoadError(f"learners[{i}] is a {found}, but the file's is a {name}")
        if not hasattr(learner, "set_state"):
            raise LoadError(f"learners[{i}], a {found}, has no set_state(state)")


def _check_names(given: list[str], wanted: Any, owner: str) -> None:
    for name in sorted(set(given) ^ set(wanted)):
        what = "lacks" if name in wanted else "has"
        also = "" if name in wanted else ", which nobody reads"
        raise LoadError(f"{owner} {what} the array {name!r}{also}")


def _refuse_own_loss(config: dict[str, Any]) -> None:
    loss = config["settings"].get("loss")
    if isinstance(loss, dict) and loss.get("user_written"):
        raise TypeError(
            f"the loss {loss.get('name')!r} is a function of your own, which a file cannot hold, so the model "
            "cannot be saved"
        )


def _python_states(model: Booster) -> dict[int, Any]:
    """States of the learners written in Python; they may know something before the model's first example."""
    states = {}
    chosen = model._resolved if model._native is not None and model._resolved else model._learners
    for i, description in enumerate(chosen):
        if description.kind != "python":
            continue
        learner = description.learner  # type: ignore[attr-defined]
        if not (hasattr(learner, "get_state") and hasattr(learner, "set_state")):
            raise TypeError(
                f"learner {i}, a {type(learner).__name__}, has no get_state() and set_state(state), "
                "so the model cannot be saved"
            )
        states[i] = learner.get_state()
    return states
