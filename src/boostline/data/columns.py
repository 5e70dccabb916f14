"""The columns that a model has learned with, and those of a file, matched by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Columns:
    """What a model knows about the columns of its rows.

    Attributes
    ----------
    features : list of str or None
        Names; None if it knows none: then the file's order counts.
    n_features : int or None
        None before the first row.
    labels : list of str
        Names, or numbers as text.
    has_label_names : bool
        Whether these are names; numbers stand for places only.
    label_argument : list
        What `boostline.data.stream` takes for a format whose rows hold labels: for svmlight numbers, unless names
        were given to them.
    categories : dict or None
        Text columns and their values, as given.
    """

    features: list[str] | None
    n_features: int | None
    labels: list[str]
    has_label_names: bool
    label_argument: list[Any]
    categories: dict[str, list[str]] | None

    @classmethod
    def of(cls, model: Any, record: Mapping[str, Any]) -> Columns:
        """Those of a model and of what `boostline train` saved with it."""
        features = model.features
        names = label_names(model)
        told = record.get("labels_given")
        are_numbers = told is None or (len(told) == 1 and told[0].isdecimal())
        if are_numbers and record and all(str(name).isdecimal() for name in names):
            argument: list[Any] = [int(name) for name in names]
        else:
            argument = names
        return cls(
            None if features is None else [str(name) for name in features],
            model.n_features,
            [str(name) for name in names],
            model.labels is not None,
            argument,
            parse_categories(record.get("categories")),
        )

    def categories_in(self, columns: Sequence[str]) -> dict[str, list[str]]:
        """Text columns of a table, known by their features ``column=value``."""
        if self.categories is not None:
            return {column: v for column, v in self.categories.items() if column in columns}
        values = _values(self.features or [])
        return {c: values[c] for c in columns if c in values and c not in (self.features or [])}

    def to_leave_out(self, columns: Sequence[str], with_labels: bool) -> list[str]:
        """Columns of a table that the model has no use for."""
        labels = set(self.labels)
        if self.features is None:
            return [] if with_labels else [c for c in columns if c in labels]
        wanted = {*self.features, *_values(self.features), *(labels if with_labels else ())}
        return [column for column in columns if column not in wanted]


def label_names(model: Any) -> list[Any]:
    """Names of the labels; their numbers if they have none."""
    return list(range(model.n_labels)) if model.labels is None else list(model.labels)


def in_order(blocks: Any, features: Any, labels: Any) -> Iterator[tuple[Any, Any]]:
    """Blocks whose columns are put into the model's order; None keeps an order."""
    for X, Y in blocks:
        yield arranged(X, features), arranged(Y, labels)


def _values(features: Sequence[str]) -> dict[str, list[str]]:
    """Values of each text column among features ``column=value``."""
    values: dict[str, list[str]] = {}
    for feature in features:
        column, equals, value = feature.partition("=")
        if equals:
            values.setdefault(column, []).append(value)
    return values


def arranged(matrix: Any, order: Any) -> Any:
    """The columns of a matrix in another order; None keeps it."""
    if order is None:
        return matrix
    chosen = matrix[:, order]
    if hasattr(chosen, "sort_indices"):
        chosen.sort_indices()
    return chosen


def parse_categories(values: list[str] | None) -> dict[str, list[str]] | None:
    """Turn ``["colour=red,green"]`` into ``{"colour": ["red", "green"]}``."""
    if not values:
        return None
    parsed = {}
    for one in values:
        column, equals, named = one.partition("=")
        if not equals:
            raise ValueError(f"--categories is {one!r}, but must look like column=value,value,...")
        parsed[column] = named.split(",")
    return parsed
