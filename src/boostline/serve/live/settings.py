"""How a service behaves, and how large requests and models may be."""

from __future__ import annotations

from dataclasses import dataclass, field

from boostline.serve.live.features import MOST_FEATURES

__all__ = ["Limits", "Settings"]


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


@dataclass(frozen=True)
class Settings:
    """How the service behaves.

    Attributes
    ----------
    new_labels : str
        Unknown labels in feedback: ``"refuse"`` or ``"add"``.
    expire : float or None
        Seconds after which a ranking without feedback expires.
    assume : str
        What is assumed of such rankings: ``"nothing"``, or ``"none"``: none of the labels shown was relevant.
    """

    new_labels: str = "refuse"
    expire: float | None = None
    assume: str = "nothing"
    snapshot_rows: int = 2000
    snapshot_seconds: float = 300.0
    threads: int = 1
    limits: Limits = field(default_factory=Limits)
