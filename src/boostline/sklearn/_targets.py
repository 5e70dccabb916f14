"""What scikit-learn users pass as y, brought into one form: relevance (n, k) with 1, 0 and -1 for unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from boostline.zero_point import UNKNOWN

Relevance = NDArray[np.int8]


@dataclass(frozen=True)
class Target:
    """The kind of y that a model was begun with: class labels (n,) or indicators (n, k)."""

    multilabel: bool
    classes: NDArray[Any]
    named: bool  # whether the columns of Y had names

    def prepare(self, y: Any) -> Any:
        """Turn a checked y into what `relevance` takes rows of; classes become places in `classes`."""
        if self.multilabel:
            if y.shape[1] != len(self.classes):
                raise ValueError(
                    f"Y has {y.shape[1]} columns, but the model has {len(self.classes)} labels"
                )
            return y
        place = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        if (strange := self.classes[place] != y).any():
            raise ValueError(
                f"y has the class {y[strange].tolist()[0]!r}, but classes are {self.classes.tolist()}"
            )
        return place

    def relevance(self, rows: Any) -> Relevance:
        """Which labels are relevant in some rows of a prepared y. Many labels are dense only here, block by block."""
        if not self.multilabel:
            relevance = np.zeros((len(rows), len(self.classes)), dtype=np.int8)
            relevance[np.arange(len(rows)), rows] = 1
            return relevance
        if hasattr(rows, "tocsr"):
            rows = rows.toarray()
        unknown = np.isnan(rows) if rows.dtype.kind == "f" else np.zeros((1, 1), dtype=bool)
        if not unknown.any():
            return np.asarray(rows == 1, dtype=np.int8)
        return np.asarray(np.where(unknown, UNKNOWN, rows == 1), dtype=np.int8)


def read(y: Any) -> tuple[Any, list[Any] | None]:
    """Check y: a class per row (n,) or 0, 1 and NaN (unknown) in (n, k). Also give the names of the columns."""
    if hasattr(y, "tocsr"):
        y = y.tocsr()
        _check_indicators(y.data)
        return y, None
    names = getattr(y, "columns", None)
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array, names = column_or_1d(array, warn=True), None
    if array.ndim == 2:
        if array.dtype.kind == "O":  # frames with missing values
            array = array.astype(np.float64)
        _check_indicators(array)
        return array, None if names is None else list(names)
    check_classification_targets(array)
    return column_or_1d(array), None


def _check_indicators(array: NDArray[Any]) -> None:
    known = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    if array.dtype.kind not in "biuf" or not ((known == 0) | (known == 1)).all():
        raise ValueError(
            f"Unknown label type: {type_of_target(known)}. Y of shape (n, k) holds 0 and 1, or NaN where it "
            "is not known whether the label is relevant"
        )


def begin(y: Any, names: list[Any] | None, classes: Any) -> Target:
    """Settle the classes from the first y and, if given, ``classes``."""
    if y.ndim == 2:
        if classes is None:
            found = np.arange(y.shape[1]) if names is None else _object_array(names)
            return Target(True, found, names is not None)
        found = np.asarray(classes)
        if found.shape != (y.shape[1],):
            raise ValueError(
                f"classes names {found.size} labels, but Y has {y.shape[1]} columns; give one per column"
            )
        if names is not None and found.tolist() != names:
            raise ValueError(f"classes is {found.tolist()}, but the columns of Y are {names}")
        return Target(True, found, names is not None)
    found = unique_labels(y if classes is None else classes)
    if len(found) < 2:
        raise ValueError(f"y has one class only, {found.tolist()}; at least 2 classes are needed")
    return Target(False, found, False)


def go_on(target: Target, y: Any, names: list[Any] | None, classes: Any) -> None:
    """Check that a later y is of the kind that the model was begun with."""
    if (y.ndim == 2) != target.multilabel:
        kinds = ["a class per row, (n,)", "indicators, (n, k)"]
        raise ValueError(
            f"y has shape {y.shape}, but the model was begun with {kinds[target.multilabel]}"
        )
    if names is not None and target.named and names != target.classes.tolist():
        raise ValueError(
            f"the columns of Y are {names}, but the model's labels are {target.classes.tolist()}"
        )
    if classes is not None:
        given = np.asarray(classes) if target.multilabel else unique_labels(classes)
        if not np.array_equal(given, target.classes):
            raise ValueError(
                f"classes is {given.tolist()}, but was {target.classes.tolist()} in the first call"
            )


def _object_array(names: list[Any]) -> NDArray[Any]:
    if all(isinstance(name, str) for name in names):
        return np.array(names)
    out = np.empty(len(names), dtype=object)
    out[:] = names
    return out
