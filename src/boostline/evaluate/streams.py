"""Read a stream of examples: single ones, blocks, dicts or a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.contract import frames
from boostline.contract.frames import Named, is_matrix, take_rows
from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.sparse import is_sparse
from boostline.evaluate.callers import Caller, RiverCaller

_KEYS = ("x", "relevant", "unknown")


@dataclass(slots=True)
class Item:
    """One item of the stream: `n` rows if it is a block, else a single example with `n` = 1."""

    x: Any
    relevant: Any
    unknown: Any
    delay: Any
    n: int
    is_block: bool


class Labels:
    """The labels of an evaluation, in which all its models must agree. With River's models alone they may grow."""

    def __init__(self, callers: Sequence[Caller], x: Any) -> None:
        self._river = [one for one in callers if isinstance(one, RiverCaller)]
        others = [one for one in callers if not isinstance(one, RiverCaller)]
        self._may_grow = not others
        sizes = {one.name: _n_labels(one.model, x) for one in others}
        first, n_labels = next(iter(sizes.items())) if sizes else ("", 0)
        for name, size in sizes.items():
            if size != n_labels:
                raise ValueError(
                    f"model {name!r} has {size} labels, but must have {n_labels}, like model {first!r}"
                )
        known = {one.name: getattr(one.model, "labels", None) for one in others}
        given = {name: list(labels) for name, labels in known.items() if labels is not None}
        names = next(iter(given.values()), None)
        for name, other in given.items():
            if other != names:
                raise ValueError(
                    f"the labels of model {name!r} have other names than the first model, but must have the same"
                )
        if self._may_grow:
            names = list(dict.fromkeys(label for one in self._river for label in one.labels))
        self._set(LabelSpace(len(names) if self._may_grow else n_labels, names))  # type: ignore[arg-type]

    @property
    def n_labels(self) -> int:
        return self._space.n_labels

    @property
    def names(self) -> list[Any] | None:
        return self._space.names

    def read(self, item: Item, example: int, name: str = "relevant") -> LabelSets:
        """The label sets of an item; `example` is the number of the first one."""
        if self._may_grow:
            self._admit(item)
        if not item.is_block:
            name = f"{name} of example {example}"
        sets = self._space.read(item.relevant, item.n, not item.is_block, item.unknown, name)
        if sets.names is not None:
            self._set(LabelSpace(self.n_labels, sets.names))
        return sets

    def _set(self, space: LabelSpace) -> None:
        self._space = space
        for one in self._river:
            one.labels = list(range(space.n_labels)) if space.names is None else space.names

    def _admit(self, item: Item) -> None:
        """Labels that come up for the first time are added, in an order that no set can change."""
        names = self._space.names or []
        if (width := _width(item.relevant)) is not None:
            found = frames.names_of(item.relevant, "relevant") or range(width)
            if names:
                return  # columns are matched with the names that there are
            new = list(found)
        else:
            rows = item.relevant if item.is_block else [item.relevant]
            new = [
                label for row in rows if isinstance(row, Set | Sequence | Mapping) for label in row
            ]
            new = [label for label in dict.fromkeys(new) if label not in set(names)]
            new.sort(key=lambda label: (type(label).__name__, str(label)))
        if new:
            self._set(LabelSpace(len(names) + len(new), [*names, *new]))


def _width(relevant: Any) -> int | None:
    """Number of columns of an indicator; None for label sets."""
    if hasattr(relevant, "shape") and len(relevant.shape):
        return int(relevant.shape[-1])
    bools = isinstance(relevant, list | tuple) and all(isinstance(one, bool) for one in relevant)
    return len(relevant) if bools and len(relevant) else None


def read_items(
    stream: Any, delay_field: str | None, block: int, callers: Sequence[Caller]
) -> Iterator[Item]:
    """Yield the items of a stream.

    An item is `(x, relevant)`, `(x, relevant, delay)`, or a mapping with the keys "x", "relevant",
    optionally "unknown", and the delay's. A block has a matrix as x.
    """
    if hasattr(stream, "X") and hasattr(stream, "Y"):
        stream = _cut(NamedData(stream, "stream", callers), block)
    for number, item in enumerate(stream):
        yield _read(item, number, delay_field)


def length_of(stream: Any) -> int | None:
    """Return the number of examples, if it can be known beforehand."""
    if hasattr(stream, "X") and hasattr(stream, "Y"):
        return int(stream.X.shape[0])
    if isinstance(stream, (list, tuple)) and not any(
        isinstance(item, (tuple, list)) and item and is_matrix(item[0]) for item in stream
    ):
        return len(stream)
    return None


def split(item: Item) -> Iterator[tuple[Any, Any]]:
    """Yield the rows of a block as (x, delay)."""
    delays = item.delay
    if delays is not None and np.ndim(delays) == 0:
        delays = [delays] * item.n
    if delays is not None and len(delays) != item.n:
        raise ValueError(
            f"a block of {item.n} rows has {len(delays)} delays, but must have one for each"
        )
    for i in range(item.n):
        x = item.x[i : i + 1] if is_sparse(item.x) else take_rows(item.x, i)
        yield x, None if delays is None else delays[i]


