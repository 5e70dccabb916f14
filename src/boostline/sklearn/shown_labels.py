"""Top-k feedback for scikit-learn: a classifier that shows some labels and learns from feedback on those."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from boostline.adapters import explorer_for
from boostline.contract.label_sets import LabelSets
from boostline.contract.numbers import whole_number
from boostline.models import Shown
from boostline.sklearn import targets
from boostline.sklearn.classifiers import LabelRankerClassifier


@dataclass(eq=False, repr=False)
class ExplorerClassifier(LabelRankerClassifier):
    """`boostline.Explorer` with a `boostline.LabelRanker` for scikit-learn: the one to use for top-k feedback.

    `fit` learns from what it would have heard, had it shown some labels of each row. For real feedback call `show`,
    then `partial_fit` with what it returned.

    Parameters
    ----------
    n_shown
        Number of labels that are shown; all labels if there are not more.
    n_explored, rate
        As in `boostline.Explorer`.
    learners, drift, max_bytes, optimize, n_passes, shuffle, random_state, n_jobs
        As in `LabelRankerClassifier`, which also describes the attributes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> model = ExplorerClassifier(random_state=0)
    >>> for x in X:
    ...     shown = model.show([x], classes=["a", "b", "c", "d", "e"])
    ...     clicked = (x > 0.5) & np.isin(["a", "b", "c", "d", "e"], shown.labels)
    ...     _ = model.partial_fit([x], [clicked], shown=shown)
    >>> model.rank([[-1.0, -1.0, 2.0, -1.0, -1.0]], top=1)
    array([['c']], dtype='<U1')
    """

    _: KW_ONLY
    n_shown: int = 3
    n_explored: int = 2
    rate: float = 1.0

    def show(self, X: Any, *, classes: Any = None, turn: int | None = None) -> Shown:
        """Return the labels to show for each row, best first (n, k'), and which of them are there to explore.

        Parameters
        ----------
        X
            As in `fit`.
        classes
            Names of the labels, needed if nothing was learned before: then this call begins the model.
        turn
            As in `boostline.Explorer.show`.
        """
        if hasattr(self, "booster_"):
            X = self._features(X, reset=False)
        elif classes is None:
            raise ValueError("classes must be passed to show if nothing was learned before.")
        else:
            target = targets.begin(np.zeros((1, len(classes))), classes)
            X = self._features(X, reset=True)
            self._begin(target)
        shown: Shown = self._explorer().show(X, turn=turn)
        return Shown(np.asarray(shown.labels, dtype=self.classes_.dtype), shown.explored)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        shown: Shown | None = None,
    ) -> Self:
        """Go on learning, row by row in the given order, from what was said about the labels that were shown.

        Parameters
        ----------
        X, y, classes, sample_weight
            As in `LabelRankerClassifier.partial_fit`. What y says about labels that were not shown is not looked at.
            With ``shown``, weights are at most 1.
        shown
            What `show` returned for these rows. By default, for each row, what it would return after the rows before
            have been learned, so that data with all labels known tell what would be learned from top-k feedback.
        """
        return self._go_on(X, y, classes, sample_weight, shown)

    def _explorer(self) -> Any:
        whole_number(self.n_shown, "n_shown", 1)
        return explorer_for(self, self.booster_)

    def _teach(self, X: Any, sets: LabelSets, weight: Any, shown: Any) -> None:
        self._explorer().learn(X, sets, weight=weight, shown=shown)
