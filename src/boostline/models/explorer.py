"""Top-k feedback for any model: show the best labels and now and then others, and teach what was heard of them."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import BoolArray, FloatArray
from boostline.contract.frames import take_rows
from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import read_weights, real_number, whole_number
from boostline.contract.rows import read_rows
from boostline.models.base import named

# Of the seed; the boosters' draws have other streams.
_STREAM = 3


class Shown(NamedTuple):
    """The labels that were shown for one example, or for each row of a block.

    Attributes
    ----------
    labels
        Best first: indices, or names if the labels have names; (k',) or (n, k').
    explored
        Which of them stand in the place of a better one, to learn about them too; the same shape.
    """

    labels: Any
    explored: BoolArray


class Explorer:
    """Shows some labels for each example, and teaches a model what was heard of those.

    The labels that were not shown are unknown to the model. That needs no importance weights: which labels are shown
    depends on the example and on what was learned before, but not on the labels themselves. To learn about all labels,
    the last places are given to others now and then, less and less often.

    Parameters
    ----------
    model
        A model with ``score(x)`` and ``learn(x, relevant, unknown=...)``; `LabelRanker` is the one to use. It also
        learns from examples of which all labels that were shown are relevant, or none.
    n_shown
        Number of labels that are shown, k'.
    n_explored
        Number of places that are given to other labels when it explores.
    rate
        It explores with probability ``min(1, rate * (n_labels / (n_shown * t)) ** (1/3))`` at example t. 0: never.
    seed
        Random seed.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 5))
    >>> explorer = bl.Explorer(bl.LabelRanker(5), n_shown=3)
    >>> for x in X:
    ...     shown = explorer.show(x)
    ...     clicked = {label for label in shown.labels if x[label] > 0.5}
    ...     _ = explorer.learn(x, clicked, shown=shown)
    >>> explorer.model.rank([2.0, -1.0, -1.0, -1.0, -1.0], top=1)
    array([0])
    """

    #: A block is learned exactly as the loop of its rows.
    blocks_are_rows: ClassVar[bool] = True

    takes_texts: ClassVar[bool] = False  # see Booster

    def __init__(
        self,
        model: Any,
        n_shown: int = 3,
        *,
        n_explored: int = 2,
        rate: float = 1.0,
        seed: int = 0,
    ) -> None:
        for method in ("score", "learn", "n_labels"):
            if not hasattr(model, method):
                raise TypeError(
                    f"model is a {type(model).__name__} without {method}, but must have score, learn and n_labels"
                )
        self.model = model
        self.n_shown = whole_number(n_shown, "n_shown", 1, model.n_labels)
        self.n_explored = whole_number(n_explored, "n_explored", 0, self.n_shown)
        self.rate = real_number(rate, "rate", 0.0, 1e9)
        self.seed = whole_number(seed, "seed", 0, 2**64 - 1)
        self._n_learned = 0

    @property
    def n_labels(self) -> int:
        """Number of labels of the model."""
        return int(self.model.n_labels)

    @property
    def n_learned(self) -> int:
        """Examples learned so far: the model's clock, if it has one."""
        return int(getattr(self.model, "clock", self._n_learned))

    def exploration(self, turn: int) -> float:
        """Return the probability that it explores in a turn, from 0 on.

        Examples
        --------
        >>> import boostline as bl
        >>> explorer = bl.Explorer(bl.LabelRanker(24), n_shown=3)
        >>> explorer.exploration(0), round(explorer.exploration(999), 12)
        (1.0, 0.2)
        """
        if self.n_labels == self.n_shown:
            return 0.0
        return float(min(1.0, self.rate * np.cbrt(self.n_labels / (self.n_shown * (turn + 1.0)))))

    def score(self, x: Any) -> Any:
        """Return the model's scores."""
        return self.model.score(x)

    def rank(self, x: Any, top: int | None = None, **options: Any) -> Any:
        """Return the model's ranking, without exploration."""
        return self.model.rank(x, top, **options)

    def show(self, x: Any, *, turn: int | None = None) -> Shown:
        """Return the labels to show: the best ones and, now and then, others in the last places.

        Parameters
        ----------
        x
            One example or a block.
        turn
            The number of the draw that decides about exploration; row i of a block has ``turn + i``. By default the
            number of examples learned so far, so that calling it twice gives the same. If several examples are shown
            before feedback on the first arrives, give each a number of its own.
        """
        turn = self.n_learned if turn is None else whole_number(turn, "turn", 0, 2**63)
        scores = np.asarray(self.model.score(x))
        if scores.ndim == 1:
            labels, explored = self._drawn(scores, turn)
        else:
            drawn = [self._drawn(row, turn + i) for i, row in enumerate(scores)]
            shape = (len(drawn), self.n_shown)
            labels = np.array([one for one, _ in drawn], dtype=np.int64).reshape(shape)
            explored = np.array([flags for _, flags in drawn], dtype=bool).reshape(shape)
        names = getattr(self.model, "labels", None)
        return Shown(labels if names is None else named(labels, names), explored)

    def learn(
        self,
        x: Any,
        relevant: Any,
        *,
        shown: Any = None,
        weight: Any = 1.0,
        unknown: Any = None,
    ) -> Any:
        """Teach the model what was said about the labels that were shown.

        Parameters
        ----------
        x, relevant, weight, unknown
            As in `Booster.learn`. What ``relevant`` says about labels that were not shown is not looked at.
        shown
            What `show` returned, or the labels that were shown: one list, or one for each row of a block. By default
            what `show` would return now; for a block, for each row after the rows before have been learned.

        Returns
        -------
        scores
            What the model's `learn` returns.
        """
        rows = read_rows(x, getattr(self.model, "features", None))
        space = LabelSpace(self.n_labels, getattr(self.model, "labels", None))
        sets = space.read(relevant, rows.n, rows.is_single, unknown)
        weights = read_weights(weight, rows.n)
        if shown is not None or rows.is_single:
            heard = self._heard(space, self.show(x) if shown is None else shown, rows.n)
            return self._learn(
                x, sets, heard, weights if np.ndim(weight) else weight, rows.is_single
            )
        scores = []
        for i in range(rows.n):
            part = slice(i, i + 1)
            row = take_rows(x, part)
            heard = self._heard(space, self.show(row), 1)
            scores.append(self._learn(row, sets.take(part), heard, weights[part], False))
        return np.concatenate(scores) if scores else np.empty((0, self.n_labels))

    def _learn(
        self, x: Any, sets: LabelSets, heard: BoolArray, weight: Any, is_single: bool
    ) -> Any:
        hidden = ~heard if sets.is_unknown is None else ~heard | sets.is_unknown
        relevant = sets.is_relevant & heard
        if is_single:
            relevant, hidden = relevant[0], hidden[0]
        options = {} if np.ndim(weight) == 0 and weight == 1.0 else {"weight": weight}
        scores = self.model.learn(x, relevant, unknown=hidden, **options)
        self._n_learned += sets.n
        return scores

    def _heard(self, space: LabelSpace, shown: Any, n: int) -> BoolArray:
        labels = shown.labels if isinstance(shown, Shown) else shown
        if isinstance(labels, np.ndarray):
            labels = labels.tolist()
        is_block = len(labels) > 0 and isinstance(labels[0], list | tuple | set)
        if not is_block and n != 1:
            raise ValueError(f"shown has one set of labels, but x has {n} rows")
        return space.read(labels, n, not is_block, name="shown").is_relevant

    def _drawn(self, scores: FloatArray, turn: int) -> tuple[NDArray[np.int64], BoolArray]:
        order = np.lexsort((np.arange(len(scores)), -scores))
        shown, explored = order[: self.n_shown].copy(), np.zeros(self.n_shown, dtype=bool)
        others = order[self.n_shown :]
        n = min(self.n_explored, len(others))
        key = np.array([self.seed, _STREAM], dtype=np.uint64)
        raw = np.random.Philox(counter=[turn, 0, 0, 0], key=key).random_raw(1 + n)
        uniform = (np.asarray(raw) >> np.uint64(11)) * 2.0**-53
        if n == 0 or not uniform[0] < self.exploration(turn):
            return shown, explored
        others = np.sort(others)
        for i in range(n):
            j = i + int(uniform[1 + i] * (len(others) - i))
            others[[i, j]] = others[[j, i]]
        shown[self.n_shown - n :], explored[self.n_shown - n :] = others[:n], True
        return shown, explored

    def __repr__(self) -> str:
        return (
            f"Explorer({self.model!r}, n_shown={self.n_shown}, n_explored={self.n_explored}, rate={self.rate}, "
            f"seed={self.seed})"
        )
