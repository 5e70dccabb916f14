"""JSON lines: ``{"features": {"width": 2.5, "colour": "red"}, "labels": ["warm", "bright"]}``.

A feature that a row leaves out is 0, null is a missing value, true and false are 1 and 0, and a
text value makes a 0/1 feature ``name=value``. Features may also be a plain list of numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO

from boostline.contract.advice import advice
from boostline.contract.label_sets import UNKNOWN
from boostline.contract.labels import distinct_labels, read_told
from boostline.contract.rows import ALLOWED_NUMBERS, LARGEST_VALUE, large_text
from boostline.data.dataset import Block
from boostline.data.errors import DataError, first_repeated
from boostline.data.formats.reader import Reader
from boostline.data.matrices import from_cells, from_relevant
from boostline.data.source import LineReader, Source, open_bytes, source_name
from boostline.data.unseen import Unseen


class JsonLinesReader(Reader):
    """A JSON lines file whose features and labels are known.

    Parameters
    ----------
    file, source
        Unpacked bytes, and where they come from.
    labels
        Names of the labels, in the order of the columns of Y; an empty tuple: rows need no labels,
        and those that they have are not read.
    features
        Names of the features, in the order of the columns of X.
    drop
        Features to leave out.
    unseen
        Counts features that are not known, which are missing values then, not errors.

    """

    format = "jsonl"
    extensions = (".jsonl", ".ndjson")

    def __init__(
        self,
        file: BinaryIO,
        source: Source,
        labels: Any,
        features: Any = None,
        drop: Sequence[str] | None = None,
        unseen: Unseen | None = None,
    ) -> None:
        name = source_name(source)
        for what, names in (("labels", labels), ("features", features)):
            if names is None:
                raise DataError(
                    f"does not say which {what} there are: "
                    + advice(f"pass {what}=[...], or a path", "give the name of a file")
                    + " instead of a stream, so that it can be scanned first",
                    path=name,
                )
            if isinstance(names, (int, str, bytes)) or not isinstance(names, Sequence):
                raise TypeError(f"{what} is {names!r}, but must be a list of names")
            if first_repeated(map(str, names)) is not None:
                raise ValueError(f"{what} has the same name twice")
        self._lines = LineReader(file, name)
        self._drop = frozenset(drop or ())
        self._unseen = unseen
        self.labels = [str(label) for label in labels]
        self.features = [str(feature) for feature in features]
        self._label_index = {label: index for index, label in enumerate(self.labels)}
        self._feature_index = {feature: index for index, feature in enumerate(self.features)}

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the rows, at most `size` at a time; CSR if the first row lacks a feature."""
        rows = _rows(self._lines, self._drop, bool(self.labels))
        sparse: bool | None = None
        while batch := list(islice(rows, size)):
            cells, relevant, unknown = [], [], []
            for number, features, labels in batch:
                cells.append(self._cells(features, number))
                places = {self._label(label, number): code for label, code in labels.items()}
                relevant.append([place for place, code in places.items() if code == 1])
                unknown.append([place for place, code in places.items() if code == UNKNOWN])
            if sparse is None:
                sparse = len(cells[0]) < len(self.features)
            yield Block(
                from_cells(cells, len(self.features), sparse),
                from_relevant(relevant, len(self.labels), unknown),
            )

    def skip(self, n: int | None = None) -> int:
        return sum(1 for _ in islice((line for line in self._lines if line.strip()), n))

    def _cells(self, features: dict[str, float | str], number: int) -> dict[int, float]:
        cells: dict[int, float] = {}
        for name, value in features.items():
            is_text = isinstance(value, str)
            feature = f"{name}={value}" if is_text else name
            column = self._feature_index.get(feature)
            if column is not None:
                cells[column] = 1.0 if is_text else value  # type: ignore[assignment]
                continue
            if self._unseen is None:
                raise self._lines.error(
                    f"the row has the feature {feature!r}, which is not one of the "
                    f"{len(self.features)} features",
                    number,
                )
            of_category = self._categories.get(name, ())
            if is_text or not of_category or not math.isnan(value):  # type: ignore[arg-type]
                self._unseen.add(feature)
            cells |= dict.fromkeys(of_category, math.nan)
        return cells

    @cached_property
    def _categories(self) -> dict[str, list[int]]:
        """Columns of each feature whose values are texts."""
        columns: dict[str, list[int]] = {}
        for index, feature in enumerate(self.features):
            name, equals, _ = feature.partition("=")
            if equals:
                columns.setdefault(name, []).append(index)
        return columns

    def _label(self, name: str, number: int) -> int:
        try:
            return self._label_index[name]
        except KeyError:
            raise self._lines.error(
                f"the row has the label {name!r}, which is not one of the {len(self.labels)} labels",
                number,
            ) from None

    @classmethod
    def scan(
        cls,
        sources: Sequence[Source],
        labels: Any = None,
        drop: Sequence[str] | None = None,
        **options: Any,
    ) -> tuple[list[str], list[str]]:
        """Return labels in sorted order, features in the order in which they occur."""
        found: set[str] = set()
        features: dict[str, None] = {}
        for source in sources:
            with open_bytes(source) as file:
                for _, row_features, row_labels in _rows(
                    LineReader(file, source_name(source)), frozenset(drop or ()), labels != ()
                ):
                    found.update(row_labels)
                    features.update(dict.fromkeys(_names(row_features)))
        return sorted(found), list(features)