def own(x: Any) -> Any:
    """Copy what the stream may write over before it is used."""
    if isinstance(x, (list, tuple)):
        return np.asarray(x)
    if isinstance(x, Named):
        return Named(own(x.matrix), x.names)
    return x.copy() if hasattr(x, "copy") else x


def _read(item: Any, number: int, delay_field: str | None) -> Item:
    unknown = delay = None
    if isinstance(item, Mapping):
        for key in ("x", "relevant", *([delay_field] if delay_field else [])):
            if key not in item:
                raise ValueError(f"item {number} of the stream has no {key!r}, but must have it")
        for key in item:
            if key not in (*_KEYS, delay_field):
                raise ValueError(
                    f"item {number} of the stream has the key {key!r}, but must have {', '.join(_KEYS)} and "
                    "the one that delay names"
                )
        x, relevant, unknown = item["x"], item["relevant"], item.get("unknown")
        delay = item[delay_field] if delay_field else None
    elif isinstance(item, (tuple, list)) and len(item) == (3 if delay_field else 2):
        x, relevant = item[0], item[1]
        delay = item[2] if delay_field else None
    else:
        kind = type(item).__name__
        if isinstance(item, (tuple, list)):
            kind += f" of {len(item)}"
        wanted = f"(x, relevant, {delay_field})" if delay_field else "(x, relevant)"
        raise TypeError(f"item {number} of the stream is a {kind}, but must be {wanted} or a dict")
    x = _unframed(x, "x")
    # A sparse x has two axes even for one row: that is a block only if its labels have two as well.
    is_block = is_matrix(x) and not (is_sparse(x) and x.shape[0] == 1 and not is_matrix(relevant))
    return Item(x, relevant, unknown, delay, int(x.shape[0]) if is_block else 1, is_block)


def _unframed(x: Any, name: str) -> Any:
    """A frame, or a row of one, as a `Named` matrix: its parts are cheaper to take."""
    names = frames.names_of(x, name)
    return x if names is None or isinstance(x, Named) else Named(frames.as_array(x, name), names)


def _cut(data: NamedData, block: int) -> Iterable[dict[str, Any]]:
    for start in range(0, data.n, block):
        part = slice(start, start + block)
        item = {"x": take_rows(data.X, part), "relevant": take_rows(data.Y, part)}
        if data.unknown is not None:
            item["unknown"] = take_rows(data.unknown, part)
        yield item


class NamedData:
    """A data set in memory. The columns of `X` and `Y` go with their names if a model has names."""

    def __init__(self, data: Any, name: str, callers: Sequence[Caller]) -> None:
        for attribute in ("X", "Y"):
            if not hasattr(data, attribute):
                raise TypeError(f"{name} is a {type(data).__name__} without {attribute}")
            if len(getattr(getattr(data, attribute), "shape", ())) != 2:
                raise ValueError(
                    f"{name}.{attribute} is a {type(getattr(data, attribute)).__name__}, but must be an array, a "
                    "frame or a sparse matrix with two axes"
                )
        self.n = int(data.X.shape[0])
        if data.Y.shape[0] != self.n:
            raise ValueError(
                f"{name}.Y has {data.Y.shape[0]} rows, but must have {self.n}, like {name}.X"
            )
        self.X = _unframed(_with_names(data.X, "features", data, callers), f"{name}.X")
        self.Y = _with_names(data.Y, "labels", data, callers)
        self.unknown = getattr(data, "unknown", None)


def _with_names(matrix: Any, what: str, data: Any, callers: Sequence[Caller]) -> Any:
    names = getattr(data, what, None)
    asked = any(
        isinstance(one, RiverCaller) or getattr(one.model, what, None) is not None
        for one in callers
    )
    # Names that are only numbers, which a `Dataset` gives to columns without names, are none.
    names = [] if names is None else list(names)
    is_numbered = names == [str(i) for i in range(len(names))]
    return matrix if frames.is_frame(matrix) or not asked or is_numbered else Named(matrix, names)


def _n_labels(model: Any, x: Any) -> int:
    n_labels = getattr(model, "n_labels", None)
    if n_labels is not None:
        return int(n_labels)
    x = x.matrix if isinstance(x, Named) else x
    if isinstance(x, np.ndarray) and x.ndim == 2:
        x = x[0]
    # score is pure: asking it once changes nothing.
    return int(np.asarray(model.score(x)).shape[-1])


def stack_examples(examples: Sequence[Any]) -> Any:
    """Make a matrix of single examples: an array, a CSR matrix, or a list if they make none."""
    first = examples[0]
    if isinstance(first, Named):
        rows = [
            x.matrix
            if (order := frames.column_order(x.names, first.names, "x", "first columns")) is None
            else frames.reordered(x.matrix, order, "x")
            for x in examples
        ]
        return Named(stack_examples(rows), first.names)
    if is_sparse(first):
        from scipy import sparse

        return sparse.vstack([x.reshape(1, -1) for x in examples], format="csr")
    if isinstance(first, np.ndarray):
        for i, x in enumerate(examples):
            if not isinstance(x, np.ndarray) or x.shape != first.shape:
                got = x.shape if isinstance(x, np.ndarray) else type(x).__name__
                raise ValueError(
                    f"x is {got} in example {i} of its block, but must be {first.shape}, as in the first example"
                )
        return np.stack(list(examples))
    return list(examples)
