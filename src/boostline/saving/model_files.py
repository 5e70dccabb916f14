"""One file per model, safe to load from anybody: safetensors for the arrays, JSON for the rest.

The file's one metadata entry, ``boostline``, is a JSON object: ``format`` (the version), ``config`` (as
`Booster.config` gives it), ``python`` (states of learners written in Python), ``text`` (of a `boostline.text` model:
its tags and word counts), ``extra`` (what the caller wants to keep with the model) and ``sha256`` (of all of these and
of the arrays). Nothing in a file is ever executed.
docs/file-format.md lists the arrays.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from boostline.learners.python import FromPython
from boostline.saving.atomic import replace_file
from boostline.saving.container import (
    ArrayFile,
    canonical_json,
    stored,
    write,
)
from boostline.saving.errors import LoadError, SaveError
from boostline.saving.python_states import pack, unpack
from boostline.saving.states import OWN, held

if TYPE_CHECKING:
    from boostline import _core
    from boostline.models import Booster

FORMAT = 1
#: Makes a `TextRanker` of a booster and what was saved about its texts; `boostline` puts it here.
TEXT_MODELS: list[Callable[[Any, dict[str, Any]], Any]] = []
_LOG = logging.getLogger("boostline.saving")


def save(
    model: Booster,
    path: str | os.PathLike[str],
    extra: dict[str, Any] | None = None,
    *,
    text: dict[str, Any] | None = None,
) -> None:
    """Save ``model`` to ``path``. The file is complete or unchanged, and can be loaded.

    The model is written in pieces, without a second copy in memory. The file is read back and checked before it
    replaces an old one. Other threads cannot change the model meanwhile.

    Parameters
    ----------
    model
        A booster. Learners written in Python need ``get_state()`` and ``set_state(state)``.
    path
        The file. An existing file is replaced in one step when the new one is complete.
    extra
        What to save with the model: dicts, lists, tuples, strings, numbers, None and arrays. `load_with_extra`
        returns it.
    text
        What makes the booster a `boostline.text.TextRanker`, which passes it here: then that is what is loaded.

    Examples
    --------
    >>> import boostline as bl, tempfile, os
    >>> from boostline.saving import load_with_extra, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(bl.LabelRanker(n_labels=2), os.path.join(folder, "m.blm"), extra={"rows": 7})
    ...     load_with_extra(os.path.join(folder, "m.blm"))[1]
    {'rows': 7}
    """
    with replace_file(path) as file:
        model.hold(lambda state: _write(file, model, extra, text, state))
        _check_written(file, model)
    fields = {"path": str(path), "bytes": os.path.getsize(path), "rows": model.clock}
    _LOG.info("saved %s", path, extra={"fields": fields})


def _write(
    file: BinaryIO,
    model: Booster,
    extra: dict[str, Any] | None,
    text: dict[str, Any] | None,
    state: _core.StoredState | None,
) -> None:
    config = model.config()
    _refuse_own_loss(config)
    beside: dict[str, NDArray[Any]] = {}
    python = {str(i): pack(s, f"python.{i}", beside) for i, s in _python_states(model).items()}
    metadata = {
        "format": FORMAT,
        "config": config,
        "python": python,
        "extra": pack({} if extra is None else extra, "extra", beside),
    }
    if text is not None:
        metadata["text"] = pack(text, "text", beside)
    try:
        canonical_json(metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"the model cannot be saved: {error}") from error
    arrays = {name: stored(name, array) for name, array in beside.items()}
    if state is not None:
        for learner in range(OWN, len(config["resolved"])):
            _check_held(state, learner)
            arrays |= held(state, learner)
    write(file, metadata, arrays)


def _check_held(state: _core.StoredState, learner: int) -> None:
    try:
        state.check(learner)
    except ValueError as error:
        whose = "its own state" if learner == OWN else f"the state of learner {learner}"
        raise SaveError(f"the model cannot be saved: in {whose} {error}") from error


def _check_written(file: BinaryIO, model: Booster) -> None:
    """All that `load` asks of a file but for the numbers in the learners' arrays, which were checked in the model."""
    from boostline.saving.claims import check_size

    file.flush()
    try:
        opened = ArrayFile(file)
        metadata = _checked_metadata(opened)
        opened.check_digest(metadata)
        check_size(metadata["config"], opened, None)
        learners = [learner for _, learner in _python_learners(model)]
        type(model).from_config({**metadata["config"], "resolved": None}, learners)
        texts = [metadata["text"]] if "text" in metadata else []
        for packed in (metadata["extra"], *texts, *metadata["python"].values()):
            unpack(packed, lambda name: np.zeros(()))
    except (ValueError, TypeError, RecursionError) as error:
        raise SaveError(
            f"the model cannot be saved, because it could not be loaded again: {error}"
        ) from error


