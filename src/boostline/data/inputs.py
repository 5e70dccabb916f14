"""Files as people name them: rows to learn from, and rows to be ranked by a model, matched with its columns."""

from __future__ import annotations

import codecs
import fnmatch
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostline.contract.advice import advice
from boostline.contract.frames import column_order
from boostline.data.columns import Columns, in_order, parse_categories
from boostline.data.dataset import Dataset
from boostline.data.formats import FORMATS, Reader, format_of
from boostline.data.loading import load
from boostline.data.named_sets import NAMED_SETS, refuse_unknown_name
from boostline.data.streaming import stream
from boostline.data.text_files import text_blocks
from boostline.data.unseen import Unseen

#: What a model remembers of the file that it was trained with, besides the labels.
_REMEMBERED = ("drop", "categories", "delimiter", "encoding", "zero_based", "text", "separator")


@dataclass(frozen=True)
class Input:
    """A file of rows, and the options with which it is read."""

    source: str = ""
    labels: list[str] | None = None
    format: str | None = None
    drop: list[str] | None = None
    categories: list[str] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    zero_based: bool | None = None
    text: list[str] | None = None
    separator: str | None = None

    @property
    def name(self) -> str:
        return "standard input" if self.source == "-" else self.source

    def reader(self) -> type[Reader]:
        """The reader of its format; standard input is csv by default."""
        if self.source == "-" and self.format is None:
            return FORMATS["csv"]
        return FORMATS[format_of(self.source, self.format)]

    def options(self) -> dict[str, Any]:
        """Options of `boostline.data.stream` and `boostline.data.load`; None: not given."""
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"--encoding is {self.encoding!r}, but must be one such as utf-8 or latin-1"
                ) from None
        tabs = {"tab": "\t", "\\t": "\t"}
        return {
            "drop": split_commas(self.drop),
            "categories": parse_categories(self.categories),
            "delimiter": tabs.get(self.delimiter or "", self.delimiter),
            "encoding": self.encoding,
            "zero_based": self.zero_based,
        }

    def text_columns(self) -> list[str]:
        """The columns that are put together to one text."""
        columns = split_commas(self.text)
        if not columns:
            raise ValueError(
                f"{advice('text', '--text')} is not given, but must name the column with the text"
            )
        return columns

    def record(self) -> dict[str, Any]:
        """What ``boostline train`` saves of it with the model."""
        return {"labels_given": self.labels, **{n: getattr(self, n) for n in _REMEMBERED}}

    def completed(self, record: Mapping[str, Any]) -> Input:
        """Options that are not given again are those of the training; of a text model also the labels."""
        known: dict[str, Any] = {n: record.get(n) for n in _REMEMBERED}
        if record.get("text") is not None:
            known["labels"] = record.get("labels_given")
        return replace(self, **{n: v for n, v in known.items() if getattr(self, n) is None})


@dataclass
class RowStream:
    """Blocks of rows with the names of their columns."""

    blocks: Any
    features: list[str]
    labels: list[str]
    total: int | None = None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield from self.blocks


def rows_to_learn(
    given: Input, block: int, model: Any = None, record: Mapping[str, Any] | None = None
) -> RowStream:
    """Rows with labels, or texts with tags; of a named set its train rows.

    For a `model`, and what was saved with it, rows come in the order of its columns, and a file with others is refused.
    """
    if given.text is not None:
        if not given.labels:
            raise ValueError(
                "--labels is not given, but with --text must name the column of the tags, or several columns of 0 and 1"
            )
        return RowStream(_texts(given, block, named_labels(given.labels)), [], [])
    known = None if model is None else Columns.of(model, record or {})
    whole = whole_set(given)
    if whole is not None:
        train = whole.train
        rows = RowStream(train.blocks(block), list(train.features), list(train.labels), len(train))
    else:
        rows = _rows_of_file(given, block, known)
    if known is not None:
        return _in_order(given, rows, known, with_labels=True)
    if len(rows.labels) < 2:
        raise ValueError(
            f"{given.name} has 1 label, {rows.labels[0]!r}, but ranking needs at least 2"
        )
    return rows


