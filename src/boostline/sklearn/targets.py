"""What scikit-learn users pass as y: a class per row, or indicators, read by the rules of `boostline.contract`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, unique_labels

from boostline.contract import frames
from boostline.contract.label_sets import LabelLists, LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import unmasked
from boostline.contract.sparse import is_sparse


@dataclass(frozen=True)
class Target:
    """The kind of y that a model was begun with: class labels (n,) or indicators (n, k)."""

    multilabel: bool
    classes: NDArray[Any]
    named: bool  # whether the columns of Y have names

    def read(self, y: Any) -> LabelSets:
        """Label sets of a checked y."""
        k = len(self.classes)
        if self.multilabel:
            space = LabelSpace(k, self.classes.tolist() if self.named else None)
            return space.read(y, y.shape[0], False, name="Y")
        place = np.minimum(np.searchsorted(self.classes, y), k - 1)
        if (strange := self.classes[place] != y).any():
            raise ValueError(
                f"y has the class {y[strange].tolist()[0]!r}, but classes are {self.classes.tolist()}"
            )
        lists = LabelLists(np.arange(len(y) + 1), place.astype(np.int32))
        return LabelSets(len(y), k, lists=(lists, None))


def checked(y: Any) -> Any:
    """A class per row, (n,), or whatever holds indicators (n, k): array, frame or sparse matrix."""
    if is_sparse(y) or (frames.is_frame(y) and y.shape[1] > 1):
        return y
    array = np.asarray(unmasked(y))
    if array.ndim == 2 and array.shape[1] == 1:
        array = column_or_1d(array, warn=True)
    if array.ndim == 2:
        return array
    check_classification_targets(array)
    return column_or_1d(array)


def begin(y: Any, classes: Any) -> Target:
    """Settle the classes from the first y and, if given, ``classes``."""
    if len(y.shape) == 2:
        names = frames.names_of(y, "Y")
        if names is not None and frames.are_positions(names):
            names = None
        if classes is None:
            found = np.arange(y.shape[1]) if names is None else _object_array(names)
            return Target(True, found, names is not None)
        found = np.asarray(classes)
        if found.shape != (y.shape[1],):
            raise ValueError(
                f"classes has {found.size} names, but must have {y.shape[1]}, one per column of Y"
            )
        return Target(True, found, True)
    found = unique_labels(y if classes is None else classes)
    if len(found) < 2:
        raise ValueError(
            f"y has one class only, {found.tolist()}, but must have at least 2 classes"
        )
    return Target(False, found, False)


def go_on(target: Target, y: Any, classes: Any) -> None:
    """Check that a later y is of the kind that the model was begun with."""
    if (len(y.shape) == 2) != target.multilabel:
        kinds = ["a class per row, (n,)", "indicators, (n, k)"]
        raise ValueError(
            f"y has shape {y.shape}, but must be {kinds[target.multilabel]}, as in the first call"
        )
    if classes is not None:
        given = np.asarray(classes) if target.multilabel else unique_labels(classes)
        if not np.array_equal(given, target.classes):
            raise ValueError(
                f"classes is {given.tolist()}, but must be {target.classes.tolist()}, as in the first call"
            )


def _object_array(names: list[Any]) -> NDArray[Any]:
    if all(isinstance(name, str) for name in names):
        return np.array(names)
    out = np.empty(len(names), dtype=object)
    out[:] = names
    return out
