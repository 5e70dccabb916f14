"""Several scorers that build upon each other: the heart of the default."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boostline import _core
from boostline.contract.numbers import whole_number
from boostline.learners.description import Description, Member, from_config
from boostline.learners.linear import Centroids, Linear, SparseLinear, Tracker
from boostline.learners.scorer import Scorer
from boostline.learners.scorers import (
    Kernel,
    Neighbours,
    OutputNeighbours,
    Recency,
    SlidingWindow,
)

#: Above this number of labels, the default leaves out the `Recency` members: their time grows with the labels, and
#: they worsen the top ranks (debdepends, held-out train rows).
MANY_LABELS = 1024

#: The members of the default, in the order of their votes.
MEMBERS: tuple[Scorer, ...] = (
    Kernel(),
    Linear(),
    Neighbours(),
    OutputNeighbours(memory=32_000),
    Tracker(step=0.8),
    Tracker(step=0.2),
    SlidingWindow(Kernel(n_landmarks=200), length=300),
    SparseLinear(emphasis=4),
    Centroids(most_labels=512),
)


@dataclass(frozen=True)
class Committee(Description):
    """Scorers that share their work, one vote each.

    Most members read the features. `OutputNeighbours` reads the scores of members before it, which it
    names by their kind ("kernel", "linear", ...); a second member of the same kind is "kernel_2", and so on.

    Parameters
    ----------
    members
        Descriptions of scorers, in the order of their votes.
    few_features
        With more features than this, members whose cost grows with the number of features (`Ridge`, `Neighbours`,
        `Tracker`) are left out. If features are added later, these members use only this many.
    few_labels
        With more labels than this, `Ridge`, `Neighbours`, `Tracker` and `SlidingWindow` are left out, and the
        others have fewer landmarks, rows and replays, so that a row still takes a millisecond or two.
    most_weights
        If the number of features times that of labels is larger, only members that make a weight when it is first
        needed (`SparseLinear`, `Centroids`) take part, if there are any.
    many_features
        Below it, and below ``most_weights``, these two are left out: tables with so few columns are rarely sparse, and
        the others are as good there.

    Examples
    --------
    >>> from boostline.learners import Committee, Kernel, Linear, OutputNeighbours
    >>> Committee([Kernel(n_landmarks=200), Linear(), OutputNeighbours()]).n_votes
    3
    """

    kind: ClassVar[str] = "committee"
    members: Sequence[Scorer] = MEMBERS
    few_features: int = 512
    few_labels: int = 512
    most_weights: int = 2**20
    many_features: int = 400

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        whole_number(self.few_features, "few_features", 0, 2**31 - 1)
        whole_number(self.few_labels, "few_labels", 0, 2**31 - 1)
        whole_number(self.most_weights, "most_weights", 0, 2**62)
        whole_number(self.many_features, "many_features", 0, 2**31 - 1)
        if not self.members:
            raise ValueError("members is empty, but must have at least one member")
        for member in self.members:
            if not isinstance(member, Scorer):
                raise TypeError(
                    f"members has {member!r}, but must be scorers such as Kernel() or Linear()"
                )
        for i, member in enumerate(self.members):
            if member.reads and not _read(member, self.names[:i]):
                raise ValueError(
                    f"{type(member).__name__} reads {', '.join(member.reads)}, but the members before it are "
                    f"{', '.join(self.names[:i]) or 'none'}"
                )

    @property
    def names(self) -> list[str]:
        """The members' names: their kinds, numbered from the second on."""
        kinds = [member.name for member in self.members]
        return [
            kind if (n := kinds[: i + 1].count(kind)) == 1 else f"{kind}_{n}"
            for i, kind in enumerate(kinds)
        ]

    @property
    def n_votes(self) -> int:
        return len(self.members)

    @property
    def priors(self) -> list[float]:
        return [member.prior for member in self.members]

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        kept: list[Scorer] = []
        names: list[str] = []
        for member, name in zip(self.members, self.names, strict=True):
            if not self._takes_part(member, n_labels, n_features):
                continue
            if member.reads and not _read(member, names):
                continue
            many = n_labels > self.few_labels
            taken = member.for_many_labels(n_labels, n_features) if many else member
            (concrete,) = taken.resolve(n_features, rng, n_labels)
            assert isinstance(concrete, Scorer)
            kept.append(concrete)
            names.append(name)
        if not kept:
            raise ValueError(
                f"members is {', '.join(self.names)}, none of which can be used with {n_labels} labels "
                f"and {n_features} features"
            )
        return [dataclasses.replace(self, members=tuple(kept))]

    def _takes_part(self, member: Scorer, n_labels: int, n_features: int) -> bool:
        """Whether a member is for so many labels and features."""
        if member.is_for_few_features and n_features > self.few_features:
            return False
        if member.is_for_few_labels and n_labels > self.few_labels:
            return False
        if member.most_labels is not None and n_labels > member.most_labels:
            return False
        is_large = n_features * n_labels > self.most_weights
        if member.is_sparse:
            are_all = all(m.is_sparse for m in self.members)
            return is_large or n_features >= self.many_features or are_all
        return not (is_large and any(m.is_sparse for m in self.members))

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        return sum(m.least_bytes(n_labels, self._seen_by(m, n_features)) for m in self.members)

    @property
    def cap_shares(self) -> int:  # type: ignore[override]
        return sum(member.cap_shares for member in self.members)

    @property
    def caps(self) -> list[int]:
        return [cap for member in self.members for cap in member.caps]

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        return sum(m.most_bytes(n_labels, self._seen_by(m, n_features)) for m in self.members)

    def uncapped_bytes(self, n_labels: int, n_features: int) -> int:
        return sum(m.uncapped_bytes(n_labels, self._seen_by(m, n_features)) for m in self.members)

    def smaller(self) -> Self:
        return dataclasses.replace(self, members=[m.smaller() for m in self.members])

    def capped(self, share: int, keep_rows: bool = False) -> Self:
        return dataclasses.replace(self, members=[m.capped(share, keep_rows) for m in self.members])

    def within(self) -> Description | None:
        members = [m for m in self.members if m.within()]
        return dataclasses.replace(self, members=members) if members else None

    def as_members(self, prefix: str, n_labels: int, n_features: int) -> list[Member]:
        found: list[Member] = []
        for name, one in zip(self.names, self.members, strict=True):
            reads = tuple(other for other in found if other.name in one.reads)
            seen = self._seen_by(one, n_features)
            found.append(Member(name, one, f"{prefix}{name}.", n_labels, seen, reads))
        return found

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        names = self.names
        return _core.committee(
            n_labels,
            n_features,
            [
                (
                    f"{name}.",
                    member.scorer(n_labels, self._seen_by(member, n_features)),
                    _read(member, names[:i]),
                    self.few_features if member.is_for_few_features else 0,
                )
                for i, (name, member) in enumerate(zip(names, self.members, strict=True))
            ],
        )

    def _seen_by(self, member: Scorer, n_features: int) -> int:
        return min(n_features, self.few_features) if member.is_for_few_features else n_features

    def config(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "members": [member.config() for member in self.members],
            "few_features": self.few_features,
            "few_labels": self.few_labels,
            "most_weights": self.most_weights,
            "many_features": self.many_features,
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        values = dict(values)
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := sorted(set(values) - known):
            raise ValueError(f"a committee has no setting {unknown[0]!r}")
        members = [from_config(member) for member in values.pop("members")]
        return cls(tuple(members), **values)  # type: ignore[arg-type]


def _read(member: Scorer, names: Sequence[str]) -> list[int]:
    """Which of the members before it a member reads."""
    return [i for i, name in enumerate(names) if name in member.reads]


def auto_mix() -> list[Description]:
    """Return the learners of `boostline.LabelRanker`: a committee and three counters of recent labels.

    They are the same for all data. benchmarks/learners.py measures what each is worth.

    Examples
    --------
    >>> [d.kind for d in auto_mix()]
    ['committee', 'recency', 'recency', 'recency']
    """
    return [Committee(), *(Recency(decay, MANY_LABELS) for decay in (1.0, 0.9, 0.5))]
