"""Linear scorers: one weight for each feature and label."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from boostline.contract.numbers import real_number, whole_number
from boostline.learners.description import OBJECT, Description
from boostline.learners.scorer import (
    BLOCK,
    DRIFT_MEMBER_PRIOR,
    LEAST_RIDGE,
    Scorer,
    draw_seed,
    least_squares_bytes,
    rows_bytes,
)

__all__ = ["Centroids", "Linear", "Ridge", "SparseLinear", "Tracker"]


@dataclass(frozen=True)
class Linear(Scorer):
    """Logistic regression for every label, with AdaGrad and replay; suits sparse rows.

    Features are scaled online: features that are mostly zero by their root mean square, others to mean 0 and
    deviation 1.

    Parameters
    ----------
    n_replays
        Number of rows that are learned again with every new one, drawn from the last ``memory`` rows.
    memory
        Number of rows kept for replay.
    learning_rate
        Step size of AdaGrad.
    n_hashed
        Hash features into this many buckets, which bounds the memory; 0 for no hashing.
    seed
        Random seed; None derives it from the model's seed.
    """

    kind: ClassVar[str] = "linear"
    keeps: ClassVar[str] = "memory"
    n_replays: int = 16
    memory: int = 4000
    learning_rate: float = 0.3
    n_hashed: int = 0
    seed: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.n_replays, "n_replays", 0, 1000)
        whole_number(self.memory, "memory", 1, 2**24)
        real_number(self.learning_rate, "learning_rate", 0.0, 100.0, open_low=True)
        whole_number(self.n_hashed, "n_hashed", 0, 2**28)
        if self.seed is not None:
            whole_number(self.seed, "seed", 0, 2**64 - 1)

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        return [self if self.seed is not None else dataclasses.replace(self, seed=draw_seed(rng))]

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        return dataclasses.replace(self, n_replays=min(self.n_replays, 4))

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return (self.n_hashed or n_features) * (8 * n_labels + 32)  # weights and their step sizes

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        width, rows = self.n_hashed or n_features, self.memory + BLOCK
        weights = width * (16 * (n_labels + 16) + 256) + 64 * n_labels
        return OBJECT + weights + rows_bytes(rows, width, n_labels)


@dataclass(frozen=True)
class Tracker(Scorer):
    """Logistic regression for every label by steps that never shrink: it follows a stream that wanders.

    One step for each row and no memory of rows: the cheapest learner that looks at features.

    Parameters
    ----------
    step
        How much of the error of an uncertain row a step undoes. Large steps follow fast changes, small ones are less
        noisy.

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.LabelRanker(3, learners=[bl.learners.Tracker(0.2), bl.learners.Tracker(0.8)])
    >>> model.learn([1.0, 2.0], {0}).shape
    (3,)
    """

    kind: ClassVar[str] = "tracker"
    prior: ClassVar[float] = DRIFT_MEMBER_PRIOR
    is_for_few_labels: ClassVar[bool] = True
    is_for_few_features: ClassVar[bool] = True
    step: float = 0.2

    def __post_init__(self) -> None:
        real_number(self.step, "step", 0.0, 1.0, open_low=True)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return n_features * (8 * n_labels + 32)

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        return OBJECT + 8 * (n_labels + 8) * (n_features + 2) + 64 * n_features


@dataclass(frozen=True)
class SparseLinear(Scorer):
    """Per-label linear support vector machine for sparse rows: text, and thousands of labels.

    The time for a row grows with its non-zeros, and a weight takes memory once it is needed: rows may have 2**20
    columns. Values are taken as sign(x) log(1 + abs(x)), and rows are brought to length 1, so both counts of words and
    tf-idf weights can be used.

    Parameters
    ----------
    C
        How much a row counts against the penalty of the squared weights. In a `Committee` with more than 1,024
        labels the default is .5.
    n_replays
        Rows learned again with every new one, drawn from the last ``memory``. In a `Committee` with more than 1,024
        and up to 8,192 labels the default is 12.
    memory
        Rows kept for replay.
    max_bytes
        Most memory that it may take. If the weights need more than half of it, the smallest weights are forgotten
        and no new ones of their size are made; if the rows need more than a quarter, the oldest are forgotten.
    emphasis
        Votes are multiplied by (1 + score) to this power where the score is positive, so that the labels it is
        surest of stay first in a mixture. Its own order does not change.
    seed
        Of the draws; None takes it from the model's seed.

    Examples
    --------
    >>> import boostline as bl, scipy.sparse as sp
    >>> X = sp.random(50, 2**20, density=1e-5, format="csr", random_state=0)
    >>> model = bl.LabelRanker(1000, learners=[bl.learners.SparseLinear()])
    >>> _ = model.learn(X, [{i % 1000} for i in range(50)])
    >>> model.memory_usage() < 2**23
    True
    """

    kind: ClassVar[str] = "sparse_linear"
    cap_shares = 3
    is_sparse: ClassVar[bool] = True
    C: float = 0.3
    n_replays: int = 8
    memory: int = 4000
    max_bytes: int = 2**29
    emphasis: int = 0
    seed: int | None = None

    def __post_init__(self) -> None:
        real_number(self.C, "C", 1e-6, 1e6)
        whole_number(self.n_replays, "n_replays", 0, 1000)
        whole_number(self.memory, "memory", 1, 2**24)
        whole_number(self.max_bytes, "max_bytes", 0, 2**62)
        whole_number(self.emphasis, "emphasis", 0, 16)
        if self.seed is not None:
            whole_number(self.seed, "seed", 0, 2**64 - 1)

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        # It has the first labels to itself. Where it is alone, rows count more and are looked at more often, as far as
        # there is time: labels have few rows each. What somebody chose stays.
        C, n_replays = self.C, self.n_replays
        if n_labels > 1024:
            C = 0.5 if C == SparseLinear.C else C
            is_free = n_replays == SparseLinear.n_replays and n_labels <= 8192
            n_replays = 12 if is_free else n_replays
        return dataclasses.replace(self, emphasis=0, C=C, n_replays=n_replays)

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        return [self if self.seed is not None else dataclasses.replace(self, seed=draw_seed(rng))]

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 12 * n_labels  # bias and frequency

    def capped(self, share: int, keep_rows: bool = False) -> Self:
        capped = super().capped(share, keep_rows)
        n = capped.max_bytes // 2**11
        return (
            capped if keep_rows else dataclasses.replace(capped, memory=max(1, min(self.memory, n)))
        )


@dataclass(frozen=True)
class Centroids(Scorer):
    """The mean row of each label; votes by the cosine between a row and these. For sparse rows, such as text.

    It is weak at the top of a ranking, but it knows every label that it has seen once, and it costs next to nothing.
    Together with `SparseLinear` it orders the labels further down. Rows are scaled as in `SparseLinear`.

    Parameters
    ----------
    max_bytes
        Most memory that it may take. If the means need more than half of it, their smallest numbers are forgotten.
    most_labels
        With more labels than this a committee leaves it out. None: never.

    Examples
    --------
    >>> import boostline as bl
    >>> model = bl.LabelRanker(2, learners=[bl.learners.Centroids()])
    >>> _ = model.learn([[1.0, 0.0, 1.0], [0.0, 2.0, 1.0]], [{0}, {1}])
    >>> model.votes([1.0, 0.0, 0.0]).argmax()
    np.int64(0)
    """

    kind: ClassVar[str] = "centroids"
    cap_shares = 1
    is_sparse: ClassVar[bool] = True
    max_bytes: int = 2**28
    most_labels: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.max_bytes, "max_bytes", 0, 2**62)
        if self.most_labels is not None:
            whole_number(self.most_labels, "most_labels", 1, 2**31 - 1)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 8 * n_labels  # lengths


@dataclass(frozen=True)
class Ridge(Scorer):
    """Linear least squares, exact after every row; its cost grows with the square of the number of features.

    Parameters
    ----------
    ridge
        Penalty on the squared weights.
    forgetting
        If below 1, the row ``age`` rows ago counts ``forgetting ** age``: for streams that change slowly.

    Examples
    --------
    >>> import boostline as bl
    >>> bl.AdaOLMR(3, learners=[bl.learners.Ridge()]).learn([1.0, 2.0], {0}).shape
    (3,)
    """

    kind: ClassVar[str] = "ridge"
    is_for_few_labels: ClassVar[bool] = True
    is_for_few_features: ClassVar[bool] = True
    ridge: float = 3.0
    forgetting: float = 1.0

    def __post_init__(self) -> None:
        real_number(self.ridge, "ridge", LEAST_RIDGE, 1e9)
        real_number(self.forgetting, "forgetting", 0.5, 1.0)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return n_features * (4 * n_features + 8 * n_labels + 32)

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        return least_squares_bytes(n_features + 1, n_labels)
