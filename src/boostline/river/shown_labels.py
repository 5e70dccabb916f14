"""Top-k feedback for River: a classifier that shows some labels and learns from feedback on those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from boostline.adapters import explorer_for
from boostline.contract.label_sets import LabelSets
from boostline.contract.numbers import whole_number
from boostline.models import Shown
from boostline.models.base import Booster
from boostline.river.classifiers import LabelRankerClassifier


@dataclass(eq=False, repr=False)
class ExplorerClassifier(LabelRankerClassifier):
    """`boostline.Explorer` with a `boostline.LabelRanker` as a River classifier: the one to use for top-k feedback.

    Parameters
    ----------
    n_shown
        Number of labels that are shown. Until so many labels are known, nothing is learned: give ``labels``.
    n_explored, rate
        As in `boostline.Explorer`.
    learners, drift, max_bytes, labels, optimize, absent, n_features, fill_value, n_threads, seed
        As in `LabelRankerClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> model = ExplorerClassifier(labels=["a", "b", "c", "d", "e"], n_shown=2)
    >>> for _ in range(300):
    ...     x = dict(zip("abcde", rng.normal(size=5)))
    ...     shown = model.show_one(x)
    ...     clicked = {label for label in shown.labels if x[label] > 0.5}
    ...     model.learn_one(x, clicked, shown=shown)
    >>> scores = model.score_one({"a": -1.0, "b": -1.0, "c": 2.0, "d": -1.0, "e": -1.0})
    >>> max(scores, key=scores.get)
    'c'
    """

    _: KW_ONLY
    n_shown: int = 3
    n_explored: int = 2
    rate: float = 1.0

    def __post_init__(self) -> None:
        whole_number(self.n_shown, "n_shown", 1)
        super().__post_init__()

    def show_one(self, x: Mapping[Any, Any], *, turn: int | None = None) -> Shown:
        """Return the labels to show, best first, and which of them are there to explore.

        Parameters
        ----------
        x
            Features by name.
        turn
            As in `boostline.Explorer.show`: a number of its own for each example that is shown before feedback on an
            earlier one has arrived.
        """
        if self._booster is None:  # so few labels that all are shown
            known = list(self._index)
            return Shown(known, np.zeros(len(known), dtype=bool))
        if self._features.capacity is None:
            row = self._features.admitted(x, self._grow_features)
        else:
            self._follow_the_booster()
            row = self._features.row(x)
        shown: Shown = explorer_for(self, self._booster).show(row, turn=turn)
        return shown

    def learn_one(
        self, x: Mapping[Any, Any], y: Any, w: float = 1.0, *, shown: Shown | None = None
    ) -> None:
        """Learn one example from what was said about the labels that were shown.

        Parameters
        ----------
        x, w
            As in `LabelRankerClassifier.learn_one`.
        y
            The relevant ones of the shown labels; or labels by name, True or False. What it says about labels that were
            not shown is not looked at.
        shown
            What `show_one` returned. By default what it would return now, so that a stream with all labels known tells
            what would be learned from top-k feedback. Without it, labels that were never seen before are added.
        """
        self._learn_one(x, y, w, shown)

    @property
    def _labels_needed(self) -> int:
        return max(super()._labels_needed, self.n_shown)

    def _teach(self, booster: Booster, rows: Any, sets: LabelSets, weight: Any, shown: Any) -> None:
        explorer_for(self, booster).learn(rows, sets, weight=weight, shown=shown)
