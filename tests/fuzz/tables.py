"""Random tables, written down in every format that the readers know, and what a reader should find in them."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMATS = ("arff", "sparse_arff", "csv", "parquet", "svmlight", "jsonl")

_NAMES = ("width", "main colour", "it's", 'say "x"', "a,b", "größe", "100%", "x{y}", "tab\tname")


@dataclasses.dataclass
class Table:
    """Columns and rows; `colours` gives the nominal columns by index and what they may hold."""

    features: list[str]
    labels: list[str]
    X: NDArray[Any]  # numbers; for a nominal column the index of its value
    Y: NDArray[np.bool_]
    colours: dict[int, list[str]]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of X as a reader gives them, by name: one 0/1 column per nominal value."""
        found = {}
        for j, name in enumerate(self.features):
            column = self.X[:, j]
            if j not in self.colours:
                found[name] = column
                continue
            for v, value in enumerate(self.colours[j]):
                found[f"{name}={value}"] = np.where(np.isnan(column), np.nan, column == v)
        return found


def random_table(rng: np.random.Generator, format_name: str) -> Table:
    """A table that the format can hold."""
    n, d, k = int(rng.integers(1, 12)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    plain = format_name == "svmlight" or rng.random() < 0.5
    features = [f"f{j}" if plain else f"{_NAMES[(j * 2) % 9]} {j}" for j in range(d)]
    labels = [f"l{j}" if plain else f"{_NAMES[(j * 2 + 1) % 9]} {j}" for j in range(k)]
    X = np.round(rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4), int(rng.integers(0, 8)))
    X[rng.random(X.shape) < 0.3] = 0.0
    colours: dict[int, list[str]] = {}
    if format_name not in ("svmlight", "jsonl"):
        for j in range(d):
            if rng.random() < 0.3:
                colours[j] = ["red", "dark green", "b'lue", "gelb,"][: int(rng.integers(2, 5))]
                X[:, j] = rng.integers(len(colours[j]), size=n)
    if format_name in ("arff", "csv", "parquet"):
        X[rng.random(X.shape) < 0.1] = np.nan
    return Table(features, labels, X + 0.0, rng.random((n, k)) < 0.4, colours)


def written(rng: np.random.Generator, table: Table, format_name: str) -> bytes:
    """The bytes of a file with the table."""
    match format_name:
        case "arff" | "sparse_arff":
            return _arff(rng, table, format_name == "sparse_arff")
        case "csv":
            return _csv(rng, table)
        case "parquet":
            return _parquet(rng, table)
        case "svmlight":
            return _svmlight(rng, table)
        case _:
            return _jsonl(rng, table)


def xml(rng: np.random.Generator, table: Table) -> bytes:
    """MULAN's list of the labels."""
    from xml.sax.saxutils import quoteattr

    start = str(rng.choice(["", '<?xml version="1.0" encoding="utf-8"?>\n', "<!-- labels -->"]))
    space = str(rng.choice(["", ' xmlns="http://mulan.sourceforge.net/labels"']))
    inner = "\n".join(f"<label name={quoteattr(name)}></label>" for name in table.labels)
    return f"{start}<labels{space}>\n{inner}\n</labels>\n".encode()


def _line_end(rng: np.random.Generator) -> str:
    return str(rng.choice(["\n", "\n", "\r\n"]))


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\t", "\\t")
    return f"'{escaped}'"


def _arff(rng: np.random.Generator, table: Table, sparse: bool) -> bytes:
    lines = ["% a comment", f"@relation {_quoted('a b')}", ""]
    for j, name in enumerate(table.features):
        domain = table.colours.get(j)
        kind = str(rng.choice(["numeric", "REAL", "integer"]))
        if domain is not None:
            kind = "{" + ", ".join(map(_quoted, domain)) + "}"
        lines.append(f"@attribute {_quoted(name)} {kind}")
    lines += [f"@ATTRIBUTE {_quoted(name)} {{0,1}}" for name in table.labels]
    lines.append("@data")
    d = len(table.features)
    for x, y in zip(table.X, table.Y, strict=True):
        cells = [_arff_cell(table, j, x[j]) for j in range(d)] + [str(int(v)) for v in y]
        if sparse:
            first = [_quoted(table.colours[j][0]) if j in table.colours else "0" for j in range(d)]
            first += ["0"] * len(y)
            cells = [f"{j} {c}" for j, c in enumerate(cells) if c != first[j]]
            lines.append("{" + ", ".join(cells) + "}")
        else:
            lines.append(str(rng.choice([",", ", "])).join(cells))
    end = _line_end(rng)
    return (end.join(lines) + end).encode()


def _arff_cell(table: Table, j: int, value: float) -> str:
    if np.isnan(value):
        return "?"
    return _quoted(table.colours[j][int(value)]) if j in table.colours else _number(value)


def _csv(rng: np.random.Generator, table: Table) -> bytes:
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator=_line_end(rng))
    writer.writerow([*table.features, *table.labels])
    for x, y in zip(table.X, table.Y, strict=True):
        cells = [_csv_cell(rng, table, j, value) for j, value in enumerate(x)]
        writer.writerow(cells + [int(v) for v in y])
    return text.getvalue().encode()


def _csv_cell(rng: np.random.Generator, table: Table, j: int, value: float) -> str:
    if np.isnan(value):
        return str(rng.choice(["?", "", "NA", "null"])) if len(table.features) > 1 else "?"
    return table.colours[j][int(value)] if j in table.colours else _number(value)


def _parquet(rng: np.random.Generator, table: Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {}
    for j, name in enumerate(table.features):
        values = [None if np.isnan(v) else v for v in table.X[:, j]]
        if j in table.colours:
            values = [None if v is None else table.colours[j][int(v)] for v in values]
        columns[name] = pa.array(values, pa.string() if j in table.colours else pa.float64())
    kind = [pa.bool_(), pa.int8(), pa.float32()][rng.integers(3)]
    for j, name in enumerate(table.labels):
        columns[name] = pa.array(table.Y[:, j].tolist()).cast(pa.int8()).cast(kind)
    out = io.BytesIO()
    pq.write_table(
        pa.table(columns),
        out,
        row_group_size=int(rng.integers(1, 12)),
        compression=str(rng.choice(["none", "snappy", "gzip", "zstd"])),
    )
    return out.getvalue()


def _svmlight(rng: np.random.Generator, table: Table) -> bytes:
    lines = ["# a comment"] if rng.random() < 0.3 else []
    for x, y in zip(table.X, table.Y, strict=True):
        labels = ",".join(str(j) for j in np.flatnonzero(y))
        cells = [f"{j + 1}:{_number(v)}" for j, v in enumerate(x) if v != 0]
        # A line without anything would be skipped as a blank one.
        lines.append(" ".join([labels, *(cells if cells or labels else ["1:0"])]))
    end = _line_end(rng)
    return (end.join(lines) + end).encode()


def _jsonl(rng: np.random.Generator, table: Table) -> bytes:
    as_list = rng.random() < 0.3
    ascii_only = bool(rng.random() < 0.5)
    lines = []
    for x, y in zip(table.X, table.Y, strict=True):
        features: Any = x.tolist()
        if not as_list:
            features = {n: v for n, v in zip(table.features, features, strict=True) if v}
        row = {"features": features, "labels": [table.labels[j] for j in np.flatnonzero(y)]}
        lines.append(json.dumps(row, ensure_ascii=ascii_only))
    return ("\n".join(lines) + "\n").encode()
