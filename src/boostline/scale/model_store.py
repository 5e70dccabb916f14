"""A folder of models, one for each key."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from boostline.saving import load_with_extra, save

__all__ = ["ModelStore"]

_RECORD = "by_key"
_LONGEST = 120  # file systems allow 255 bytes, of which quoting takes up to three for one


class ModelStore:
    """Models by key, each in a file of its own; files lie in 256 folders by a hash of the key.

    Parameters
    ----------
    path
        The folder; it is made if need be.

    Examples
    --------
    >>> import boostline as bl, tempfile
    >>> from boostline.scale import ModelStore
    >>> store = ModelStore(tempfile.mkdtemp())
    >>> store.save("acme", bl.LabelRanker(3), {})
    >>> "acme" in store, len(store), list(store)
    (True, 1, ['acme'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)

    def file_of(self, key: Any) -> Path:
        """Where the model of a key is, or would be."""
        text = str(key)
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        name = quote(text, safe="")
        if not name or len(name) > _LONGEST or name.startswith("."):
            name = f"~{digest}"
        return self.path / digest[:2] / f"{name}.blm"

    def __contains__(self, key: Any) -> bool:
        return self.file_of(key).exists()

    def __getitem__(self, key: Any) -> Any:
        return self.load(key)[0]

    def __iter__(self) -> Iterator[str]:
        for path in sorted(self.path.glob("??/*.blm")):
            if path.name.startswith("~"):
                yield load_with_extra(path)[1][_RECORD]["key"]
            else:
                yield unquote(path.name.removesuffix(".blm"))

    def __len__(self) -> int:
        return sum(1 for _ in self.path.glob("??/*.blm"))

    def load(self, key: Any) -> tuple[Any, dict[str, Any]]:
        """The model of a key, and what was saved with it."""
        path = self.file_of(key)
        if not path.exists():
            raise KeyError(key)
        model, extra = load_with_extra(path)
        record = extra.get(_RECORD, {})
        return model, record if isinstance(record, dict) else {}

    def save(self, key: Any, model: Any, record: dict[str, Any]) -> None:
        """Save a model: its file is complete, or as it was."""
        path = self.file_of(key)
        path.parent.mkdir(exist_ok=True)
        save(model, path, {_RECORD: {"key": str(key), **record}})
