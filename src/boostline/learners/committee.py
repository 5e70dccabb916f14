"""Several scoring learners that build upon each other: the heart of the default."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostline import _core
from boostline.contract.numbers import whole_number
from boostline.learners._base import Description
from boostline.learners.scorers import Kernel, Linear, Neighbours, Recency, Ridge, _draw_seed

#: Its members, in the order of their votes.
PARTS = ("kernel", "linear", "ridge", "neighbours", "output_neighbours", "stack")
# Members whose cost grows with the number of features, dense or not.
_FOR_FEW_FEATURES = ("ridge", "neighbours")


@dataclass(frozen=True)
class Committee(Description):
    """Kernel, linear, ridge and neighbours, and two that learn from their scores. One vote each.

    ``output_neighbours`` finds the rows to which the kernel member gave similar scores; ``stack`` is least squares on
    the sum of the members' scores of all labels, so it knows which labels go together.

    Parameters
    ----------
    parts
        Members, of "kernel", "linear", "ridge", "neighbours", "output_neighbours" and "stack".
    few_features
        Above so many features "ridge" and "neighbours" are left out. If features are added later, these two look at the
        first so many.
    n_landmarks, kernel_ridge
        The number of landmarks and the ridge of `Kernel`.
    n_replays, memory, learning_rate
        As in `Linear`; ``memory`` also for `Neighbours`.
    ridge
        As in `Ridge`.
    n_neighbours
        As in `Neighbours`.
    seed
        Of the draws; None takes it from the model's seed.
    """

    kind: ClassVar[str] = "committee"
    parts: tuple[str, ...] = PARTS
    few_features: int = 512
    n_landmarks: int = Kernel.n_landmarks
    kernel_ridge: float = Kernel.ridge
    n_replays: int = Linear.n_replays
    memory: int = Linear.memory
    learning_rate: float = Linear.learning_rate
    ridge: float = Ridge.ridge
    n_neighbours: int = Neighbours.n_neighbours
    seed: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        unknown = [p for p in self.parts if p not in PARTS]
        if unknown or not self.parts or len(set(self.parts)) != len(self.parts):
            raise ValueError(f"parts is {self.parts}, but must be some of {', '.join(PARTS)}")
        if "output_neighbours" in self.parts and "kernel" not in self.parts:
            raise ValueError("the part 'output_neighbours' needs 'kernel'")
        if "stack" in self.parts and not {"kernel", "linear", "ridge"} & set(self.parts):
            raise ValueError("the part 'stack' needs 'kernel', 'linear' or 'ridge'")
        whole_number(self.few_features, "few_features", 0, 2**31 - 1)
        Kernel(self.n_landmarks, self.kernel_ridge)
        Linear(self.n_replays, self.memory, self.learning_rate)
        Ridge(self.ridge)
        Neighbours(self.n_neighbours, self.memory)

    @property
    def n_votes(self) -> int:
        return len(self.parts)

    def resolve(self, n_features: int, rng: np.random.Generator) -> list[Description]:
        parts = tuple(
            p
            for p in PARTS
            if p in self.parts and (n_features <= self.few_features or p not in _FOR_FEW_FEATURES)
        )
        if "stack" in parts and not {"kernel", "linear", "ridge"} & set(parts):
            parts = tuple(p for p in parts if p != "stack")
        if not parts:
            raise ValueError(
                f"parts is {self.parts}, none of which is for x with {n_features} features"
            )
        seed = self.seed if self.seed is not None else _draw_seed(rng)
        return [dataclasses.replace(self, parts=parts, seed=seed)]

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        members: list[tuple[Description, int]] = [(Kernel(), n_features), (Linear(), n_features)]
        if "ridge" in self.parts:
            members.append((Ridge(), min(n_features, self.few_features)))
        return sum(m.least_bytes(n_labels, n) for m, n in members) + 12 * n_labels * n_labels

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        return _core.committee(
            n_labels,
            n_features,
            list(self.parts),
            self.seed or 0,
            self.n_landmarks,
            float(self.kernel_ridge),
            self.n_replays,
            self.memory,
            float(self.learning_rate),
            float(self.ridge),
            self.n_neighbours,
            self.few_features,
        )


def auto_mix() -> list[Description]:
    """Describe the default learners: a committee, and three experts on the label stream.

    One configuration for all data; benchmarks/learners.py shows what each of them is worth.

    Examples
    --------
    >>> [d.kind for d in auto_mix()]
    ['committee', 'recency', 'recency', 'recency']
    """
    return [Committee(), Recency(1.0), Recency(0.9), Recency(0.5)]