def load(
    path: str | os.PathLike[str],
    *,
    learners: Sequence[Any] = (),
    n_threads: int = 1,
    max_bytes: int | None = None,
) -> Any:
    """Load a model that `Booster.save` or `TextRanker.save` wrote; it continues exactly where it stopped.

    Parameters
    ----------
    path
        The file.
    learners
        For a model with learners written in Python: these objects in the same order, to receive the saved states.
    n_threads
        As in the constructor.
    max_bytes
        Refuse a model that needs more memory than this. The default is the memory of the machine. A small file may
        describe a model with very many learners and labels.

    Raises
    ------
    LoadError
        The file is not a model, is damaged, or has a newer format.

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
    """Load a model and what was saved with it as ``extra``; see `load`."""
    with _opened(path) as file:
        metadata = _checked_metadata(file)
        file.check_digest(metadata)
        model: Any = _build(file, metadata, learners, max_bytes)
        extra = unpack(metadata["extra"], file.read)
        model.n_threads = n_threads
        if "text" in metadata:
            model = TEXT_MODELS[0](model, unpack(metadata["text"], file.read))
    fields = {"path": str(path), "format": metadata["format"], "rows": model.clock}
    _LOG.info("loaded %s", path, extra={"fields": fields})
    return model, extra


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read only the description: ``format``, ``config``, ``is_text`` and ``arrays`` (name -> type and shape).

    Examples
    --------
    >>> import boostline as bl, tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bl.LabelRanker(n_labels=2).save(os.path.join(folder, "m.blm"))
    ...     read_header(os.path.join(folder, "m.blm"))["config"]["n_labels"]
    2
    """
    with _opened(path) as file:
        metadata = _checked_metadata(file)
        arrays = {name: (entry.dtype.name, entry.shape) for name, entry in file.entries.items()}
    return {
        "format": metadata["format"],
        "config": metadata["config"],
        "is_text": "text" in metadata,
        "arrays": arrays,
    }


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[ArrayFile]:
    """An open model file. All errors in it become a `LoadError` that names the file."""
    # A missing file and one that may not be read are no fault of the file: these errors pass as they are.
    try:
        opened = open(path, "rb")  # noqa: SIM115 - closed below
    except IsADirectoryError as error:
        raise LoadError(f"{os.fspath(path)} is a folder, not a model") from error
    with opened as file:
        try:
            yield ArrayFile(file)
        except LoadError as error:
            raise LoadError(f"{os.fspath(path)} cannot be loaded: {error}") from error
        except MemoryError as error:
            what = f"{os.fspath(path)} cannot be loaded: there is no memory for it"
            raise LoadError(what) from error
        except Exception as error:
            what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise LoadError(f"{os.fspath(path)} does not describe a model: {what}") from error


def _checked_metadata(file: ArrayFile) -> dict[str, Any]:
    metadata = file.metadata()
    version = metadata.get("format")
    if type(version) is not int or version < 1:
        raise LoadError(f"its format is {version!r}, but must be a whole number from 1 on")
    if version > FORMAT:
        raise LoadError(
            f"it has format {version}, but this version of boostline reads up to {FORMAT}: upgrade boostline"
        )
    return metadata


def _build(
    file: ArrayFile, metadata: dict[str, Any], learners: Sequence[Any], max_bytes: int | None
) -> Booster:
    from boostline.models import Booster
    from boostline.saving.claims import check_classes, check_size

    config, python = metadata["config"], metadata["python"]
    check_size(config, file, max_bytes)
    check_classes(config, learners)
    model = Booster.from_config(config, learners)
    model.restore(file)
    for i, learner in _python_learners(model):
        learner.set_state(unpack(python[str(i)], file.read))
    return model


def _refuse_own_loss(config: dict[str, Any]) -> None:
    loss = config["settings"].get("loss")
    if isinstance(loss, dict) and loss.get("user_written"):
        raise TypeError(
            f"the loss {loss.get('name')!r} is a function of your own, which a file cannot hold, so the model "
            "cannot be saved"
        )


def _python_learners(model: Booster) -> list[tuple[int, Any]]:
    """Learners written in Python and their numbers; they may know something before the model's first example."""
    return [(i, d.learner) for i, d in enumerate(model.learners) if isinstance(d, FromPython)]


def _python_states(model: Booster) -> dict[int, Any]:
    states = {}
    for i, learner in _python_learners(model):
        if not (hasattr(learner, "get_state") and hasattr(learner, "set_state")):
            raise TypeError(
                f"learner {i}, a {type(learner).__name__}, has no get_state() and set_state(state), "
                "so the model cannot be saved"
            )
        states[i] = learner.get_state()
    return states
