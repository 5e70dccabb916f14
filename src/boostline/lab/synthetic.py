"""Synthetic multi-label ranking problems whose truth is known.

All share one model. A row is x ~ N(0, I_d). Label l has a direction W[l] of length 1, and the true
score of l is s[l] = W[l] . x, so that every s[l] ~ N(0, 1).

- `separable`: the relevant labels are those above the largest gap among the top scores. The true
  scores have rank loss 0 on every row.
- `noisy`: label l is relevant with probability 1 / (1 + exp(-(s[l] - tau) / noise)), independently
  of the others. Ranking by s is Bayes-optimal for the rank loss: given x, swapping two
  neighbours l, r changes the expected loss by C (p_l (1 - p_r) - p_r (1 - p_l)) = C (p_l - p_r)
  with C > 0, because the weight 1/(|Y| |I|) depends on the two only through which one is relevant.
- `abrupt_drift`: noisy; from a given row on, every label takes the place of another one.
- `gradual_drift`: noisy; the directions turn from W to an independent W' between two rows.
- `sorted_order`: noisy; the rows are sorted by their best label, as scene is.

Everything follows from the arguments: a stream and a data set with the same arguments have the same
rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.numbers import whole_number
from boostline.data.dataset import Block, Blocks
from boostline.lab.synthetic_model import Problem, Synthetic, make_dataset

__all__ = [
    "Synthetic",
    "SyntheticStream",
    "abrupt_drift",
    "gradual_drift",
    "noisy",
    "separable",
    "sorted_order",
    "stream",
]


def separable(
    n: int = 2000,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    n_train: int | None = None,
) -> Synthetic:
    """Draw a problem that a linear ranker can solve without any loss.

    Parameters
    ----------
    n, d, k
        Number of rows, features and labels.
    seed
        Same arguments, same rows.
    relevant
        About how many labels are relevant; at least 1 and at most 2 * `relevant` - 1 of them are.
    n_train
        Rows for training (default: all).

    Examples
    --------
    >>> from boostline.lab import synthetic
    >>> data = synthetic.separable(n=1000, d=5, k=4, seed=1, relevant=2)
    >>> lowest_relevant = data.scores.copy()
    >>> lowest_relevant[~data.Y] = 9
    >>> highest_irrelevant = data.scores.copy()
    >>> highest_irrelevant[data.Y] = -9
    >>> bool((lowest_relevant.min(1) > highest_irrelevant.max(1)).all())
    True

    """
    return make_dataset(Problem("separable", n, d, k, seed, relevant, 1.0, (0, 1)), n_train)


def noisy(
    n: int = 2000,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    noise: float = 0.5,
    n_train: int | None = None,
) -> Synthetic:
    """Draw labels independently with probabilities that follow the true scores.

    Parameters
    ----------
    n, d, k, seed, n_train
        As in `separable`.
    relevant
        About how many labels are relevant on average; a row may have none.
    noise
        Width of the logistic step from irrelevant to relevant, in standard deviations of a score.

    Examples
    --------
    >>> from boostline.lab import synthetic
    >>> data = synthetic.noisy(n=4000, k=10, relevant=3)
    >>> bool(abs(data.Y.sum(axis=1).mean() - 3) < 0.3)
    True

    """
    return make_dataset(Problem("noisy", n, d, k, seed, relevant, noise, (0, 1)), n_train)


def abrupt_drift(
    n: int = 2000,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    noise: float = 0.5,
    at: float = 0.5,
    n_train: int | None = None,
) -> Synthetic:
    """`noisy`, but from the share `at` of the rows on the labels are permuted.

    No label keeps its place.

    Parameters
    ----------
    n, d, k, seed, relevant, noise, n_train
        As in `noisy`.
    at
        Share of the rows before the drift.

    Examples
    --------
    >>> from boostline.lab import synthetic
    >>> before, after = synthetic.noisy(n=100, seed=3), synthetic.abrupt_drift(n=100, seed=3)
    >>> (before.Y == after.Y).all(axis=1).sum() >= 50, bool((before.X == after.X).all())
    (np.True_, True)

    """
    return make_dataset(Problem("abrupt", n, d, k, seed, relevant, noise, (at, at)), n_train)


def gradual_drift(
    n: int = 2000,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    noise: float = 0.5,
    start: float = 0.25,
    end: float = 0.75,
    n_train: int | None = None,
) -> Synthetic:
    """`noisy`, but between the shares `start` and `end` the labels turn to new directions.

    Parameters
    ----------
    n, d, k, seed, relevant, noise, n_train
        As in `noisy`.
    start, end
        Shares of the rows where the drift begins and ends.

    Examples
    --------
    >>> from boostline.lab import synthetic
    >>> before, after = synthetic.noisy(n=100, seed=3), synthetic.gradual_drift(n=100, seed=3)
    >>> bool((before.scores[:25] == after.scores[:25]).all())
    True

    """
    return make_dataset(Problem("gradual", n, d, k, seed, relevant, noise, (start, end)), n_train)


def sorted_order(
    n: int = 2000,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    noise: float = 0.5,
    n_train: int | None = None,
) -> Synthetic:
    """Return the rows of `noisy`, sorted by the label with the highest true score.

    Parameters
    ----------
    n, d, k, seed, relevant, noise, n_train
        As in `noisy`.

    Examples
    --------
    >>> from boostline.lab import synthetic
    >>> best = synthetic.sorted_order(n=500).scores.argmax(axis=1)
    >>> bool((best[1:] >= best[:-1]).all())
    True

    """
    return make_dataset(Problem("sorted", n, d, k, seed, relevant, noise, (0, 1)), n_train)


class SyntheticStream(Blocks):
    """Blocks of a synthetic problem, drawn while they are read; made by `stream`."""

    def __init__(self, problem: Problem, block: int) -> None:
        self._problem = problem
        self._block = block
        self.name = problem.kind
        self.features = [str(index) for index in range(problem.d)]
        self.labels = [str(index) for index in range(problem.k)]

    def __iter__(self) -> Iterator[Block]:
        for part in self.with_truth():
            yield Block(part.X, part.Y)

    def with_truth(self) -> Iterator[Synthetic]:
        """Yield blocks as `Synthetic`, with the true scores and probabilities."""
        waiting: list[NDArray[Any]] | None = None
        for drawn in self._problem.draw():
            parts = list(drawn)
            if waiting is not None:
                parts = [np.concatenate(pair) for pair in zip(waiting, parts, strict=True)]
            while len(parts[0]) >= self._block:
                yield self._make([part[: self._block] for part in parts])
                parts = [part[self._block :] for part in parts]
            waiting = parts
        if waiting is not None and len(waiting[0]):
            yield self._make(waiting)

    def _make(self, parts: list[NDArray[Any]]) -> Synthetic:
        X, Y, scores, probabilities = parts
        return Synthetic(X, Y, name=self.name, scores=scores, probabilities=probabilities)


def stream(
    kind: str,
    n: int | None = None,
    d: int = 20,
    k: int = 10,
    *,
    seed: int = 0,
    relevant: float = 3.0,
    noise: float = 0.5,
    drift: tuple[float, float] | None = None,
    block: int = 1024,
) -> SyntheticStream:
    """Stream a synthetic problem in constant memory: the same rows as the data set.

    Parameters
    ----------
    kind
        ``"separable"``, ``"noisy"``, ``"abrupt"``, ``"gradual"`` or ``"sorted"`` (which alone has
        to draw all rows first).
    n
        Number of rows; None (separable and noisy only): without end.
    d, k, seed, relevant, noise
        As in the functions of that name.
    drift
        Shares of the rows where a drift begins and ends (default: .5 abrupt, .25 to .75 gradual).
    block
        Rows in a block.

    Examples
    --------
    >>> from itertools import islice
    >>> from boostline.lab import synthetic
    >>> [X.shape for X, Y in islice(synthetic.stream("noisy", d=7, block=100), 2)]
    [(100, 7), (100, 7)]

    """
    usual = dict.fromkeys(("separable", "noisy", "sorted"), (0.0, 1.0))
    usual |= {"abrupt": (0.5, 0.5), "gradual": (0.25, 0.75)}
    if kind not in usual:
        raise ValueError(f"kind is {kind!r}, but must be one of {', '.join(usual)}")
    whole_number(block, "block", 1)
    problem = Problem(kind, n, d, k, seed, relevant, noise, drift or usual[kind])
    return SyntheticStream(problem, block)
