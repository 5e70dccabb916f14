"""The log as a table: parquet or JSON lines, for a notebook or for keeping."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from boostline.saving.atomic import replace_file
from boostline.serve.store.log import Log

__all__ = ["export"]

_BLOCK = 2000


def export(store: str, to: str | os.PathLike[str], after: int = 0, up_to: int | None = None) -> int:
    """Write events to a file, by its ending; return how many."""
    path = os.fspath(to)
    log = Log(store)
    try:
        rows = _rows(log, after, up_to)
        if path.endswith((".jsonl", ".ndjson")):
            return _lines(path, rows)
        if path.endswith(".parquet"):
            return _parquet(path, rows)
    finally:
        log.close()
    raise ValueError(f"--to is {path!r}, but must end in .parquet or .jsonl")


def _rows(log: Log, after: int, up_to: int | None) -> Iterator[dict[str, Any]]:
    for event in log.events(after, up_to):
        yield {
            "offset": event.offset,
            "time": event.time,
            "kind": event.kind,
            "id": event.id,
            "of": event.of,
            "body": event.body.decode(),
            "answer": None if event.answer is None else event.answer.decode(),
        }


def _lines(path: str, rows: Iterator[dict[str, Any]]) -> int:
    n = 0
    with replace_file(path) as file:
        for row in rows:
            row["body"] = json.loads(row["body"])
            row["answer"] = None if row["answer"] is None else json.loads(row["answer"])
            file.write(json.dumps(row).encode() + b"\n")
            n += 1
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
    n, block = 0, []
    with replace_file(path) as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for row in rows:
            block.append({**row, "time": int(1e6 * row["time"])})
            n += 1
            if len(block) == _BLOCK:
                writer.write_table(pa.Table.from_pylist(block, schema))
                block = []
        if block:
            writer.write_table(pa.Table.from_pylist(block, schema))
    return n
