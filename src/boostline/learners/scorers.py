"""Scorers that remember rows or count labels, and scorers that are made of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boostline.contract.numbers import real_number, whole_number
from boostline.learners.description import OBJECT, Description, from_config
from boostline.learners.linear import Linear
from boostline.learners.scorer import (
    BLOCK,
    DRIFT_MEMBER_PRIOR,
    LEAST_RIDGE,
    ROW,
    Scorer,
    rows_bytes,
)

__all__ = ["Kernel", "Neighbours", "OutputNeighbours", "Recency", "SlidingWindow"]

#: How many numbers a member may read for a row with many labels: a fraction of a millisecond.
MOST_WORK = 2_000_000

#: Numbers that neighbours read for a row: single precision, one after the other.
MOST_NEIGHBOURS = 4_000_000

# Caps of learners in a sliding window are halved no further.
_LEAST_CAP = 2**20


@dataclass(frozen=True)
class Kernel(Scorer):
    """Kernel ridge regression: exact for the first ``n_landmarks`` rows, then by recursive least squares.

    The kernel is exp(-|u - u'| / h) + 1 of standardised features, h the root mean square distance. The first
    ``n_landmarks`` rows are the landmarks; later rows move their coefficients.
    """

    kind: ClassVar[str] = "kernel"
    keeps: ClassVar[str] = "n_landmarks"
    n_landmarks: int = 1000
    ridge: float = 0.2

    def __post_init__(self) -> None:
        whole_number(self.n_landmarks, "n_landmarks", 32, 20_000)
        real_number(self.ridge, "ridge", LEAST_RIDGE, 1e9)

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        half = n_labels / 2  # n (n + k) numbers
        return self.keeping(int((half * half + MOST_WORK) ** 0.5 - half))

    def keeping(self, n_rows: int) -> Self:
        return super().keeping(max(n_rows, 32))

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        # The packed covariance; weights, targets and renewed scores; entries; kernel values and pending gains of a
        # block.
        n, k, d = self.n_landmarks, n_labels, n_features
        of_landmark = 6 * n + 28 * k + 24 * d + 36 * BLOCK + ROW
        return OBJECT + n * of_landmark + 8 * (2 * BLOCK + 16) * d + 32 * k


@dataclass(frozen=True)
class Neighbours(Scorer):
    """Nearest neighbours among the last ``memory`` rows, weighted by distance."""

    kind: ClassVar[str] = "neighbours"
    keeps: ClassVar[str] = "memory"
    is_for_few_labels: ClassVar[bool] = True
    is_for_few_features: ClassVar[bool] = True
    n_neighbours: int = 40
    memory: int = 4000

    def __post_init__(self) -> None:
        whole_number(self.n_neighbours, "n_neighbours", 1, 10_000)
        whole_number(self.memory, "memory", 1, 2**24)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 33 * n_features  # their scale

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        rows, d = self.memory + BLOCK, n_features
        points = rows * (8 * d + 4 * BLOCK + 16)
        return OBJECT + rows_bytes(rows, d, n_labels) + points + 512 * d + 32 * n_labels


@dataclass(frozen=True)
class Recency(Scorer):
    """Counts of recent labels, without looking at the features.

    It helps on sorted or bursty streams; on others the booster soon gives it little weight. With ``decay=1`` it is
    the frequency of the labels.

    Parameters
    ----------
    decay
        What a row counts after each further row.
    most_labels
        With more labels than this it is left out: every vote takes time in proportion to the labels. None: never.
    """

    kind: ClassVar[str] = "recency"
    is_sparse: ClassVar[bool] = True
    prior: ClassVar[float] = DRIFT_MEMBER_PRIOR
    decay: float = 0.9
    most_labels: int | None = None

    def __post_init__(self) -> None:
        real_number(self.decay, "decay", 0.0, 1.0)
        if self.most_labels is not None:
            whole_number(self.most_labels, "most_labels", 1, 2**31 - 1)

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        return [] if self.most_labels is not None and n_labels > self.most_labels else [self]

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        return OBJECT + 16 * n_labels

    def within(self) -> Description | None:
        return self


@dataclass(frozen=True)
class OutputNeighbours(Scorer):
    """Nearest neighbours in the space of the scores of other members.

    Only in a `Committee`. ``reads`` names the members; the distance is that of the sums of their scores. Of more than
    4,000 rows it keeps no more than 4,000,000 / k, where k is the number of labels. If it reads one `Kernel` alone, the
    scores that it keeps are renewed as the kernel learns.
    """

    kind: ClassVar[str] = "output_neighbours"
    keeps: ClassVar[str] = "memory"
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

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        k = n_labels
        points = (self.memory + BLOCK) * (8 * k + 4 * BLOCK + 16 + k + ROW)
        return OBJECT + points + 512 * k


@dataclass(frozen=True)
class SlidingWindow(Scorer):
    """A scorer that learns from the last rows only: one serves while its replacement trains.

    The serving scorer has learned between ``length`` and twice as many of the last rows, and nothing before: no
    weight, no scale and no landmark is older. In a committee its name is "recent_" and the name of its scorer.

    Parameters
    ----------
    of
        The scorer, for example ``Linear()``.
    length
        Rows after which a new one is started.

    Examples
    --------
    >>> from boostline.learners import Committee, SlidingWindow, Linear
    >>> Committee([Linear(), SlidingWindow(Linear(), length=500)]).names
    ['linear', 'recent_linear']
    """

    kind: ClassVar[str] = "sliding_window"
    prior: ClassVar[float] = DRIFT_MEMBER_PRIOR
    is_for_few_labels: ClassVar[bool] = True
    of: Scorer = dataclasses.field(default_factory=Linear)
    length: int = 1000

    def __post_init__(self) -> None:
        if not isinstance(self.of, Scorer) or self.of.reads or isinstance(self.of, SlidingWindow):
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

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        size = (n_labels, n_features)
        return OBJECT + sum(self.of.keeping(n * self.length).most_bytes(*size) for n in (2, 1))

    def smaller(self) -> Self:
        cap: int = getattr(self.of, "max_bytes", 0)
        if not cap:
            return dataclasses.replace(self, of=self.of.smaller())
        half = max(cap // 2, min(cap, _LEAST_CAP))
        return dataclasses.replace(self, of=dataclasses.replace(self.of, max_bytes=half))  # type: ignore


def _check_reads(reads: Any) -> None:
    if not isinstance(reads, list | tuple) or not all(isinstance(name, str) for name in reads):
        raise TypeError(f"reads is {reads!r}, but must be names of a committee's members")
    if not reads:  # it would take the features for the scores of labels
        raise ValueError("reads is empty, but must name at least one member of the committee")