def rows_to_score(
    given: Input,
    block: int,
    model: Any,
    record: Mapping[str, Any],
    unseen: Unseen | None,
    with_labels: bool = False,
) -> RowStream:
    """Rows whose features are in the model's order, or texts; what the model does not know is left out.

    Parameters
    ----------
    record
        What was saved with the model: options that are not given again are those of the training.
    unseen
        Counts values that the model has never seen, which are missing values then; None: they are errors.
    with_labels
        Whether the labels are read; else the rows need none.
    """
    if model.takes_texts:
        given = given.completed(record)
        labels = named_labels(given.labels or []) if with_labels else []
        return RowStream(_texts(given, block, labels), [], [])
    if given.text is not None:
        raise ValueError(f"{advice('text', '--text')} is given, but the model is no model of texts")
    known = Columns.of(model, record)

    def left_out(columns: list[str]) -> list[str]:
        return known.to_leave_out(columns, with_labels)

    whole = whole_set(given)
    if whole is not None:
        test = whole.test if whole.n_test else whole
        out = set(left_out(list(test.features)))
        kept = [i for i, feature in enumerate(test.features) if feature not in out]
        features = [test.features[i] for i in kept]
        rows = RowStream(in_order(test.blocks(block), kept, None), features, list(test.labels))
    else:
        rows = _rows_of_file(given, block, known, with_labels, left_out, unseen)
    return _in_order(given, rows, known, with_labels)


