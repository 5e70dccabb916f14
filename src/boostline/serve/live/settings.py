"""How a service behaves."""

from __future__ import annotations

from dataclasses import dataclass, field

from boostline.serve.live.requests import Limits

__all__ = ["Settings"]


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
