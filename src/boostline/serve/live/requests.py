"""Requests that have been read and checked, as the service takes them; how large they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boostline.serve.live.features import MOST_FEATURES

__all__ = ["FeedbackRequest", "Limits", "RankRequest"]


@dataclass(frozen=True)
class Limits:
    """How large a request may be, and how large requests may make a model."""

    body: int = 1_000_000
    batch_body: int = 16_000_000
    batch: int = 1000
    features: int = MOST_FEATURES
    text: int = 100_000
    labels: int = 10_000
    #: Bytes of a model.
    model: int = 2**30
    queue: int = 1000
    seconds: float = 20.0


@dataclass(slots=True)
class RankRequest:
    """What ``POST /rank`` asks for."""

    id: str | None
    features: Any  # list, dict, or str for text
    top: int | None
    raw: bytes

    def same(self, other: dict[str, Any]) -> bool:
        """Whether a request that was logged asked for the same."""
        theirs = other["features"] if other.get("features") is not None else other.get("text")
        return bool(theirs == self.features and other.get("top") == self.top)


@dataclass(slots=True)
class FeedbackRequest:
    """What ``POST /feedback`` says about the labels of a ranking, or of a new example."""

    id: str
    relevant: list[str]
    irrelevant: list[str] | None
    unknown: list[str]
    revision: int | None
    features: Any = None

    @property
    def told(self) -> dict[str, Any]:
        """The labels, in one form."""
        return {
            "relevant": sorted(self.relevant),
            "irrelevant": None if self.irrelevant is None else sorted(self.irrelevant),
            "unknown": sorted(self.unknown),
        }

    @property
    def named(self) -> list[tuple[str, str]]:
        """Every label that is named, with its field."""
        fields = (
            ("relevant", self.relevant),
            ("irrelevant", self.irrelevant or ()),
            ("unknown", self.unknown),
        )
        return [(field, label) for field, labels in fields for label in labels]
