"""Read a stream of examples: single ones, blocks, dicts or a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics._inputs import (
    Bools,
    as_indicator_rows,
    as_indicators,
    as_known,
    is_sparse,
    label_index,
)

_KEYS = ("x", "relevant", "known")


@dataclass(slots=True)
class Item:
    """One item of the stream: `n` rows if it is a block, else a single example with `n` = 1."""

    x: Any
    relevant: Any
    known: Any
    delay: Any
    n: int
    is_block: bool


class LabelSpace:
    """Number and names of the labels, in which all models of an evaluation must agree."""

    def __init__(self, models: dict[str, Any], x: Any) -> None:
        sizes = {name: _n_labels(model, x) for name, model in models.items()}
        first, self.n_labels = next(iter(sizes.items()))
        for name, size in sizes.items():
            if size != self.n_labels:
                raise ValueError(
                    f"model {name!r} has {size} labels, but model {first!r} has {self.n_labels}"
                )
        names = {name: getattr(model, "labels", None) for name, model in models.items()}
        given = {name: list(labels) for name, labels in names.items() if labels is not None}
        labels = next(iter(given.values()), None)
        for name, other in given.items():
            if other != labels:
                raise ValueError(f"the labels of model {name!r} have other names than the first's")
        self.index = label_index(labels)

    def row(self, item: Item, example: int) -> tuple[Bools, Bools | None]:
        """Return the indicators and the mask of a single example."""
        y = as_indicators(
            item.relevant, self.n_labels, self.index, f"relevant of example {example}"
        )
        return np.array(y), as_known(item.known, y.shape)

    def rows(self, item: Item) -> tuple[Bools, Bools | None]:
        """Return the indicators and the mask of a block."""
        y = as_indicator_rows(item.relevant, item.n, self.n_labels, self.index, "relevant")
        return y, as_known(item.known, y.shape)


def read_items(stream: Any, delay_field: str | None, block: int) -> Iterator[Item]:
    """Yield the items of a stream.

    An item is `(x, relevant)`, `(x, relevant, delay)`, or a mapping with the keys "x", "relevant",
    optionally "known", and the delay's. A block has a matrix as x.
    """
    if hasattr(stream, "X") and hasattr(stream, "Y"):
        stream = _cut(stream, block)
    for number, item in enumerate(stream):
        yield _read(item, number, delay_field)


def length_of(stream: Any) -> int | None:
    """Return the number of examples, if it can be known beforehand."""
    if hasattr(stream, "X") and hasattr(stream, "Y"):
        return int(stream.X.shape[0])
    if isinstance(stream, (list, tuple)) and not any(
        isinstance(item, (tuple, list)) and item and _is_matrix(item[0]) for item in stream
    ):
        return len(stream)
    return None


def split(item: Item) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a block as (x, delay)."""
    delays = item.delay
    if delays is not None and np.ndim(delays) == 0:
        delays = [delays] * item.n
    if delays is not None and len(delays) != item.n:
        raise ValueError(f"a block of {item.n} rows has {len(delays)} delays")
    sparse = is_sparse(item.x)
    for i in range(item.n):
        x = item.x[i : i + 1] if sparse else item.x[i]
        yield x, None if delays is None else delays[i]


def own(x: Any) -> Any:
    """Copy what the stream may write over before it is used."""
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    return x.copy() if hasattr(x, "copy") else x


def _read(item: Any, number: int, delay_field: str | None) -> Item:
    known = delay = None
    if isinstance(item, Mapping):
        for key in ("x", "relevant", *([delay_field] if delay_field else [])):
            if key not in item:
                raise ValueError(f"item {number} of the stream has no {key!r}")
        for key in item:
            if key not in (*_KEYS, delay_field):
                raise ValueError(
                    f"item {number} of the stream has the key {key!r}; "
                    f"keys are {', '.join(_KEYS)} and the one that delay names"
                )
        x, relevant, known = item["x"], item["relevant"], item.get("known")
        delay = item[delay_field] if delay_field else None
    elif isinstance(item, (tuple, list)) and len(item) == (3 if delay_field else 2):
        x, relevant = item[0], item[1]
        delay = item[2] if delay_field else None
    else:
        kind = type(item).__name__
        if isinstance(item, (tuple, list)):
            kind += f" of {len(item)}"
        wanted = f"(x, relevant, {delay_field})" if delay_field else "(x, relevant)"
        raise TypeError(f"item {number} of the stream is a {kind}; {wanted} or a dict is needed")
    # A sparse x has two axes even for one row: that is a block only if its labels have two as well.
    is_block = _is_matrix(x) and not (is_sparse(x) and x.shape[0] == 1 and not _is_matrix(relevant))
    return Item(x, relevant, known, delay, int(x.shape[0]) if is_block else 1, is_block)


def _is_matrix(value: Any) -> bool:
    return (isinstance(value, np.ndarray) or is_sparse(value)) and len(value.shape) == 2


def _cut(data: Any, block: int) -> Iterable[dict[str, Any]]:
    known = getattr(data, "known", None)
    n = int(data.X.shape[0])
    if data.Y.shape[0] != n:
        raise ValueError(f"stream.X has {n} rows, but stream.Y has {data.Y.shape[0]}")
    for start in range(0, n, block):
        part = slice(start, start + block)
        item = {"x": data.X[part], "relevant": data.Y[part]}
        if known is not None:
            item["known"] = known[part]
        yield item


def _n_labels(model: Any, x: Any) -> int:
    n_labels = getattr(model, "n_labels", None)
    if n_labels is not None:
        return int(n_labels)
    # score is pure: asking it once changes nothing.
    return int(np.asarray(model.score(x)).shape[-1])
