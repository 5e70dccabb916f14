"""Rows for the commands: with labels to learn from, or without, to be ranked by a model."""

from __future__ import annotations

import csv
import fnmatch
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from boostline.cli.options import split_commas


@dataclass(frozen=True)
class Input:
    """What was said about a file of rows."""

    source: str
    labels: list[str] | None = None
    format: str | None = None
    drop: list[str] | None = None
    categories: list[str] | None = None
    delimiter: str | None = None
    names: list[str] | None = (
        None  # of the labels, where they are known: nothing is split or matched
    )

    @property
    def name(self) -> str:
        return "standard input" if self.source == "-" else self.source

    def format_name(self) -> str:
        from boostline.data.formats import format_of

        if self.source == "-" and self.format is None:
            return "csv"
        return format_of(self.source, self.format)

    def parsed_categories(self) -> dict[str, list[str]] | None:
        if not self.categories:
            return None
        parsed = {}
        for one in self.categories:
            column, equals, values = one.partition("=")
            if not equals:
                raise ValueError(f"--categories is {one!r}, but column=value,value,... is needed")
            parsed[column] = values.split(",")
        return parsed


@dataclass
class Rows:
    """Blocks of rows with the names of their columns."""

    blocks: Any
    features: list[str]
    labels: list[str]
    total: int | None = None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        yield from self.blocks


def labelled(given: Input, block: int) -> Rows:
    """Rows to learn from; a named set stands for its train rows."""
    from boostline import data

    if is_named_set(given.source):
        train = data.load(given.source).train
        return Rows(train.blocks(block), list(train.features), list(train.labels), len(train))
    format_name = given.format_name()
    source, columns = _open(given, format_name)
    stream = data.stream(
        source,
        block=block,
        labels=_labels(given, format_name, columns),
        format=format_name,
        drop=split_commas(given.drop),
        categories=given.parsed_categories(),
        delimiter=given.delimiter,
    )
    return Rows(stream, stream.features, stream.labels)


def to_rank(
    given: Input,
    block: int,
    features: list[str] | None,
    labels: list[str],
    categories: dict[str, list[str]] | None,
) -> Rows:
    """Rows whose features are in the model's order; what the model does not know is left out.

    Parameters
    ----------
    features
        The model's, by name; None if it knows no names: then the file's order counts.
    labels
        The model's labels: columns that the file may have or lack.
    categories
        Text columns that the model learned with.
    """
    from boostline import data
    from boostline.data import DataError

    format_name = given.format_name()
    source, columns = _open(given, format_name)
    options: dict[str, Any] = {"block": block, "format": format_name}
    options["drop"] = split_commas(given.drop)
    if columns is not None:
        given_categories = given.parsed_categories() or categories or {}
        options |= {"labels": (), "delimiter": given.delimiter, "categories": given_categories}
        options["drop"] = _columns_to_drop(given, columns, features, labels, given_categories)
        stream = data.stream(source, **options)
    elif format_name == "arff":
        try:
            stream = data.stream(source, labels=labels, **options)
        except DataError:
            stream = data.stream(source, labels=(), **options)
    else:
        known: Any = features
        if format_name == "svmlight" and features is not None:
            known = len(features)
        stream = data.stream(source, labels=labels, features=known, **options)
    if features is None or list(stream.features) == features:
        return Rows(stream, stream.features, stream.labels)
    order = order_of(given, list(stream.features), features)
    return Rows(_Reordered(stream, order), features, stream.labels)


def is_named_set(source: str) -> bool:
    """Whether it is one of boostline's named sets, and no file."""
    from boostline.data.named_sets import NAMED_SETS

    return source in NAMED_SETS and not os.path.exists(source)


@dataclass
class Fingerprint:
    """A checksum of rows that does not depend on how they are cut into blocks."""

    sums: dict[str, int] = field(default_factory=dict)

    def update(self, X: Any, Y: Any) -> None:
        for name, matrix in (("x", X), ("y", Y)):
            if hasattr(matrix, "tocsr"):
                csr = matrix.tocsr()
                self._add(f"{name}.values", np.asarray(csr.data))
                self._add(f"{name}.columns", np.asarray(csr.indices, dtype=np.int64))
                self._add(f"{name}.sizes", np.diff(csr.indptr).astype(np.int64))
            else:
                self._add(name, np.asarray(matrix))

    def _add(self, name: str, array: Any) -> None:
        content = np.ascontiguousarray(array).view(np.uint8).data
        self.sums[name] = zlib.crc32(content, self.sums.get(name, 0))


