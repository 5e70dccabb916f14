"""Texts and embeddings in the columns of frames and in dicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract import frames


def texts_of(X: Any, text: str | Sequence[str] | None) -> list[str]:
    """The texts of a frame, or of a list of strings if no column is named; None in a frame is an empty text."""
    if text is None:
        if frames.is_frame(X):
            raise TypeError(
                "text is None, but must name the column of the frame that has the texts"
            )
        if isinstance(X, str) or not hasattr(X, "__len__"):
            raise TypeError(f"X is a {type(X).__name__}, but must be a list of strings, or a frame")
        if getattr(X, "ndim", 1) != 1:
            raise ValueError(
                f"X has {X.ndim} dimensions, but must be a list of strings, or a frame"
            )
        return list(X)
    if not frames.is_frame(X):
        raise TypeError(f"X is a {type(X).__name__}, but must be a frame with the column {text!r}")
    columns = [_column(X, name) for name in _named(text)]
    return ["\n".join(map(_string, row)) for row in zip(*columns, strict=True)]


def embeddings_of(X: Any, names: Sequence[str] | None) -> FloatArray | None:
    """The columns of a frame that are an embedding, (n, m)."""
    if names is None:
        return None
    if not frames.is_frame(X):
        raise TypeError(
            f"X is a {type(X).__name__}, but must be a frame with columns of embeddings"
        )
    columns = [np.asarray(_column(X, name), dtype=np.float64) for name in names]
    return np.stack(columns, axis=1)


def text_in(x: Mapping[Any, Any], text: str | Sequence[str]) -> str:
    """The text of a dict; what is missing or None is an empty text."""
    values = []
    for name in _named(text):
        value = x.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"feature {name!r} is {value!r}, but must be a string")
        values.append(value or "")
    return "\n".join(values)


def _named(text: str | Sequence[str]) -> list[str]:
    return [text] if isinstance(text, str) else list(text)


def _column(frame: Any, name: str) -> Any:
    names = list(frame.columns)
    if name not in names:
        meant = frames.suggestion(name, names)
        raise ValueError(f"X has no column {name!r}{meant}; it has {frames.shortened(names)}")
    return list(frame[name])


def _string(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        raise TypeError(f"X has the text {value!r}, but must have strings")
    return value
