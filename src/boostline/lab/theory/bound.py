"""One inequality of the theory, and a list of them with the reasons for those that do not apply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bound:
    """One inequality, ``suffered <= total`` with probability >= ``probability``.

    Attributes
    ----------
    name, statement : str
        Which theorem, and the formula that was evaluated.
    total : float
        Right-hand side, summed over the rounds.
    suffered : float
        Left-hand side that was observed.
    trivial : float
        What needs no theorem: half of the rounds for a rank loss, which is what guessing loses on average. A bound
        that is not below it is vacuous.
    trivial_reason : str
        What `trivial` is.
    terms : dict
        Parts of the right-hand side.
    """

    name: str
    statement: str
    total: float
    suffered: float
    rounds: int
    trivial: float
    probability: float = 1.0
    trivial_reason: str = "what a random order loses"
    terms: Mapping[str, float] = field(default_factory=dict)

    @property
    def vacuous(self) -> bool:
        """True if the bound promises no more than guessing does."""
        return not self.total < self.trivial

    @property
    def holds(self) -> bool:
        """True if the observed loss kept the bound (up to rounding)."""
        return self.suffered <= self.total + 1e-9 * max(1.0, abs(self.total))

    @property
    def per_round(self) -> float:
        """Right-hand side divided by T."""
        return self.total / self.rounds if self.rounds else math.nan

    def __str__(self) -> str:
        rounds = max(self.rounds, 1)
        text = (
            f"{self.name}: suffered {self.suffered / rounds:.4g} per round, "
            f"promised <= {self.total / rounds:.4g}"
        )
        if self.probability < 1:
            text += f" with probability {self.probability:.4g}"
        if self.vacuous:
            text += (
                f"; vacuous, since {self.trivial / rounds:.4g} per round is {self.trivial_reason}"
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "name": self.name,
            "statement": self.statement,
            "total": self.total if math.isfinite(self.total) else None,
            "suffered": self.suffered,
            "rounds": self.rounds,
            "probability": self.probability,
            "vacuous": self.vacuous,
            "holds": self.holds,
            "terms": {k: v if math.isfinite(v) else None for k, v in self.terms.items()},
        }


class Report(list[Bound]):
    """The bounds that apply to a model, the theorem first; printing it says which do not, and why.

    Attributes
    ----------
    refused : dict
        Name of a bound -> why it does not apply.
    """

    def __init__(self) -> None:
        super().__init__()
        self.refused: dict[str, str] = {}

    def __str__(self) -> str:
        lines = [str(bound) for bound in self]
        lines += [f"{name}: does not apply: {reason}" for name, reason in self.refused.items()]
        return "\n".join(lines)