def _texts(given: Input, block: int, labels: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Blocks of texts and tags, as arrays of objects."""
    options = given.options()
    for name in ("drop", "categories", "zero_based"):
        if options[name] is not None:
            raise ValueError(
                f"{advice(name, '--' + name.replace('_', '-'))} has no meaning with {advice('text', '--text')}"
            )
    columns = given.text_columns()
    kind, separator = given.reader().format, given.separator or "|"
    how = {name: options[name] for name in ("delimiter", "encoding")}
    for both in text_blocks(
        given.source, columns, labels, size=block, format=kind, separator=separator, **how
    ):
        texts, tags = (np.empty(len(values), dtype=object) for values in both)
        texts[:], tags[:] = both
        yield texts, tags


def _in_order(given: Input, rows: RowStream, known: Columns, with_labels: bool) -> RowStream:
    """The columns in the model's order. Those without names are matched by their places: there must be as many."""
    order = column_order(rows.features, known.features, given.name, "features")
    names = known.labels if with_labels and known.has_label_names else None
    label_order = names and column_order(rows.labels, names, given.name, "labels")
    n_labels = len(known.labels) if with_labels else None
    for what, found, wanted in (
        ("features", len(rows.features), known.n_features),
        ("labels", len(rows.labels), n_labels),
    ):
        if wanted is not None and found != wanted:
            raise ValueError(
                f"{given.name} has {found} {what}, but the model has learned with {wanted}"
            )
    return RowStream(
        in_order(rows.blocks, order, label_order),
        known.features or rows.features,
        names or rows.labels,
        rows.total,
    )


def whole_set(given: Input, **more: Any) -> Dataset | None:
    """A named set or a MULAN folder; None for a file. A misspelt name is refused."""
    is_named = given.source in NAMED_SETS and not os.path.exists(given.source)
    if not is_named and not os.path.isdir(given.source):
        refuse_unknown_name(given.source)
        return None
    labels: Any = given.labels
    if labels is not None and len(labels) == 1 and labels[0].endswith(".xml"):
        labels = labels[0]
    return load(given.source, labels=labels, format=given.format, **given.options(), **more)


def load_data(given: Input, **more: Any) -> Dataset:
    """A whole data set: a named set, a folder or a file."""
    whole = whole_set(given, **more)
    if whole is not None:
        return whole
    reader = given.reader()
    labels = _labels(given, reader)
    return load(given.source, labels=labels, format=reader.format, **given.options(), **more)


def dataset_of_texts(
    given: Input, test: str | None, train_rows: int | None
) -> tuple[Any, list[str]]:
    """A data set whose only feature is the number of the text, and the texts."""
    texts: list[str] = []
    tags: list[dict[str, Any]] = []
    sizes = []
    for source in (given.source, *([] if test is None else [test])):
        for some, own in rows_to_learn(replace(given, source=source), 1024):
            texts += list(some)
            tags += list(own)
        sizes.append(len(texts))
    labels = sorted({tag for row in tags for tag in row})
    if len(labels) < 2:
        raise ValueError(f"{given.name} has {len(labels)} tags, but ranking needs at least 2")
    place = {tag: i for i, tag in enumerate(labels)}
    Y = np.zeros((len(texts), len(labels)))
    for i, row in enumerate(tags):
        for tag, value in row.items():
            Y[i, place[tag]] = np.nan if value is None else value
    known = not np.isnan(Y).any()
    n_train = train_rows if test is None else sizes[0]
    return (
        Dataset(
            np.arange(len(texts), dtype=np.float64)[:, None],
            Y.astype(np.bool_) if known else Y,
            len(texts) if n_train is None else n_train,
            labels=labels,
            features=["text"],
            name=given.name,
        ),
        texts,
    )


def _rows_of_file(
    given: Input,
    block: int,
    known: Columns | None,
    with_labels: bool = True,
    left_out: Callable[[list[str]], list[str]] | None = None,
    unseen: Unseen | None = None,
) -> RowStream:
    reader = given.reader()
    options = given.options()
    labels: Any = ()
    if with_labels and (known is None or given.labels):
        labels = _labels(given, reader)
    elif with_labels and known is not None:
        labels = known.labels if reader.names_columns else known.label_argument
    if known is not None:
        options |= _known_options(known, reader, options)
        if reader.names_columns:
            dropped = options["drop"] or []
            if left_out is None:  # what was left out of the first file need not be in this one
                options["drop"] = lambda columns: [c for c in dropped if c in columns]
            else:
                options["drop"] = lambda columns: [*dict.fromkeys([*dropped, *left_out(columns)])]
        if "unseen" in reader.options():
            options["unseen"] = unseen
    rows = stream(given.source, block=block, labels=labels, format=reader.format, **options)
    return RowStream(rows, rows.features, rows.labels)


def _known_options(known: Columns, reader: type[Reader], options: dict[str, Any]) -> dict[str, Any]:
    """What a model knows about the columns of a file."""
    takes = reader.options()
    if "zero_based" in takes:  # features are numbers
        told = {"features": known.n_features}
        if options["zero_based"] is None and known.features is not None:
            told["zero_based"] = known.features[0] == "0"
        return told
    if not reader.names_columns:
        return {"features": known.features}
    if "categories" in takes and options["categories"] is None:
        return {"categories": known.categories_in}
    return {}


def _labels(given: Input, reader: type[Reader]) -> Any:
    """The argument ``labels=``, with patterns and files of names resolved."""
    if not given.labels:
        return None
    if len(given.labels) == 1:
        only = given.labels[0]
        if reader.format == "arff" and only.endswith(".xml"):
            return only
        if "zero_based" in reader.options() and only.isdecimal():
            return int(only)
    names = named_labels(given.labels)
    parts = split_commas(given.labels) or []
    patterns = {part for part in parts if part[0] != "@" and any(c in part for c in "*?[")}
    if not reader.names_columns:
        return list(dict.fromkeys(names))
    return lambda columns: _matching(given, names, patterns, columns)


def named_labels(told: list[str]) -> list[str]:
    """Names, separated by commas or in a file with one a line (@file)."""
    names: list[str] = []
    for part in split_commas(told) or []:
        if part.startswith("@"):
            with open(part[1:], encoding="utf-8") as file:
                names += [line.strip() for line in file if line.strip()]
        else:
            names.append(part)
    return names


def _matching(given: Input, parts: list[str], patterns: set[str], columns: list[str]) -> list[str]:
    """Columns that are named, or that a pattern matches."""
    names: list[str] = []
    for part in parts:
        if part in patterns and part not in columns:
            found = [column for column in columns if fnmatch.fnmatchcase(column, part)]
            if not found:
                shown = ", ".join(columns[:10]) + (", ..." if len(columns) > 10 else "")
                raise ValueError(
                    f"no column of {given.name} matches --labels {part!r}; it has {shown}"
                )
            names += found
        else:
            names.append(part)
    return list(dict.fromkeys(names))


def split_commas(values: list[str] | None) -> list[str] | None:
    """Flatten ``["a,b", "c"]`` to ``["a", "b", "c"]``."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
