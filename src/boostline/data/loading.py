"""`load`: a named set, a file or a MULAN folder, whole, as a `Dataset`."""

from __future__ import annotations

import os
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from boostline.contract.advice import advice
from boostline.data.dataset import Dataset
from boostline.data.errors import DataError
from boostline.data.formats import Labels, format_of, open_reader, settle_options
from boostline.data.matrices import stack
from boostline.data.named_sets import NAMED_SETS, load_named, plain_or_gz, refuse_unknown_name
from boostline.data.source import Source, source_name, stem

#: Rows that are parsed at a time: enough to be quick, few enough to keep the text small.
ROWS_PER_BLOCK = 4096


def load(
    source: Source,
    *,
    labels: Labels = None,
    test: Source | None = None,
    n_train: int | None = None,
    format: str | None = None,
    name: str | None = None,
    download: bool = True,
    **options: Any,
) -> Dataset:
    """Load a data set: by name, from a file, or from a folder in MULAN's layout.

    Parameters
    ----------
    source
        A named data set (``"emotions"``, see `available`), a file (text formats also as .gz), a folder
        ``name`` with ``name-train.arff``, ``name-test.arff`` and ``name.xml``, an open binary file, or
        ``"-"`` for standard input.
    labels
        Which columns are labels: their names, or a function that gets all column names and returns
        those of the labels. arff: also the path of a MULAN xml (default: the xml beside the file).
        svmlight: names or their number.
    test
        A second file of the same kind with the test rows.
    n_train
        Number of rows for training, if there is one file (default: all).
    format
        Format of the file (``"csv"``, ``"arff"``, ...), if its name does not tell.
    name
        Name of the data set (default: that of the file).
    download
        Whether a named data set that is not on this machine may be downloaded.
    **options
        Options of the format; None is the default:

        - ``drop`` (arff, csv, parquet, jsonl): columns that are neither features nor labels.
        - ``categories`` (arff, csv, parquet): ``{column: values}`` of each text column, which becomes one
          0/1 column per value. Default for arff: the values that the file declares.
        - ``features`` (svmlight: their number; jsonl: their names). Default: those that occur.
        - ``zero_based`` (svmlight): whether the first feature is 0 (default: 1, svmlight's rule).
        - ``delimiter`` (csv): default ``","``, for .tsv a tab.
        - ``encoding`` (arff, csv): default UTF-8.
        - ``unseen`` (arff, csv, parquet, jsonl, svmlight): an `Unseen`, which counts unknown categories and
          features and makes them missing values instead of errors.

    Raises
    ------
    DataError
        The file cannot be read; the message names the file and the line.
    DownloadError
        A named data set is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> import boostline.data
    >>> data = boostline.data.load("yeast")
    >>> data
    Dataset('yeast', 1500 train + 917 test rows, 103 features (dense), 14 labels)
    >>> round(data.describe().mean_relevant, 4)
    4.2371

    """
    if isinstance(source, str) and source in NAMED_SETS:
        given = {"test": test, "n_train": n_train, "format": format, "labels": labels, **options}
        for option, value in given.items():
            if value is not None:
                shell = "--" + {"n_train": "train-rows"}.get(option, option.replace("_", "-"))
                raise ValueError(
                    f"{advice(option, shell)} cannot be used with the named data set {source!r}"
                )
        return load_named(NAMED_SETS[source], name or source, download=download)
    if isinstance(source, (str, os.PathLike)) and Path(source).is_dir():
        source, test, xml = _mulan_folder(Path(source), test)
        labels = labels or xml
        name = name or Path(source).parent.name
    elif isinstance(source, str):
        refuse_unknown_name(source)
    return load_files(source, test, labels, n_train=n_train, format=format, name=name, **options)


def load_files(
    source: Source,
    test: Source | None,
    labels: Labels,
    *,
    n_train: int | None = None,
    format: str | None = None,
    name: str | None = None,
    **options: Any,
) -> Dataset:
    """Read one file, or a train and a test file with the same columns."""
    if test is not None and n_train is not None:
        raise ValueError("n_train and test are both given, but only one of them can be used")
    format_name = format_of(source, format)
    files = [source] if test is None else [source, test]
    settled = settle_options(files, format_name, labels, options)
    columns: tuple[list[str], list[str]] | None = None
    X_parts, Y_parts, rows = [], [], []
    for file in files:
        with open_reader(file, format_name, settled) as reader:
            if columns is None:
                columns = (reader.features, reader.labels)
            else:
                _same_columns(columns, (reader.features, reader.labels), files)
            blocks = list(reader.blocks(ROWS_PER_BLOCK))
        X_parts += [block.X for block in blocks]
        Y_parts += [block.Y for block in blocks]
        rows.append(sum(block.X.shape[0] for block in blocks))
    assert columns is not None
    return Dataset(
        stack(X_parts, len(columns[0])),
        stack(Y_parts, len(columns[1]), None if Y_parts else np.bool_),
        rows[0] if n_train is None else n_train,
        labels=columns[1],
        features=columns[0],
        name=name or stem(source).removesuffix("-train"),
    )


def _mulan_folder(folder: Path, test: Source | None) -> tuple[Path, Source | None, Path]:
    """Return train file, test file and xml of a folder in MULAN's layout."""
    base = folder.resolve().name

    def find(ending: str) -> Path:
        found = plain_or_gz(folder / f"{base}{ending}")
        if found is None:
            raise DataError(f"the folder has no {base}{ending} (or .gz)", path=str(folder))
        return found

    return find("-train.arff"), find("-test.arff") if test is None else test, find(".xml")


def _same_columns(
    first: tuple[list[str], list[str]], second: tuple[list[str], list[str]], files: list[Source]
) -> None:
    for kind, ours, theirs in zip(("feature", "label"), first, second, strict=True):
        for index, (a, b) in enumerate(zip_longest(ours, theirs)):
            if a != b:
                raise DataError(
                    f"{kind} {index} is {b!r}, but {a!r} in {source_name(files[0])}: "
                    "train and test need the same columns",
                    path=source_name(files[1]),
                )
