"""Scorers score every label and follow the labels, not the costs: each label is a target of its own.

Their votes are their scores as a distribution. Each can be a learner of its own or a member of a `Committee`.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Self

import numpy as np

from boostline import _core
from boostline.learners.description import OBJECT, Description

#: `Description.prior` of learners for streams that change or are sorted.
DRIFT_MEMBER_PRIOR = 0.12

#: With a smaller penalty the inverses of least squares would overflow.
LEAST_RIDGE = 1e-12

#: Rows of a block, which are learned together.
BLOCK = 64
#: Bytes of a row that is kept: its slot, importance and length.
ROW = 64
# An entry of a row takes 12 bytes; its vector has up to two and a half times the room.
_ENTRY = 32


def rows_bytes(n: int, n_features: int, n_labels: int) -> int:
    """The most memory of n rows that are kept with their labels."""
    return n * (_ENTRY * n_features + 2 * n_labels + ROW)


def least_squares_bytes(n: int, k: int) -> int:
    """Of n inputs and k outputs: weights, packed covariance, gains that are still to be subtracted, the scale."""
    return OBJECT + n * (8 * n + 16 * k + 48 * BLOCK) + 32 * k + 8 * (8 + BLOCK) * n


class Scorer(Description):
    """Base of the descriptions in this file: what they build is a scorer, a committee's member."""

    #: Whether the cost of a row grows with the number of all features, zeros included.
    is_for_few_features: ClassVar[bool] = False
    #: Whether a committee does without it where labels are many.
    is_for_few_labels: ClassVar[bool] = False
    #: With more labels than this a model leaves it out; None: never.
    most_labels: int | None = None
    #: Whether its state holds only what was seen, however many features and labels there are.
    is_sparse: ClassVar[bool] = False
    #: For a scorer that learns from other members' scores instead of the features: their names.
    reads: tuple[str, ...] = ()
    #: The setting that says how many rows it keeps, if there is one.
    keeps: ClassVar[str] = ""

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        """The same with less work, for a committee with many labels."""
        return self

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        if self.cap_shares:
            return super().most_bytes(n_labels, n_features)
        # Unless it says otherwise, a scorer makes room for its state at once; a block may take as much again.
        return OBJECT + 2 * self.scorer(n_labels, n_features).memory_bytes()

    def keeping(self, n_rows: int) -> Self:
        """The same that keeps at most so many rows."""
        if not self.keeps:
            return self
        n = min(getattr(self, self.keeps), max(n_rows, 1))
        return dataclasses.replace(self, **{self.keeps: n})  # type: ignore[type-var]

    def smaller(self) -> Self:
        return self.keeping(getattr(self, self.keeps) // 2) if self.keeps else self

    def scorer(self, n_labels: int, n_features: int) -> _core.Scorer:
        """Make the scorer: the core knows it by its kind, and takes the fields as settings."""
        settings = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        for name in ("reads", "most_labels"):
            settings.pop(name, None)
        if isinstance(of := settings.get("of"), Scorer):
            settings["of"] = of.scorer(n_labels, n_features)
        return _core.scorer(self.kind, n_labels, n_features, settings)

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        return _core.committee(
            n_labels, n_features, [("", self.scorer(n_labels, n_features), [], 0)]
        )


def draw_seed(rng: np.random.Generator) -> int:
    """A seed for a learner that has none."""
    return int(rng.integers(2**63))
