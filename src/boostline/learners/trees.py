"""Hoeffding trees (VFDT), the paper's weak learners."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostline import _core
from boostline.contract.numbers import real_number, whole_number
from boostline.learners.description import Description

# The ranges of the paper's random parameters, from the authors' public code (docs/algorithms.md).
_GRACE_PERIOD = (5.0, 20.0)
_CONFIDENCE = (0.01, 0.9)
_TIE_THRESHOLD = (0.01, 0.9)
_WEIGHT_SCALE = (3.0, 10.0)


@dataclass(frozen=True)
class HoeffdingTree(Description):
    """An importance-weighted Hoeffding tree, the paper's weak learner.

    Parameters
    ----------
    grace_period
        Weight that a leaf gains between two attempts to split it.
    split_confidence, tie_threshold
        A leaf is split when the best feature beats the next one by more than the Hoeffding bound at this
        confidence, or when the bound is below the threshold.
    weight_scale
        Multiplies every importance weight.
    features
        The features that the tree uses: all (None), a number of features drawn at random, or a list of indices.
    single_label
        Vote for one label only, as ``OnlineBMR(loss="rank")`` requires.
    max_bytes
        Limit of the tree's memory in bytes. When it is reached, the least promising leaves stop growing and free their
        statistics.

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.AdaOLMR(n_labels=3, learners=[bl.learners.HoeffdingTree(features=(0, 2))] * 5)
    >>> model.learn([0.5, 1.0, -2.0], {1}).shape
    (3,)
    """

    kind: ClassVar[str] = "hoeffding_tree"
    cap_shares = 1
    grace_period: float = 10.0
    split_confidence: float = 0.1
    tie_threshold: float = 0.1
    weight_scale: float = 6.0
    features: int | Sequence[int] | None = None
    single_label: bool = False
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        real_number(self.grace_period, "grace_period", 0.0, np.inf)
        real_number(self.split_confidence, "split_confidence", 0.0, 1.0, open_low=True)
        real_number(self.tie_threshold, "tie_threshold", 0.0, np.inf)
        real_number(self.weight_scale, "weight_scale", 0.0, 1e6, open_low=True)
        if isinstance(self.features, int | np.integer):
            whole_number(self.features, "features", 1)
        elif self.features is not None:
            chosen = tuple(whole_number(f, "features", 0) for f in self.features)
            if not chosen or len(set(chosen)) != len(chosen):
                raise ValueError(f"features is {chosen}, but must be distinct columns")
            object.__setattr__(self, "features", chosen)
        if self.max_bytes is not None:
            whole_number(self.max_bytes, "max_bytes", 1)

    @property
    def votes_single_label(self) -> bool:  # type: ignore[override]
        return self.single_label

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        if isinstance(self.features, tuple):
            if max(self.features) >= n_features:
                raise ValueError(
                    f"features has column {max(self.features)}, but x has {n_features} features"
                )
            return [self]
        n = n_features if self.features is None else min(int(self.features), n_features)  # type: ignore[arg-type]
        drawn = range(n) if n == n_features else sorted(rng.choice(n_features, n, replace=False))
        return [dataclasses.replace(self, features=tuple(int(f) for f in drawn))]

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        if not isinstance(self.features, tuple) or max(self.features) >= n_features:
            raise ValueError(f"features is {self.features}, but x has {n_features} features")
        return _core.HoeffdingTree(
            n_labels,
            np.array(self.features, dtype=np.int32),
            float(self.grace_period),
            float(self.split_confidence),
            float(self.tie_threshold),
            float(self.weight_scale),
            bool(self.single_label),
            0 if self.max_bytes is None else int(self.max_bytes),
        )


@dataclass(frozen=True)
class PaperTrees(Description):
    """``n`` Hoeffding trees whose settings and features are drawn as in the paper's experiments."""

    kind: ClassVar[str] = "paper_trees"
    n: int = 100
    n_covariates: int = 20
    single_label: bool = False
    max_bytes: int | None = None
    patience: float = 1.0

    def __post_init__(self) -> None:
        whole_number(self.n, "n", 1)
        whole_number(self.n_covariates, "n_covariates", 1)
        if self.max_bytes is not None:
            whole_number(self.max_bytes, "max_bytes", 1)
        real_number(self.patience, "patience", 0.0, 1e6, open_low=True)

    @property
    def n_votes(self) -> int:
        return self.n

    @property
    def votes_single_label(self) -> bool:  # type: ignore[override]
        return self.single_label

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        return [
            d for _ in range(self.n) for d in self._draw(rng).resolve(n_features, rng, n_labels)
        ]

    def _draw(self, rng: np.random.Generator) -> HoeffdingTree:
        return HoeffdingTree(
            grace_period=float(rng.uniform(*_GRACE_PERIOD)) * self.patience,
            split_confidence=float(np.exp(rng.uniform(*np.log(_CONFIDENCE)))),
            tie_threshold=float(np.exp(rng.uniform(*np.log(_TIE_THRESHOLD)))),
            weight_scale=float(rng.uniform(*_WEIGHT_SCALE)),
            features=self.n_covariates,
            single_label=self.single_label,
            max_bytes=self.max_bytes,
        )


def paper_trees(
    n: int = 100,
    *,
    n_covariates: int = 20,
    single_label: bool = False,
    max_bytes: int | None = None,
    patience: float = 1.0,
) -> PaperTrees:
    """Return the paper's weak learners: ``n`` trees with random settings, each using 20 random features.

    ``patience`` multiplies their grace periods. With 2 a leaf tries to split half as often as the paper's, which takes
    .7 to .9 of the time (docs/benchmarks.md has time and loss).

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.AdaOLMR(n_labels=6, learners=bl.learners.paper_trees(100), seed=0)
    """
    return PaperTrees(n, n_covariates, single_label, max_bytes, patience)


#: The learners of the paper's experiments.
PAPER_TREES = paper_trees(100)
