"""The learner for texts."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from boostline.contract.numbers import real_number, whole_number
from boostline.learners.description import Description
from boostline.learners.scorer import Scorer, draw_seed

__all__ = ["SparseRanker"]


@dataclass(frozen=True)
class SparseRanker(Scorer):
    """For texts: a linear machine, the nearest rows and the labels' centroids, blended by learned weights.

    Rows are scaled as in `SparseLinear`, which is the linear machine. An inverted index gives the product of a new row
    with every row in memory, and so the nearest rows and the cosine with each label's centroid.

    Parameters
    ----------
    C, n_replays
        As in `SparseLinear`.
    memory
        Rows that are kept, for replay and for the index.
    n_neighbours
        Nearest rows that vote for their labels.
    max_bytes
        Most memory that it may take. If the weights need more than half of it, the smallest weights are forgotten
        and no new ones of their size are made; if the rows need more than a quarter, the oldest are forgotten.
    seed
        Of the draws; None takes it from the model's seed.

    Examples
    --------
    >>> import boostline as bl, scipy.sparse as sp
    >>> X = sp.random(50, 2**20, density=1e-5, format="csr", random_state=0)
    >>> model = bl.LabelRanker(1000, learners=[bl.learners.SparseRanker()])
    >>> _ = model.learn(X, [{i % 1000} for i in range(50)])
    >>> model.rank(X, top=1)[7]
    array([7])
    """

    kind: ClassVar[str] = "sparse_ranker"
    cap_shares = 4
    is_sparse: ClassVar[bool] = True
    C: float = 0.5
    n_replays: int = 8
    memory: int = 2**16
    n_neighbours: int = 60
    max_bytes: int = 2**29
    seed: int | None = None

    def __post_init__(self) -> None:
        real_number(self.C, "C", 1e-6, 1e6)
        whole_number(self.n_replays, "n_replays", 0, 1000)
        whole_number(self.memory, "memory", 1, 2**24)
        whole_number(self.n_neighbours, "n_neighbours", 1, 10_000)
        whole_number(self.max_bytes, "max_bytes", 0, 2**62)
        if self.seed is not None:
            whole_number(self.seed, "seed", 0, 2**64 - 1)

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        return [self if self.seed is not None else dataclasses.replace(self, seed=draw_seed(rng))]

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 20 * n_labels  # bias, frequency and length of the centroid

    def capped(self, share: int, keep_rows: bool = False) -> Self:
        capped = super().capped(share, keep_rows)
        n = max(1, min(self.memory, capped.max_bytes // 2**11))
        return capped if keep_rows else dataclasses.replace(capped, memory=n)
