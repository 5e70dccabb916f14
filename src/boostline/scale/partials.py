"""Partial statistics: what a worker makes of its rows, and how such parts are put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["VERSION", "Partial", "merge"]

#: Of what `Partial` holds. Workers and the process that merges must agree.
VERSION = 2


@dataclass(frozen=True)
class Partial:
    """What `partial` makes of some rows. It can be pickled, and its size does not depend on the number of rows.

    Attributes
    ----------
    base : str
        Fingerprint of the model that it was made with: only parts of the same model can be merged.
    n_rows : int
        Rows that went into it.
    sums : dict
        Statistics by name, all of which can be added.
    version : int
        Of the content; another version is refused.
    """

    base: str
    n_rows: int
    sums: dict[str, Any]
    version: int = VERSION

    @property
    def n_bytes(self) -> int:
        """What travels from a worker, in bytes."""
        return sum(_bytes(one) for one in self.sums.values())

    def __repr__(self) -> str:
        return f"Partial(n_rows={self.n_rows}, n_bytes={self.n_bytes}, base={self.base[:8]!r})"


def merge(partials: Iterable[Partial]) -> Partial:
    """Put parts together. The order changes the result by rounding only.

    Parameters
    ----------
    partials
        Made by `partial` with the same model. They are taken one after the other, so a generator keeps only two in
        memory.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline import scale
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = bl.LabelRanker(3, learners=[bl.learners.Ridge()])
    >>> _ = model.learn(X[:100], X[:100] > 0)
    >>> parts = [scale.partial(model, (X[i : i + 100], X[i : i + 100] > 0)) for i in (100, 200)]
    >>> scale.merge(parts).n_rows
    200
    """
    merged: Partial | None = None
    for one in partials:
        if not isinstance(one, Partial):
            raise TypeError(f"partials has a {type(one).__name__}, but must have what partial gave")
        if one.version != VERSION:
            raise ValueError(
                f"partials has one of version {one.version}, but must have version {VERSION}: all workers need the "
                "same version of boostline"
            )
        if merged is None:
            merged = one
            continue
        if one.base != merged.base:
            raise ValueError("partials were made with different models, but must be made with one")
        merged = Partial(
            one.base,
            merged.n_rows + one.n_rows,
            {name: value + one.sums[name] for name, value in merged.sums.items()},
        )
    if merged is None:
        raise ValueError("partials is empty, but must have at least one")
    return merged


def _bytes(value: Any) -> int:
    return int(
        value.data.nbytes + value.indices.nbytes if hasattr(value, "indices") else value.nbytes
    )
