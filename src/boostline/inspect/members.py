"""The scorers in a model, one per vote, with a way to read their arrays as docs/file-format.md describes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.learners import Committee, from_config
from boostline.saving.states import held

_CLIP = 5.0  # of scaled features, as in the core


@dataclass(frozen=True)
class Member:
    """A scorer: what it is, and whose vote it gives."""

    vote: int
    kind: str
    settings: Any  # its description
    n_features: int  # it looks at the first so many
    learner: int
    prefix: str
    native: Any

    def arrays(self, *names: str) -> list[NDArray[Any]]:
        """Its arrays of these names; without a copy of all others."""

        def read(state: Any) -> list[NDArray[Any]]:
            stored = held(state, self.learner)
            return [stored[f"learners.{self.learner}.{self.prefix}{name}"].read() for name in names]

        return self.native.hold(read)  # type: ignore[no-any-return]

    def serving(self) -> Member:
        """The scorer that gives the vote: of generations the older one."""
        if self.kind != "generations":
            return self
        inner = self.settings.of
        return replace(self, kind=inner.kind, settings=inner, prefix=f"{self.prefix}old.")

    def has(self, name: str) -> bool:
        """Whether there is such an array by now."""
        full = f"learners.{self.learner}.{self.prefix}{name}"
        return bool(self.native.hold(lambda state: full in held(state, self.learner)))


def members_of(model: Any) -> list[Member]:
    """The scorers of a model that has learned something; learners of other kinds are left out."""
    config = model.config()
    native = model._native
    if native is None or config["resolved"] is None:
        return []
    members = []
    vote = 0
    for learner, one in enumerate(config["resolved"]):
        if one["kind"] == "python":
            vote += 1
            continue
        description = from_config(one)
        parts = [("", description)]
        few = None
        if isinstance(description, Committee):
            parts = [
                (f"{name}.", member)
                for name, member in zip(description.names, description.members, strict=True)
            ]
            few = description.few_features
        for place, (prefix, part) in enumerate(parts):
            seen = config["n_features"]
            if few is not None and getattr(part, "is_for_few_features", False):
                seen = min(seen, few)
            members.append(Member(vote + place, part.kind, part, seen, learner, prefix, native))
        vote += description.n_votes
    return members


def clipped(values: FloatArray) -> FloatArray:
    """Between -5 and 5; 0 for what is missing."""
    return np.clip(np.nan_to_num(values, nan=0.0), -_CLIP, _CLIP)


@dataclass(frozen=True)
class Moments:
    """Mean, deviation and size of features, from the moments of their non-zero values."""

    n_rows: float
    n_nonzero: FloatArray
    n_missing: FloatArray
    mean_nonzero: FloatArray
    m2: FloatArray

    @classmethod
    def of(cls, member: Member, prefix: str) -> Moments:
        names = ("n_rows", "n_nonzero", "n_missing", "mean", "m2")
        n_rows, *others = member.arrays(*(prefix + name for name in names))
        return cls(float(n_rows[0]), *others)

    @property
    def mean(self) -> FloatArray:
        n = self.n_rows - self.n_missing
        return np.where(n > 0, self.mean_nonzero * (self.n_nonzero / np.maximum(n, 1)), 0.0)

    @property
    def inverse_deviation(self) -> FloatArray:
        n = np.maximum(self.n_rows - self.n_missing, 1)
        m2 = self.m2 + self.mean_nonzero**2 * (self.n_nonzero * (n - self.n_nonzero) / n)
        deviation = np.where(self.n_rows > self.n_missing, np.sqrt(np.maximum(m2, 0) / n), 0.0)
        varies = (deviation > 1e-9 * np.abs(self.mean)) & (deviation > 0)
        return np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0)

    @property
    def inverse_rms(self) -> FloatArray:
        n = np.maximum(self.n_nonzero, 1)
        rms = np.where(self.n_nonzero > 0, np.sqrt(self.m2 / n + self.mean_nonzero**2), 0.0)
        return np.where(rms > 0, 1 / np.where(rms > 0, rms, 1.0), 0.0)


def standardised(member: Member, x: FloatArray) -> FloatArray:
    """A row on the scale of `Ridge` and `Tracker`: mean 0 and deviation 1."""
    moments = Moments.of(member, "scale.")
    return clipped((x - moments.mean) * moments.inverse_deviation)


def scaled_units(member: Member, x: FloatArray) -> FloatArray:
    """A row on the scale of `Linear` and `Neighbours`: dense features centred, the others brought to length 1."""
    moments = Moments.of(member, "scale_")
    (is_dense,) = member.arrays("is_dense")
    dense = is_dense.astype(bool)
    sparse = np.where(dense, 0.0, clipped(x * moments.inverse_rms))
    length = float(np.sqrt(sparse @ sparse))
    inverse = moments.inverse_deviation
    share = 1 / np.sqrt(max(int((inverse[dense] > 0).sum()), 1))
    centred = clipped((x - moments.mean) * inverse) * share
    return np.where(dense, centred, sparse / length if length else sparse)
