"""The members of a model: what each keeps in the model's state, and the rule by which its parts are merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from boostline.learners import Description
from boostline.learners.committee import Committee
from boostline.learners.scorer import Scorer

__all__ = ["Arrays", "Member", "members_of"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Member:
    """One learner, or one member of a committee."""

    prefix: str  # of its arrays in the model's state
    name: str
    description: Description
    n_labels: int
    n_features: int  # it looks at the first so many
    reads: tuple[Member, ...] = ()  # the members whose scores it reads


def members_of(model: Any) -> Iterator[Member]:
    """All of a model that has learned."""
    for i, description in enumerate(model._resolved or ()):
        prefix = f"learners.{i}."
        if isinstance(description, Committee):
            before: list[Member] = []
            for name, one in zip(description.names, description.members, strict=True):
                seen = description._seen_by(one, model.n_features)
                reads = tuple(other for other in before if other.name in one.reads)
                before.append(Member(f"{prefix}{name}.", name, one, model.n_labels, seen, reads))
            yield from before
        else:
            name = description.name if isinstance(description, Scorer) else description.kind
            yield Member(prefix, name, description, model.n_labels, model.n_features)
