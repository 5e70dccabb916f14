"""Damaged data files of every format: the readers give data or a `DataError`, in bounded time and memory.

An untouched file has to give the table that was written. Whatever a file gives, all at once, block by block, plain or
packed, has to be the same.
"""

from __future__ import annotations

import gzip
import io
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from mutations import mutated
from tables import FORMATS, Table, random_table, written, xml

import boostline as bl
from boostline.data import DataError

SUFFIX = {
    "arff": ".arff",
    "sparse_arff": ".arff",
    "csv": ".csv",
    "parquet": ".parquet",
    "svmlight": ".svm",
    "jsonl": ".jsonl",
}
FORMAT = {".arff": "arff", ".csv": "csv", ".svm": "svmlight", ".jsonl": "jsonl"}


def case(seed: int, folder: Path, outcomes: Counter[str]) -> None:
    """One file, damaged or not, read in two ways."""
    rng = np.random.default_rng([seed, 3])
    format_name = FORMATS[seed % len(FORMATS)]
    table = random_table(rng, format_name)
    times = int(rng.choice([0, 1, 1, 1, 2, 4, 8]))
    damage_xml = "arff" in format_name and rng.random() < 0.25
    content = mutated(rng, written(rng, table, format_name), 0 if damage_xml else times)
    options = _options(rng, table, format_name)
    if "arff" in format_name and (damage_xml or rng.random() < 0.3):
        path = folder / "labels.xml"
        path.write_bytes(mutated(rng, xml(rng, table), times if damage_xml else 0))
        options["labels"] = path
    packed = format_name != "parquet" and rng.random() < 0.2
    if packed:
        content = gzip.compress(content, 1)
        if rng.random() < 0.3:
            content, times = mutated(rng, content, 1), times + 1
    name = f"data{SUFFIX[format_name]}{'.gz' if packed else ''}"
    path = folder / name
    path.write_bytes(content)
    whole = _whole(path, options)
    if times == 0:
        _check_untouched(table, format_name, whole, options)
    blocks = _blocks(rng, path, content, options)
    assert (whole is None) == (blocks is None), (
        "load and stream do not agree on whether it can be read"
    )
    if whole is not None and blocks is not None:
        np.testing.assert_array_equal(blocks[0], _dense(whole.X), "X of load and stream")
        np.testing.assert_array_equal(blocks[1], _dense(whole.Y), "Y of load and stream")
    if rng.random() < 0.3:
        _rank_rows(rng, path, table, format_name)
    outcomes[f"{format_name} {'refused' if whole is None else 'read'}"] += 1


def _check_untouched(table: Table, format_name: str, data: Any, options: dict[str, Any]) -> None:
    """The data are the table. JSON lines without `labels` know only of columns that occur."""
    if format_name == "jsonl" and "labels" not in options and not table.Y.any():
        assert data is None, "no row has a label, and nobody names any"
        return
    assert data is not None, f"an untouched {format_name} file is refused"
    features = table.columns()
    labels = dict(zip(table.labels, table.Y.T, strict=True))
    if format_name == "svmlight":  # which numbers them
        features = dict(zip(data.features, features.values(), strict=True))
        labels = dict(zip(data.labels, labels.values(), strict=True))
    elif format_name == "jsonl" and data.features and data.features[0] not in features:
        features = dict(zip(data.features, features.values(), strict=True))  # a list has no names
    for matrix, names, wanted in ((data.X, data.features, features), (data.Y, data.labels, labels)):
        dense = _dense(matrix)
        for name in names:
            np.testing.assert_array_equal(dense[:, names.index(name)], wanted[name], name)
        for name in set(wanted) - set(names):
            assert format_name == "jsonl" and not wanted[name].any(), f"{name!r} is missing"


def _options(rng: np.random.Generator, table: Table, format_name: str) -> dict[str, Any]:
    """What a caller who knows the table says."""
    if format_name == "svmlight":
        return {"labels": len(table.labels), "features": len(table.features)}
    if format_name == "jsonl":
        return {"labels": table.labels} if rng.random() < 0.5 else {}
    options: dict[str, Any] = {"labels": table.labels}
    if format_name in ("csv", "parquet") and table.colours:
        options["categories"] = {table.features[j]: v for j, v in table.colours.items()}
    return options


def _whole(path: Path, options: dict[str, Any]) -> Any:
    try:
        data = bl.data.load(path, **options)
    except DataError:
        return None
    assert data.X.shape == (len(data), len(data.features))
    assert data.Y.shape == (len(data), len(data.labels))
    return data


def _blocks(
    rng: np.random.Generator, path: Path, content: bytes, options: dict[str, Any]
) -> tuple[Any, Any] | None:
    try:
        source: Any = path
        # What has to be looked through cannot come from a stream.
        known = path.suffixes[0] in (".arff", ".csv") or "features" in options
        if known and rng.random() < 0.3:
            source = io.BytesIO(content)
            options = {**options, "format": FORMAT[path.suffixes[0]]}
        stream = bl.data.stream(source, block=int(rng.choice([1, 2, 3, 7, 1000])), **options)
        found = list(stream)
    except DataError:
        return None
    d, k = len(stream.features), len(stream.labels)
    X = [_dense(block.X) for block in found]
    Y = [_dense(block.Y) for block in found]
    return np.concatenate([np.zeros((0, d)), *X]), np.concatenate([np.zeros((0, k), bool), *Y])


def _rank_rows(rng: np.random.Generator, path: Path, table: Table, format_name: str) -> None:
    """Rows that are to be ranked: without labels, and with what is not known counted as missing."""
    options: dict[str, Any] = {"labels": ()}
    if "arff" not in format_name:
        options["unseen"] = bl.data.Unseen()
    if format_name in ("svmlight", "jsonl"):
        options["features"] = len(table.features) if format_name == "svmlight" else table.features
    elif format_name in ("csv", "parquet"):
        options["categories"] = {table.features[j]: v for j, v in table.colours.items()}
    try:
        stream = bl.data.stream(path, block=int(rng.integers(1, 9)), **options)
        for block in stream:
            assert block.X.shape[1] == len(stream.features)
    except DataError:
        pass


def _dense(matrix: Any) -> Any:
    # A forged header may name a great many columns; the rows that are there are few.
    assert matrix.shape[0] * matrix.shape[1] < 10**8, f"the shape is {matrix.shape}"
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
