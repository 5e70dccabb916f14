"""What models are told about the labels of a stream: all of them, or only those that they have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boostline.models import Explorer


@dataclass(frozen=True)
class TopK:
    """Models hear only of the labels that they have shown.

    Models with a method `show`, such as `Explorer`, show what they choose. For any other model an
    `Explorer` does, with these settings.

    Attributes
    ----------
    n_shown, n_explored, rate, seed
        As in `boostline.Explorer`.

    Examples
    --------
    >>> import boostline as bl
    >>> TopK(n_shown=3).told(bl.LabelRanker(5)).n_shown
    3
    """

    n_shown: int = 3
    n_explored: int = 2
    rate: float = 1.0
    seed: int = 0

    def told(self, model: Any) -> Any:
        """Return a model that is told only of the labels that it shows, and teaches the given one."""
        if callable(getattr(model, "show", None)):
            return model
        return Explorer(
            model, self.n_shown, n_explored=self.n_explored, rate=self.rate, seed=self.seed
        )


def read_feedback(feedback: str | TopK | None) -> TopK | None:
    """Check the argument of `prequential`."""
    if feedback is None or isinstance(feedback, TopK):
        return feedback
    if feedback != "top-k":
        raise ValueError(f"feedback is {feedback!r}, but must be None, 'top-k' or a TopK")
    return TopK()
