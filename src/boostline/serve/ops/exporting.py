"""The log as a table: parquet or JSON lines, for a notebook or for keeping."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from boostline.saving.atomic import replace_file
from boostline.serve.store.log import Event, Log

__all__ = ["export"]

_BLOCK = 2000


def export(store: str, to: str | os.PathLike[str], after: int = 0, up_to: int | None = None) -> int:
    """Write events to a file, by its ending; return how many."""
    path = os.fspath(to)
    writers = {".jsonl": _lines, ".ndjson": _lines, ".parquet": _parquet}
    write = writers.get(os.path.splitext(path)[1])
    if write is None:
        raise ValueError(f"--to is {path!r}, but must end in .parquet or .jsonl")
    with closing(Log(store)) as log:
        return write(path, map(_row, log.events(after, up_to)))


def _row(event: Event) -> dict[str, Any]:
    row = {name: getattr(event, name) for name in ("offset", "time", "kind", "id", "of")}
    row["body"] = event.body.decode()
    row["answer"] = None if event.answer is None else event.answer.decode()
    return row


def _lines(path: str, rows: Iterator[dict[str, Any]]) -> int:
    n = 0
    with replace_file(path) as file:
        for n, row in enumerate(rows, 1):  # noqa: B007
            row["body"] = json.loads(row["body"])
            row["answer"] = json.loads(row["answer"] or "null")
            file.write(json.dumps(row).encode() + b"\n")
    return n


def _parquet(path: str, rows: Iterator[dict[str, Any]]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(
            "pyarrow is not installed, but parquet needs it: pip install pyarrow"
        ) from error
    text = ("kind", "id", "body", "answer")
    schema = pa.schema(
        [("offset", pa.int64()), ("time", pa.timestamp("us", tz="UTC")), ("of", pa.int64())]
        + [(name, pa.string()) for name in text]
    )
    n = 0
    with replace_file(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while block := list(itertools.islice(rows, _BLOCK)):
            timed = [{**row, "time": int(1e6 * row["time"])} for row in block]
            writer.write_table(pa.Table.from_pylist(timed, schema))
            n += len(block)
    return n