@dataclass
class _Reordered:
    stream: Any
    order: list[int]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for X, Y in self.stream:
            yield X[:, self.order], Y


def _open(given: Input, format_name: str) -> tuple[Any, list[str] | None]:
    """The source for `data.stream`, and the names of its columns where the format has a header of names."""
    from boostline.data.errors import need
    from boostline.data.source import open_bytes

    source: Any = given.source
    if format_name == "parquet":
        with open_bytes(source) as file:
            parquet = need("pyarrow.parquet", "reading parquet")
            try:
                return source, list(parquet.read_schema(file).names)
            except Exception:  # the reader says better what is wrong
                return source, []
    if format_name != "csv":
        return source, None
    if source == "-":
        line = sys.stdin.buffer.readline()
        source = io.BufferedReader(_PushedBack(line))
        source.raw.name = "standard input"
    else:
        with open_bytes(source) as file:
            line = file.readline(2**26)
    delimiter = given.delimiter or ("\t" if given.source.endswith((".tsv", ".tsv.gz")) else ",")
    try:
        header = line.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        return source, []  # gzip from a pipe, or not UTF-8: the reader says so
    return source, next(csv.reader([header.rstrip("\r\n")], delimiter=delimiter), [])


class _PushedBack(io.RawIOBase):
    """Standard input with its first line put back; hands out what is there without waiting for more."""

    def __init__(self, first: bytes) -> None:
        self._first = first
        self.name = "standard input"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._first or cast("io.BufferedReader", sys.stdin.buffer).read1(len(buffer))
        part, self._first = content[: len(buffer)], content[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _labels(given: Input, format_name: str, columns: list[str] | None) -> Any:
    if given.names is not None:
        return given.names
    if not given.labels:
        if format_name in ("csv", "parquet"):
            raise ValueError(f"{given.name} needs --labels: which of its columns are labels?")
        return None
    if len(given.labels) == 1:
        only = given.labels[0]
        if only.endswith(".xml"):
            return only
        if format_name == "svmlight" and only.isdecimal():
            return int(only)
    names: list[str] = []
    for part in split_commas(given.labels) or []:
        if part.startswith("@"):
            with open(part[1:], encoding="utf-8") as file:
                names += [line.strip() for line in file if line.strip()]
        elif columns is not None and part not in columns and any(c in part for c in "*?["):
            found = [column for column in columns if fnmatch.fnmatchcase(column, part)]
            if not found:
                raise ValueError(f"no column of {given.name} matches --labels {part!r}")
            names += found
        else:
            names.append(part)
    return list(dict.fromkeys(names))


def _columns_to_drop(
    given: Input,
    columns: list[str],
    features: list[str] | None,
    labels: list[str],
    categories: dict[str, list[str]],
) -> list[str]:
    asked = split_commas(given.drop) or []
    if features is None:
        return asked + [c for c in columns if c in set(labels) and c not in asked]
    encoded = {f"{column}={value}" for column, values in categories.items() for value in values}
    wanted = [f for f in features if f not in encoded or f in columns] + list(categories)
    _refuse_missing(given, [name for name in wanted if name not in set(columns)])
    return [column for column in columns if column not in set(wanted)]


def order_of(given: Input, found: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where each wanted column stands among those found."""
    place = {name: i for i, name in enumerate(found)}
    _refuse_missing(given, [name for name in wanted if name not in place])
    return [place[name] for name in wanted]


def _refuse_missing(given: Input, missing: Sequence[str]) -> None:
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(
            f"{given.name} lacks the column {missing[0]!r}{more}, which the model has learned with"
        )


def label_argument(given: Input) -> Any:
    """What ``labels=`` of `boostline.data.load` is to be."""
    format_name = given.format_name()
    return _labels(given, format_name, _open(given, format_name)[1])


def with_labels(given: Input, names: list[str], known: dict[str, Any]) -> Input:
    """The same input with these labels, and with what the model's own input was told."""
    return replace(
        given,
        names=names,
        drop=given.drop or known["drop"],
        categories=given.categories or known["categories"],
    )
