"""Which reader a file gets, and what it is told."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .arff import ArffReader
from .build import Reader
from .errors import DataError
from .mulan_xml import read_label_names
from .source import Source, is_path, open_bytes, source_name, stem, suffix

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
    with open_bytes(source) as file:
        yield ArffReader(
            file,
            source_name(source),
            arff_labels(source, options.labels),
            drop=options.drop or (),
            encoding=options.encoding or "utf-8",
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
