"""Features of requests as rows: lists, dicts of numbers and words, or text.

The first example that is learned decides the form. Names of a dict get their columns in the order in which they are
learned, so that the same log always gives the same rows.
"""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from boostline.contract.rows import LARGEST_VALUE, Rows, sparse_row
from boostline.models.native import CannotGrow
from boostline.serve.errors import Invalid
from boostline.serve.live.label_names import LONGEST_NAME
from boostline.text.features import TextFeatures

if TYPE_CHECKING:
    from boostline.models import Booster

__all__ = ["MOST_FEATURES", "Features", "check_features", "features_of", "form_of"]

#: No more names than that get a column, and no more characters of names: memory and snapshots have to be bounded.
MOST_FEATURES, _MOST_CHARACTERS = 2**16, 3_000_000
#: Words of a text are hashed to so many columns.
TEXT_COLUMNS = 2**14
#: Rows are passed on as sparse when they are long and so small a share of the columns is filled.
_SPARSE_SHARE, _LONG_ROW = 0.1, 256
_NUMBERS = {float, int}


def features_of(request: dict[str, Any]) -> Any:
    """The features of a request, or its text; None if it has neither."""
    features = request.get("features")
    return request.get("text") if features is None else features


def form_of(features: Any) -> str:
    """``"list"``, ``"dict"`` or ``"text"``."""
    return "text" if isinstance(features, str) else type(features).__name__


def check_features(features: Any, most: int = MOST_FEATURES) -> None:
    """Refuse what no model could take: wrong types, too many, numbers too large."""
    if not isinstance(features, list | dict):
        kind = type(features).__name__
        raise Invalid(
            "features", f"is a {kind}, but must be a list of numbers or an object (or give text)"
        )
    if not features:
        raise Invalid("features", "is empty, but must have at least one value")
    if len(features) > most:
        raise Invalid("features", f"has {len(features)} values, but must have at most {most}")
    if isinstance(features, dict) and len(name := max(features, key=len)) > LONGEST_NAME:
        raise Invalid(
            "features",
            f"has a name of {len(name)} characters, but names must have at most {LONGEST_NAME}",
        )
    values = features.values() if isinstance(features, dict) else features
    if (
        _NUMBERS.issuperset(map(type, values))
        and min(values) >= -LARGEST_VALUE
        and max(values) <= LARGEST_VALUE
    ):
        return  # nearly always; the rest finds out what is wrong
    is_named = isinstance(features, dict)
    for name, value in features.items() if isinstance(features, dict) else enumerate(features):
        if problem := _problem_of(value, is_named):
            raise Invalid(f"features.{name}", problem)


def _problem_of(value: Any, is_named: bool) -> str | None:
    kind = type(value)
    if value is None or kind is bool:
        return None
    if kind in _NUMBERS:
        is_small = -LARGEST_VALUE <= value <= LARGEST_VALUE
        wanted = "must lie between -1e100 and 1e100 (null: missing)"
        return None if is_small else f"is {str(value)[:20]}, but {wanted}"
    if kind is str and is_named:
        n = len(value)
        is_short = n <= LONGEST_NAME
        return None if is_short else f"has {n} characters, but must have at most {LONGEST_NAME}"
    wanted = "a number, a string, true, false or null" if is_named else "a number or null"
    return f"is a {kind.__name__}, but must be {wanted}"