def _names(features: dict[str, float | str]) -> Iterable[str]:
    """Names of the features that values belong to: each text is one of its own."""
    if str not in map(type, features.values()):
        return features
    return [f"{n}={v}" if isinstance(v, str) else n for n, v in features.items()]


def json_objects(lines: LineReader) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, one per line, with their lines."""
    for line in lines:
        if not line.strip():
            continue
        try:
            parsed = _decode(line.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))
        except (json.JSONDecodeError, RecursionError) as error:
            raise lines.error(f"is not valid JSON: {getattr(error, 'msg', error)}") from error
        except ValueError as error:
            raise lines.error(str(error)) from error
        if not isinstance(parsed, dict):
            raise lines.error(f"the row is {_kind(parsed)}, but must be an object")
        yield lines.number, parsed


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; json alone would keep the last of two values with one key, silently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the row has the key {first_repeated(k for k, _ in pairs)!r} twice")
    return found


_decode = json.JSONDecoder(object_pairs_hook=_once_each).decode


def _rows(
    lines: LineReader, drop: frozenset[str], with_labels: bool
) -> Iterator[tuple[int, dict[str, float | str], dict[str, int]]]:
    """Parse rows: line number, {name: value}, {label: 1, 0 or UNKNOWN}."""
    for number, parsed in json_objects(lines):
        try:
            yield number, *_row(parsed, drop, with_labels)
        except (ValueError, OverflowError) as error:
            raise lines.error(str(error)) from error


def _row(
    parsed: dict[str, Any], drop: frozenset[str], with_labels: bool
) -> tuple[dict[str, float | str], dict[str, int]]:
    for key in ("features", "labels") if with_labels else ("features",):
        if key not in parsed:
            raise ValueError(f"the row has no {key!r}; it has {', '.join(map(repr, parsed))}")
    given, labels = parsed["features"], parsed["labels"] if with_labels else []
    if isinstance(given, list):
        given = {str(index): value for index, value in enumerate(given)}
    if not isinstance(given, dict):
        raise ValueError(f"'features' is {_kind(given)}, but must be an object or an array")
    features: dict[str, float | str] = {
        name: value
        if type(value) is str or (type(value) is float and abs(value) <= LARGEST_VALUE)
        else _number(name, value)
        for name, value in given.items()
        if name not in drop
    }
    names = _names(features)
    if names is not features and (twice := first_repeated(names)) is not None:
        raise ValueError(f"the row has the feature {twice!r} twice")
    if isinstance(labels, list):
        labels = [_label_name(label) for label in labels]
    elif not isinstance(labels, dict):
        raise ValueError(
            f"'labels' is {_kind(labels)}, but must be an array of the relevant labels, or an object with "
            "true, false or null for each label"
        )
    return features, distinct_labels(read_told(labels, "the row"), "the row")


def _number(name: str, value: Any) -> float:
    if value is None:
        return math.nan
    if not isinstance(value, (int, float)):
        raise ValueError(f"the feature {name!r} is {_kind(value)}, but must be a number or text")
    number = float(value)
    if abs(number) > LARGEST_VALUE:
        raise ValueError(
            f"the feature {name!r} has {large_text(number)}, but must have {ALLOWED_NUMBERS}"
        )
    return number


def _label_name(label: Any) -> str:
    if isinstance(label, bool) or not isinstance(label, (int, str)):
        raise ValueError(f"a label is {_kind(label)}, but must be text or an integer")
    return str(label)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "null" if value is None else "a number")
