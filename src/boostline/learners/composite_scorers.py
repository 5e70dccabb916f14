"""Scorers that are made of others: they learn from the scores of other members, or start another one over and over."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boostline.contract.numbers import whole_number
from boostline.learners.description import Description, from_config
from boostline.learners.scorers import INSURANCE, Linear, Neighbours, Ridge, Scorer

__all__ = ["Generations", "OutputNeighbours", "Stack"]

#: Numbers that neighbours go through for a row: single precision, one after the other.
MOST_NEIGHBOURS = 4_000_000

#: Numbers of rows that a kernel keeps, to score them again: KernelScorer::kMostSwept.
MOST_SWEPT = 2**22


@dataclass(frozen=True)
class OutputNeighbours(Scorer):
    """Nearest neighbours in the space of the scores of other members.

    Only in a `Committee`. ``reads`` names the members; the distance is that of the sums of their scores. Of more than
    4,000 rows it keeps no more than 4,000,000 / k, where k is the number of labels. If it reads one `Kernel` alone, the
    scores that it keeps are renewed as the kernel learns.
    """

    kind: ClassVar[str] = "output_neighbours"
    reads: tuple[str, ...] = ("kernel",)
    n_neighbours: int = 80
    memory: int = 4000

    def __post_init__(self) -> None:
        _check_reads(self.reads)
        Neighbours(self.n_neighbours, self.memory)

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        most = max(MOST_NEIGHBOURS // n_labels, Neighbours.memory)
        return [dataclasses.replace(self, memory=min(self.memory, most))]

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        return dataclasses.replace(
            self, memory=min(self.memory, max(MOST_NEIGHBOURS // n_labels, 1))
        )

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 16 * n_labels  # how often each was relevant, and known


@dataclass(frozen=True)
class Stack(Scorer):
    """Least squares on the scores of other members, for all labels together, so it learns which go together.

    Only in a `Committee`. ``reads`` names the members, whose scores are summed; ``ridge`` is as in `Ridge`.
    """

    kind: ClassVar[str] = "stack"
    is_for_few_labels: ClassVar[bool] = True
    reads: tuple[str, ...] = ("kernel", "linear", "ridge")
    ridge: float = 10.0

    def __post_init__(self) -> None:
        _check_reads(self.reads)
        Ridge(self.ridge)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 12 * n_labels * n_labels


@dataclass(frozen=True)
class Generations(Scorer):
    """A scorer that forgets all but the last rows: an old one serves while a young one of the same kind grows up.

    What serves has seen between ``length`` and twice as many of the last rows, and nothing before: no weight, no
    scale and no landmark is older. A committee calls it by the scorer it is made of: "recent_linear", for example.

    Parameters
    ----------
    of
        The scorer, for example ``Linear()``.
    length
        Rows after which a new one is started.

    Examples
    --------
    >>> from boostline.learners import Committee, Generations, Linear
    >>> Committee([Linear(), Generations(Linear(), length=500)]).names
    ['linear', 'recent_linear']
    """

    kind: ClassVar[str] = "generations"
    prior: ClassVar[float] = INSURANCE
    is_for_few_labels: ClassVar[bool] = True
    of: Scorer = dataclasses.field(default_factory=Linear)
    length: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.of, Scorer) or self.of.reads or isinstance(self.of, Generations):
            raise TypeError(
                f"of is {self.of!r}, but must be a scorer that reads features, such as Linear()"
            )
        whole_number(self.length, "length", 1, 2**31 - 1)

    @property
    def name(self) -> str:
        return f"recent_{self.of.name}"

    @property
    def is_for_few_features(self) -> bool:  # type: ignore[override]
        # Where the size of the state grows with the features, two of them are too much for many.
        return self.of.is_for_few_features or self.of.least_bytes(1, 1) > 0

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        (of,) = self.of.resolve(n_features, rng, n_labels)
        return [dataclasses.replace(self, of=of)]  # type: ignore[arg-type]

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 2 * self.of.least_bytes(n_labels, n_features)

    def config(self) -> dict[str, Any]:
        return {"kind": self.kind, "of": self.of.config(), "length": self.length}

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        values = dict(values)
        if isinstance(of := values.get("of"), Mapping):
            values["of"] = from_config(of)
        return super().from_values(values)


def _check_reads(reads: Any) -> None:
    if not isinstance(reads, list | tuple) or not all(isinstance(name, str) for name in reads):
        raise TypeError(f"reads is {reads!r}, but must be names of a committee's members")
    if not reads:  # it would take the features for the scores of labels
        raise ValueError("reads is empty, but must name at least one member of the committee")
