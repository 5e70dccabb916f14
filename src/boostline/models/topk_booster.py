"""What the boosters with top-k feedback share: they show some labels, and hear only of those."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.label_sets import LabelLists
from boostline.contract.numbers import real_number, whole_number
from boostline.contract.rows import read_rows
from boostline.learners.trees import PAPER_TREES
from boostline.models.booster import _NOT_SAID, Booster, named


class Shown(NamedTuple):
    """The labels that were shown for one example, or for each row of a block.

    Attributes
    ----------
    labels
        Best first: indices, or names if the labels have names; (k',) or (n, k').
    explored
        Which of them stand in the place of a better one, to hear about them too; the same shape.
    """

    labels: Any
    explored: BoolArray


def pair_probabilities(
    n_labels: int, n_shown: int, n_swapped: int, exploration: float
) -> tuple[float, float, float]:
    """Probabilities that both labels of a pair are shown: both, one and none of them among the best ``n_shown``.

    Examples
    --------
    >>> both, one, none = pair_probabilities(6, 3, 2, 0.3)
    >>> round(both, 12), round(one, 12), round(none, 12)  # none: .3 * 2 / (3 * 2)
    (0.7, 0.066666666667, 0.1)
    """
    m, k, d, rho = n_labels, n_shown, n_swapped, exploration
    if m == k:
        return 1.0, 1.0, 1.0  # only the first is asked for
    both = 1.0 - rho + rho * (k - d) * (k - d - 1) / (k * (k - 1))
    one = rho * (k - d) * d / (k * (m - k))
    none = rho * d * (d - 1) / ((m - k) * (m - k - 1)) if m - k > 1 else 1.0
    return both, one, none


def best_swaps(n_labels: int, n_shown: int) -> int:
    """The number of labels to swap with which the rarest pair is heard as often as can be, whatever rho is.

    Examples
    --------
    >>> best_swaps(14, 3), best_swaps(14, 6), best_swaps(101, 10), best_swaps(6, 5), best_swaps(6, 6)
    (2, 4, 9, 1, 0)
    """
    others = n_labels - n_shown
    best, most = min(2, others), 0.0
    for d in range(best, min(n_shown - 1, others) + 1):
        least = (n_shown - d) * d / n_shown
        if others > 1:
            least = min(least, d * (d - 1.0) / (others - 1.0))
        if least > most:
            best, most = d, least
    return best


def most_heard(n_labels: int, n_shown: int, n_swapped: int, exploration: float) -> float:
    """The largest sum of 1 / P over the pairs that can be heard in one round."""
    both, one, none = pair_probabilities(n_labels, n_shown, n_swapped, exploration)
    found = [a * (n_shown - a) / both for a in range(n_shown + 1)]
    best = n_shown - n_swapped
    for a in range(best + 1):
        for b in range(n_swapped + 1):
            mixed = a * (n_swapped - b) + (best - a) * b
            found.append(a * (best - a) / both + mixed / one + b * (n_swapped - b) / none)
    return max(found)


class TopkOptions(TypedDict, total=False):
    """What `TopkBMR` and `TopkAdaptive` take beside their own settings."""

    labels: Sequence[Any] | None
    n_shown: int
    n_swapped: int | None
    exploration: float
    learners: Any
    seed: int | None
    n_threads: int


class TopkBooster(Booster):
    """Base class of `TopkBMR` and `TopkAdaptive`."""

    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``help`` and the adapters see the settings that the subclass passes on."""
        super().__init_subclass__(**options)
        known = inspect.signature(TopkBooster).parameters
        own = inspect.signature(cls.__init__).parameters
        added = [p for name, p in own.items() if name not in known and p.kind is p.KEYWORD_ONLY]
        cls.__signature__ = inspect.Signature([*known.values(), *added])

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        n_shown: int = 3,
        n_swapped: int | None = None,
        exploration: float = 0.02,
        learners: Any = None,
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        learners = PAPER_TREES if learners is None else learners
        super().__init__(n_labels, labels=labels, learners=learners, seed=seed, n_threads=n_threads)
        self._n_shown = whole_number(n_shown, "n_shown", 2, self._n_labels)
        self._asked_swaps = (
            None if n_swapped is None else whole_number(n_swapped, "n_swapped", 0, self._n_labels)
        )
        self._exploration = real_number(exploration, "exploration", 0.0, 1.0, open_low=True)
        if self._exploration == 1.0:
            raise ValueError(
                "exploration is 1, but must be below 1: else the best labels are never shown together"
            )
        self._check_shown(self._n_labels)

    def _check_shown(self, n_labels: int) -> None:
        others = n_labels - self._n_shown
        least, most = min(2, others), min(self._n_shown - 1, others)
        given = self._asked_swaps
        if given is None:
            given = best_swaps(n_labels, self._n_shown)
        if most < least:
            raise ValueError(
                f"n_shown is {self._n_shown}, but must be at least 3 with {n_labels} labels, so that every pair "
                "of labels can be shown together"
            )
        if not least <= given <= most:
            raise ValueError(
                f"n_swapped is {given}, but must be between {least} and {most} if {self._n_shown} of {n_labels} "
                "labels are shown, so that every pair of labels can be shown together"
            )

    @property
    def n_shown(self) -> int:
        """Number of labels that are shown, k'."""
        return self._n_shown

    @property
    def n_swapped(self) -> int:
        """Number of shown labels that make room for others when the model explores, d."""
        if self._asked_swaps is not None:
            return self._asked_swaps
        return best_swaps(self._n_labels, self._n_shown)

    @property
    def exploration(self) -> float:
        """Probability that the model explores, rho."""
        return self._exploration

    @property
    def pair_probabilities(self) -> tuple[float, float, float]:
        """Probabilities that both labels of a pair are shown: both, one and none of them among the best."""
        return pair_probabilities(self._n_labels, self._n_shown, self.n_swapped, self._exploration)

    @property
    def most_loss(self) -> float:
        """The largest that the estimated loss of one example can be."""
        most = most_heard(self._n_labels, self._n_shown, self.n_swapped, self._exploration)
        return most / (self._n_labels - 1)

    @property
    def heard_weight(self) -> float:
        """Estimate of the sum over the examples of their pairs, in units of ``n_labels - 1``."""
        return float(self._own("heard_weight")[0])

    def show(self, x: Any, *, turn: int | None = None) -> Shown:
        """Return the labels to show for one example or a block: the best ones, or sometimes others to explore.

        Parameters
        ----------
        x
            One example or a block, as in `learn`.
        turn
            The number of the draw that decides about exploration; row i of a block has ``turn + i``. By default the
            number of examples learned so far, so that asking twice gives the same. If several examples are shown before
            feedback on the first arrives, give each a number of its own.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.TopkBMR(6, n_shown=3, learners=bl.learners.paper_trees(5))
        >>> shown = model.show([0.5, 1.0])
        >>> shown.labels, shown.explored
        (array([0, 1, 2]), array([False, False, False]))
        >>> _ = model.learn([0.5, 1.0], {1}, shown=shown)
        """
        if turn is not None:
            turn = whole_number(turn, "turn", 0, 2**63)
        rows = read_rows(x, self._features)
        codes = self._ready(rows.n_features).show(rows.native, rows.n_features, turn)
        explored = codes < 0
        labels: Any = np.where(explored, ~codes, codes).astype(np.int64)
        if rows.is_single:
            labels, explored = labels[0], explored[0]
        if self._labels is not None:
            labels = named(labels, self._labels)
        return Shown(labels, explored)

    def learn(  # type: ignore[override]
        self,
        x: Any,
        relevant: Any,
        *,
        shown: Shown | None = None,
        weight: Any = 1.0,
        unknown: Any = None,
        return_scores: bool = True,
    ) -> FloatArray | None:
        """Learn one example or a block from what was said about the labels that were shown.

        Parameters
        ----------
        x, weight, unknown, return_scores
            As in `Booster.learn`.
        relevant
            The relevant labels, in the forms of `Booster.learn`. What it says about labels that were not shown is not
            looked at.
        shown
            What `show` returned. By default what it would return now; for a block, what it would return for each row
            after the rows before have been learned.

        Returns
        -------
        scores
            As in `Booster.learn`.
        """
        with self._turn():
            self._catch_up()
            lists = _NOT_SAID if shown is None else self._shown_lists(shown)
            return self._learn(x, relevant, weight, unknown, return_scores, lists)

    def _shown_lists(self, shown: Shown) -> LabelLists:
        try:
            labels, explored = shown
        except (TypeError, ValueError):
            raise TypeError(
                f"shown is a {type(shown).__name__}, but must be what show() returned: labels, and which are explored"
            ) from None
        flags = np.atleast_2d(np.asarray(explored, dtype=bool))
        rows = [labels] if np.ndim(explored) == 1 else list(labels)
        places = np.array(
            [[self._space.index(one, f"shown has label {one!r}") for one in row] for row in rows]
        )
        if places.shape != flags.shape or places.shape[1] != self._n_shown:
            raise ValueError(
                f"shown has labels of shape {places.shape} and explored of shape {flags.shape}, but both must have "
                f"{self._n_shown} for each row"
            )
        if any(len(set(row)) < len(row) for row in places.tolist()):
            raise ValueError("shown has a label twice, but must have each once")
        n_explored = flags.sum(axis=1)
        if not np.isin(n_explored, (0, self.n_swapped)).all():
            raise ValueError(
                f"shown has {int(n_explored.max())} explored labels, but must have none or {self.n_swapped}"
            )
        codes = np.where(flags, ~places, places).astype(np.int32)
        start = np.arange(len(codes) + 1, dtype=np.int64) * self._n_shown
        return LabelLists(start, np.ascontiguousarray(codes.ravel()))

    def _add_labels(self, labels: int | Sequence[Any]) -> None:
        more = len(labels) if isinstance(labels, Sequence) else labels
        if isinstance(more, int | np.integer) and more > 0:  # anything else is refused below
            self._check_shown(self._n_labels + int(more))
        super()._add_labels(labels)

    def _feedback(self) -> tuple[int, int, float]:
        return (
            self._n_shown,
            -1 if self._asked_swaps is None else self._asked_swaps,
            self._exploration,
        )

    def _settings(self) -> dict[str, Any]:
        return {
            "n_shown": self._n_shown,
            "n_swapped": self._asked_swaps,
            "exploration": self._exploration,
        }
