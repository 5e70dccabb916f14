"""Models of texts, told from models of rows without loading either."""

from __future__ import annotations

from typing import Any

__all__ = ["booster_of", "is_text_model", "refuse_texts"]


def is_text_model(model: Any) -> bool:
    """Whether a model takes texts."""
    return hasattr(model, "text_features")


def booster_of(model: Any) -> Any:
    """The booster of a model of texts; a model of rows is one itself."""
    return model.booster if is_text_model(model) else model


def refuse_texts(model: Any, instead: str) -> None:
    """Raise an error if a model takes texts."""
    if is_text_model(model):
        raise TypeError(f"model is a {type(model).__name__}, but must take rows: {instead}")