class Features:
    """Turns checked features into rows of one length. Part of a state: it changes only when something is learned."""

    def __init__(self, form: str | None = None, names: list[str] | None = None, n: int = 0) -> None:
        self.form = form
        self._n = n  # of a list or text
        self._texts = TextFeatures(n_columns=TEXT_COLUMNS)
        self._column = {name: i for i, name in enumerate(names or ())}
        self._fill = np.array([_fill_of(name) for name in self._column])

    @classmethod
    def of_texts(cls, texts: TextFeatures | None = None) -> Features:
        """Those of a model of texts: new, or as they are after the texts that it has learned."""
        made = cls("text")
        made._texts = TextFeatures() if texts is None else texts
        made._n = made._texts.n_features
        return made

    @classmethod
    def of(cls, model: Booster) -> Features:
        """Those of a model that has learned elsewhere."""
        if model.n_features is None:
            return cls()
        if model.features is None:
            return cls("list", n=model.n_features)
        return cls("dict", [str(name) for name in model.features])

    def state(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "names": list(self._column),
            "n": self._n,
            "texts": self._texts.state() if self.form == "text" else None,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Features:
        made = cls(state["form"], state["names"], state["n"])
        if state.get("texts") is not None:
            made._texts = TextFeatures.from_state(state["texts"])
        return made

    def copy(self) -> Features:
        twin = Features(self.form, n=self._n)
        twin._column, twin._fill = self._column.copy(), self._fill
        twin._texts = copy.deepcopy(self._texts)
        return twin

    @property
    def names(self) -> list[str]:
        return list(self._column)

    @property
    def width(self) -> int:
        """Columns of a dense row; a text's row is sparse, and counts as none."""
        return 0 if self.form == "text" else max(self._n, len(self._column))

    def n_new(self, features: Any) -> int:
        """How many columns an example would add."""
        if isinstance(features, dict):
            names = (_column_name(name, value) for name, value in features.items())
            new = sum(name not in self._column for name in names)
            return min(new, MOST_FEATURES - len(self._column))
        return len(features) if isinstance(features, list) and self.form is None else 0

    def words(self, text: str) -> dict[int, str]:
        """The words of a text, by their columns in its row."""
        spans = list(self._texts.words.spans(text))
        columns = self._texts.columns_of([span.term for span in spans]).tolist()
        return {column: span.name for column, span in zip(columns, spans, strict=True)}

    def known_words(self, text: str) -> int:
        """How many different words of a text were learned before."""
        return int(self._texts.known_words(self._texts.count([text]))[0])

    def check(self, features: Any) -> None:
        """Refuse features of another form or length than those that were learned."""
        form = form_of(features)
        field = "text" if form == "text" else "features"
        if self.form is None:
            return
        if form != self.form:
            forms = {"list": "a list of numbers", "dict": "an object", "text": "text"}
            raise Invalid(
                field,
                f"is {forms[form]}, but the model has learned from {forms[self.form]}",
            )
        if form == "list" and len(features) != self._n:
            raise Invalid(
                field,
                f"has {len(features)} values, but must have {self._n}, as learned before",
            )

    def row(self, features: Any) -> Any:
        """The row of an example; names that were never learned are left out."""
        if isinstance(features, str):
            return self._texts.rows(self._texts.count([features])).single()
        if isinstance(features, list):
            return np.array(features, dtype=np.float64)
        return self._dict_row(features)

    def learned_row(self, features: Any, model: Booster) -> Any:
        """The row of an example that is about to be learned: new names get columns, the model grows."""
        self.check(features)
        if isinstance(features, dict):
            self._admit(features, model)
        if isinstance(features, str):
            row = self._texts.learn(self._texts.count([features])).single()
        else:
            row = self.row(features)
        self.form = form_of(features)
        self._n = 0 if isinstance(features, dict) else _width(row)
        return row

    def _admit(self, features: dict[str, Any], model: Booster) -> None:
        names = [_column_name(name, value) for name, value in features.items()]
        new = sorted({name for name in names if name not in self._column})
        if not new:
            return
        new = new[: self._room(new)]
        # The words of a category were absent so far, numbers were missing.
        new.sort(key=lambda name: _fill_of(name) == 0.0)
        n_numbers = sum(np.isnan(_fill_of(name)) for name in new)
        if model.n_features is None:
            model.features = [*self._column, *new] or None
        else:
            try:
                for part, were in ((new[:n_numbers], "missing"), (new[n_numbers:], "zero")):
                    if part:
                        model.add_features(part, past_values=were)
            except CannotGrow:
                return
        for name in new:
            self._column[name] = len(self._column)
        self._fill = np.array([_fill_of(name) for name in self._column])

    def _room(self, new: list[str]) -> int:
        """How many of the new names get a column."""
        left = _MOST_CHARACTERS - sum(map(len, self._column))
        fitting = sum(total <= left for total in itertools.accumulate(map(len, new)))
        return min(MOST_FEATURES - len(self._column), fitting)

    def _dict_row(self, features: dict[str, Any]) -> Any:
        row = self._fill.copy()
        for name, value in features.items():
            column = self._column.get(_column_name(name, value))
            if column is not None:
                row[column] = 1.0 if type(value) is str else value
        if len(row) > _LONG_ROW and np.count_nonzero(row) < _SPARSE_SHARE * len(row):
            stored = np.flatnonzero(row)
            return sparse_row(stored, row[stored], len(row))
        return row


def _column_name(name: str, value: Any) -> str:
    return f"{name}={value}" if type(value) is str else name


def _fill_of(column: str) -> float:
    """What a column is in an example that does not have it: 0 for a word of a category, else missing."""
    return 0.0 if "=" in column else float("nan")


def _width(row: Any) -> int:
    return row.n_features if isinstance(row, Rows) else len(row)
