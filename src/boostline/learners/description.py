"""Descriptions of weak learners: small frozen objects that say what to build.

A booster's ``learners`` are descriptions. Once the number of features is known, `resolve` settles every
random choice and gives concrete descriptions, and `build` makes the compiled learner. A saved model holds the
concrete ones, so that it never depends on how random numbers are drawn when it is loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from boostline import _core

_KINDS: dict[str, type[Description]] = {}

#: Bytes that a learner takes whatever its size: objects, and vectors that are hardly used.
OBJECT = 2**12


@dataclass(frozen=True)
class Member:
    """A learner of a model, or a member of one of its committees, which has one vote.

    Attributes
    ----------
    name : str
        Its kind, numbered from the second one in a committee on: "kernel", "tracker_2".
    description : Description
    prefix : str
        Of the names of its arrays in `Booster.state`.
    n_labels, n_features : int
        Size of the model; it sees the first so many features.
    reads : tuple of Member
        The members of its committee whose scores it reads.
    """

    name: str
    description: Description
    prefix: str
    n_labels: int
    n_features: int
    reads: tuple[Member, ...] = ()


class Description:
    """Base of all descriptions of learners; subclasses are frozen dataclasses with a ``kind``."""

    kind: ClassVar[str]
    #: Whether its votes are single labels, which potentials built upon the rank loss need.
    votes_single_label: bool = False

    #: Where its weight in a `boostline.LabelRanker` starts, relative to the others. Less than 1 for what is there in
    #: case the stream is of an unusual kind: it has to earn its weight.
    prior: ClassVar[float] = 1.0

    @property
    def n_votes(self) -> int:
        """How many votes it adds to a booster."""
        return 1

    @property
    def priors(self) -> list[float]:
        """`prior` of each vote."""
        return [self.prior] * self.n_votes

    @property
    def name(self) -> str:
        """What a committee or a report calls it."""
        return self.kind

    def as_members(self, prefix: str, n_labels: int, n_features: int) -> list[Member]:
        """It, or the members that it consists of; ``prefix`` begins the names of its arrays."""
        return [Member(self.name, self, prefix, n_labels, n_features)]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            _KINDS[cls.kind] = cls

    def least_bytes(self, n_labels: int, n_features: int) -> int:
        """Bytes of its state that `build` makes room for at once. A file of the learner has at least as many."""
        return 0

    def most_bytes(self, n_labels: int, n_features: int) -> int:
        """The most memory that it can take, for rows without a single zero."""
        if cap := getattr(self, "max_bytes", None):
            return OBJECT + int(cap)
        raise TypeError(
            f"learners has {type(self).__name__}, whose memory has no known limit, so max_bytes must be None"
        )

    #: For a learner with a cap of its own: how many shares it gets of the model's ``max_bytes``.
    cap_shares: int = 0

    def uncapped_bytes(self, n_labels: int, n_features: int) -> int:
        """`most_bytes` of what has no cap."""
        return 0 if self.cap_shares else self.most_bytes(n_labels, n_features)

    def smaller(self) -> Self:
        """The same with about half the memory; itself if it cannot be smaller."""
        return self

    def capped(self, share: int, keep_rows: bool = False) -> Self:
        """The same with at most its shares of memory; with ``keep_rows`` it remembers as many rows as before."""
        if not self.cap_shares:
            return self
        n = share * self.cap_shares
        return dataclasses.replace(self, max_bytes=min(n, self.max_bytes or n))  # type: ignore

    def within(self) -> Description | None:
        """What is left of it where only learners with a cap have room; None: nothing."""
        return self if self.cap_shares else None

    @property
    def caps(self) -> list[int]:
        """The cap of each vote; 0 for none."""
        return [self.max_bytes if self.cap_shares else 0] * self.n_votes  # type: ignore[attr-defined]

    def resolve(
        self, n_features: int, rng: np.random.Generator, n_labels: int = 1
    ) -> list[Description]:
        """Settle what is random or depends on the number of features and labels."""
        return [self]

    def build(self, n_labels: int, n_features: int) -> _core.Learner:
        """Make the learner. Only for concrete descriptions."""
        raise TypeError(f"{type(self).__name__} has to be resolved before it can be built")

    def config(self) -> dict[str, Any]:
        """Return the description as values for JSON; `from_config` reads them."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {
            "kind": self.kind,
            **{k: list(v) if isinstance(v, tuple) else v for k, v in values.items()},
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        if unknown := sorted(set(values) - known):
            raise ValueError(f"a {cls.kind} learner has no setting {unknown[0]!r}")
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def from_config(config: Mapping[str, Any]) -> Description:
    """Make a description from the result of `Description.config`.

    Examples
    --------
    >>> from boostline.learners import HoeffdingTree
    >>> from_config(HoeffdingTree(grace_period=7.0).config()).grace_period
    7.0
    """
    values = dict(config)
    kind = values.pop("kind", None)
    if kind not in _KINDS:
        raise ValueError(f"kind is {kind!r}, but must be one of {', '.join(sorted(_KINDS))}")
    return _KINDS[kind].from_values(values)
