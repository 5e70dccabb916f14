"""Which reader a file gets, and what it is told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from . import jsonlines, svmlight
from .arff import ArffReader
from .build import Reader
from .errors import DataError
from .jsonlines import JsonLinesReader
from .mulan_xml import read_label_names
from .source import Source, is_path, open_bytes, source_name, stem, suffix
from .svmlight import SvmlightReader
from .table import CsvReader, ParquetReader

Labels: TypeAlias = "Sequence[str] | Sequence[int] | int | str | os.PathLike[str] | None"

FORMATS = {
    ".arff": "arff",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

#: What each format can be told beyond its labels; anything else is a mistake of the caller.
_TAKES = {
    "arff": {"drop", "encoding"},
    "svmlight": {"features", "zero_based"},
    "csv": {"drop", "categories", "delimiter", "encoding"},
    "parquet": {"drop", "categories"},
    "jsonl": {"drop", "features"},
}


@dataclass(frozen=True)
class Options:
    """What a reader may be told; None is "not said"."""

    labels: Labels = None
    features: Sequence[str] | int | None = None
    drop: Sequence[str] | None = None
    categories: Mapping[str, Sequence[str]] | None = None
    delimiter: str | None = None
    zero_based: bool | None = None
    encoding: str | None = None


def format_of(source: Source, named: str | None) -> str:
    """Return the format that the caller or the file's extension names."""
    if named is not None:
        if named not in _TAKES:
            raise ValueError(f"format is {named!r}, but the formats are {', '.join(_TAKES)}")
        return named
    try:
        return FORMATS[suffix(source)]
    except KeyError:
        raise ValueError(
            f"the format of {source_name(source)!r} is not known from its extension; "
            f"pass format= one of {', '.join(_TAKES)}"
        ) from None


def check_options(format_name: str, options: Options) -> None:
    """Refuse an option that the format has no use for, instead of ignoring it."""
    for option in ("features", "drop", "categories", "delimiter", "zero_based", "encoding"):
        if getattr(options, option) is not None and option not in _TAKES[format_name]:
            raise ValueError(f"{option} has no meaning for the format {format_name}")


@contextmanager
def open_reader(source: Source, format_name: str, options: Options) -> Iterator[Reader]:
    """Open `source`, read what comes before the rows, and hand out its reader."""
    name = source_name(source)
    drop, encoding = options.drop or (), options.encoding or "utf-8"
    with open_bytes(source) as file:
        match format_name:
            case "arff":
                labels = arff_labels(source, options.labels)
                yield ArffReader(file, name, labels, drop, encoding)
            case "csv":
                delimiter = options.delimiter or ("\t" if suffix(source) == ".tsv" else ",")
                yield CsvReader(
                    file, name, options.labels, drop, options.categories, delimiter, encoding
                )
            case "parquet":
                yield ParquetReader(file, name, options.labels, drop, options.categories)
            case "svmlight":
                yield SvmlightReader(
                    file, name, options.labels, _count(options.features), options.zero_based
                )
            case _:
                yield JsonLinesReader(file, name, options.labels, options.features, drop)


def look_through(sources: Sequence[Source], format_name: str, options: Options) -> Options:
    """Fill in the labels and features that only the rows of a file say (svmlight, jsonl).

    A source that can be read but once is left as it is: its reader asks for what is lacking.
    """
    if format_name not in {"svmlight", "jsonl"} or not all(map(is_path, sources)):
        return options
    if options.labels is not None and options.features is not None:
        return options
    if format_name == "svmlight":
        numbers, width = svmlight.scan(sources, options.zero_based)
        found = replace(options, labels=numbers, features=width)
    else:
        names, features = jsonlines.scan(sources, options.drop or ())
        found = replace(options, labels=names, features=features)
    if options.labels is None and not found.labels:
        raise DataError("no row has a label: pass labels=", path=source_name(sources[0]))
    return replace(
        found,
        labels=found.labels if options.labels is None else options.labels,
        features=found.features if options.features is None else options.features,
    )


def _count(features: Sequence[str] | int | None) -> int | None:
    if features is None or isinstance(features, int):
        return features
    raise TypeError(
        "features is a list, but svmlight numbers its features: give how many there are"
    )


def arff_labels(source: Source, labels: Labels) -> list[str]:
    """Label names of an ARFF file: given, from the xml given, or from the xml beside it."""
    if isinstance(labels, int):
        raise TypeError(f"labels is {labels}, but an arff file needs the names of its labels")
    if isinstance(labels, (str, os.PathLike)):
        if Path(labels).suffix.lower() != ".xml":
            raise ValueError(f"labels is {os.fspath(labels)!r}: give a list of names, or an xml")
        return read_label_names(labels)
    if labels is not None:
        return [str(label) for label in labels]
    candidates: list[Path] = []
    if is_path(source):
        base, folder = stem(source), Path(source_name(source)).parent
        short = base.removesuffix("-train").removesuffix("-test")
        candidates = [folder / f"{name}.xml" for name in dict.fromkeys((base, short))]
        for candidate in candidates:
            if candidate.is_file():
                return read_label_names(candidate)
    looked = f" (there is no {' or '.join(map(str, candidates))})" if candidates else ""
    raise DataError(
        "does not say which attributes are labels: pass labels= a list of names or "
        f"the path of the MULAN xml{looked}",
        path=source_name(source),
    )
