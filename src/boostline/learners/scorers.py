"""Learners that score every label and follow the labels alone: linear, ridge, kernel, neighbours, recency.

They learn which labels are relevant and do not use the costs: each label is a target of its own. Their votes are their
scores as a distribution. Each can be a learner of its own or a member of a `Committee`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from boostline import _core
from boostline.contract.numbers import real_number, whole_number
from boostline.learners.description import Description

#: How many numbers a member may read for a row with many labels: a fraction of a millisecond.
MOST_WORK = 2_000_000

#: `Description.prior` of learners for streams that change or are sorted.
INSURANCE = 0.12

#: With a smaller penalty the inverses of least squares would overflow.
LEAST_RIDGE = 1e-12


__all__ = [
    "Centroids",
    "Kernel",
    "Linear",
    "Neighbours",
    "Recency",
    "Ridge",
    "SparseLinear",
    "Tracker",
]


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

    @property
    def name(self) -> str:
        """What a committee calls it."""
        return self.kind

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        """The same with less work, for a committee with many labels."""
        return self

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
        return [self if self.seed is not None else dataclasses.replace(self, seed=_draw_seed(rng))]

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        return dataclasses.replace(self, n_replays=min(self.n_replays, 4))

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return (self.n_hashed or n_features) * (8 * n_labels + 32)  # weights and their step sizes


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
    prior: ClassVar[float] = INSURANCE
    is_for_few_labels: ClassVar[bool] = True
    is_for_few_features: ClassVar[bool] = True
    step: float = 0.2

    def __post_init__(self) -> None:
        real_number(self.step, "step", 0.0, 1.0, open_low=True)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return n_features * (8 * n_labels + 32)


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
        Most memory that it may take. If the weights need more than half of it, the features with the least useful
        weights are forgotten; if the rows need more than a quarter, the oldest of them.
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
        return [self if self.seed is not None else dataclasses.replace(self, seed=_draw_seed(rng))]

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 12 * n_labels  # bias and frequency


@dataclass(frozen=True)
class Centroids(Scorer):
    """The mean row of each label; votes by the cosine between a row and these. For sparse rows, such as text.

    It is weak at the top of a ranking, but it knows every label that it has seen once, and it costs next to nothing.
    Together with `SparseLinear` it orders the labels further down. Rows are scaled as in `SparseLinear`.

    Parameters
    ----------
    max_bytes
        Most memory that it may take. If the means need more than half of it, the least useful features are forgotten.
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


@dataclass(frozen=True)
class Kernel(Scorer):
    """Kernel ridge regression: exact for the first ``n_landmarks`` rows, then by recursive least squares.

    The kernel is exp(-|u - u'| / h) + 1 of standardised features, h the root mean square distance. The first
    ``n_landmarks`` rows are the landmarks; later rows move their coefficients.
    """

    kind: ClassVar[str] = "kernel"
    n_landmarks: int = 1000
    ridge: float = 0.2

    def __post_init__(self) -> None:
        whole_number(self.n_landmarks, "n_landmarks", 32, 20_000)
        real_number(self.ridge, "ridge", LEAST_RIDGE, 1e9)

    def for_many_labels(self, n_labels: int, n_features: int) -> Scorer:
        half = n_labels / 2  # n (n + k) numbers
        n = int((half * half + MOST_WORK) ** 0.5 - half)
        return dataclasses.replace(self, n_landmarks=min(self.n_landmarks, max(n, 32)))


@dataclass(frozen=True)
class Neighbours(Scorer):
    """Nearest neighbours among the last ``memory`` rows, weighted by distance."""

    kind: ClassVar[str] = "neighbours"
    is_for_few_labels: ClassVar[bool] = True
    is_for_few_features: ClassVar[bool] = True
    n_neighbours: int = 40
    memory: int = 4000

    def __post_init__(self) -> None:
        whole_number(self.n_neighbours, "n_neighbours", 1, 10_000)
        whole_number(self.memory, "memory", 1, 2**24)

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return 33 * n_features  # their scale


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
    prior: ClassVar[float] = INSURANCE
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


def _draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**63))
