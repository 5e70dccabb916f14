"""One file per model, safe to load from a stranger: safetensors for the arrays, JSON for the rest.

The header has one metadata key, ``boostline``, with a JSON object: ``format`` (the version), ``config`` (as
`Booster.config` gives it), ``python`` (states of learners written in Python) and ``sha256`` (of the arrays' names,
types, shapes and bytes). Nothing in a file is ever executed. docs/file-format.md lists the arrays.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from boostline.boosters import Booster

FORMAT = 1
_KEY = "boostline"
_TYPES = {"F64": "float64", "F32": "float32", "I64": "int64", "I32": "int32", "U8": "uint8"}


class LoadError(ValueError):
    """The file is not a boostline model, is damaged, or needs a newer version."""


def save(model: Booster, path: str | os.PathLike[str]) -> None:
    """Write ``model`` to ``path``: to a temporary file beside it first, so that no half file is left."""
    from safetensors.numpy import save as to_bytes

    state = model.state()
    _refuse_stateless(model, state)
    arrays = {name: np.ascontiguousarray(array) for name, array in state["arrays"].items()}
    python = {i: _pack(value, f"python.{i}", arrays) for i, value in state["python"].items()}
    header = {
        "format": FORMAT,
        "config": state["config"],
        "python": python,
        "sha256": _digest(arrays),
    }
    try:
        text = json.dumps(header, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the model cannot be saved: {error}") from error
    _write_atomically(Path(path), to_bytes(arrays, {_KEY: text}))


def load(path: str | os.PathLike[str], *, learners: Sequence[Any] = (), n_threads: int = 1) -> Any:
    """Read a model written by `Booster.save`; learning goes on exactly where it stopped.

    Parameters
    ----------
    path
        The file.
    learners
        For a model with learners written in Python: such objects, in their order, to receive the saved states.
    n_threads
        As in the constructor.

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
    from safetensors import SafetensorError, safe_open

    from boostline.boosters import Booster

    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            header = _read_header(file.metadata())
            names = sorted(file.keys())
            _check_digest(file, names, header)
            model = Booster.from_config(header["config"], learners)
            _fill(model, file, names, header)
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError) as error:
        raise LoadError(
            f"{os.fspath(path)} is not a boostline model or is damaged: {error}"
        ) from error
    except LoadError:
        raise
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise LoadError(f"{os.fspath(path)} does not describe a model: {error}") from error
    model.n_threads = n_threads
    return model


def _fill(model: Booster, file: Any, names: list[str], header: dict[str, Any]) -> None:
    """Hand the arrays to the model, learner by learner, so that no second copy of all of them exists."""
    native = model._native
    if native is None:
        if names:
            raise LoadError("the file has arrays, but its model has not learned anything")
        return
    native.set_state({n: file.get_tensor(n) for n in names if n.count(".") == 0})
    of_learner: dict[str, list[str]] = {}
    for name in names:
        if name.startswith("learners."):
            of_learner.setdefault(name.split(".", 2)[1], []).append(name)
    for i, description in enumerate(model._resolved or []):
        if description.kind == "python":
            packed = header["python"].get(str(i))
            description.learner.set_state(_unpack(packed, file))  # type: ignore[attr-defined]
            continue
        arrays = {n.split(".", 2)[2]: file.get_tensor(n) for n in of_learner.get(str(i), [])}
        native.set_learner_state(i, arrays)


def _read_header(metadata: dict[str, str] | None) -> dict[str, Any]:
    if not metadata or _KEY not in metadata:
        raise LoadError("the file is not a boostline model (its header has no boostline entry)")
    try:
        header = json.loads(metadata[_KEY])
    except (ValueError, RecursionError) as error:
        raise LoadError(f"the header is damaged: {error}") from error
    version = header.get("format") if isinstance(header, dict) else None
    if not isinstance(version, int) or version < 1:
        raise LoadError(f"the header has no valid format version (it has {version!r})")
    if version > FORMAT:
        raise LoadError(
            f"the file has format {version}, but this version of boostline reads up to {FORMAT}: upgrade boostline"
        )
    assert isinstance(header, dict)
    return header


def _check_digest(file: Any, names: list[str], header: dict[str, Any]) -> None:
    digest = hashlib.sha256()
    for name in names:
        _add_to_digest(digest, name, file.get_tensor(name))
    if digest.hexdigest() != header.get("sha256"):
        raise LoadError("the arrays are damaged: their SHA-256 is not the one in the header")


def _digest(arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        _add_to_digest(digest, name, arrays[name])
    return digest.hexdigest()


def _add_to_digest(digest: Any, name: str, array: NDArray[Any]) -> None:
    digest.update(f"{name}|{array.dtype.str}|{array.shape}|".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _refuse_stateless(model: Booster, state: dict[str, Any]) -> None:
    for i, description in enumerate(model._resolved or []):
        if description.kind != "python":
            continue
        learner = description.learner  # type: ignore[attr-defined]
        if not (hasattr(learner, "get_state") and hasattr(learner, "set_state")):
            raise TypeError(
                f"learner {i}, a {type(learner).__name__}, has no get_state() and set_state(state), "
                "so the model cannot be saved"
            )


def _pack(value: Any, prefix: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """JSON for a Python learner's state; its arrays go to the file's arrays."""
    if isinstance(value, np.ndarray):
        if value.dtype.name not in _TYPES.values():
            raise TypeError(
                f"{prefix} is an array of {value.dtype}, which the format does not have"
            )
        arrays[prefix] = np.ascontiguousarray(value)
        return {"array": prefix}
    if isinstance(value, dict):
        return {"dict": [[k, _pack(v, f"{prefix}.{k}", arrays)] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_pack(v, f"{prefix}.{i}", arrays) for i, v in enumerate(value)]}
    return {"value": value.item() if isinstance(value, np.generic) else value}


def _unpack(packed: Any, file: Any) -> Any:
    if "array" in packed:
        return file.get_tensor(packed["array"])
    if "dict" in packed:
        return {k: _unpack(v, file) for k, v in packed["dict"]}
    if "list" in packed:
        return [_unpack(v, file) for v in packed["list"]]
    return packed["value"]


def _write_atomically(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
