"""Files of texts and their tags, row by row: JSON lines, CSV and Parquet.

Tags are one column, with a list (``["a", "b"]``) or a text with a separator (``a|b``), or several columns of 0 and 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

from boostline.contract.frames import meant_or_there
from boostline.data.errors import DataError, first_repeated
from boostline.data.formats import format_of
from boostline.data.formats.csv import csv_rows
from boostline.data.formats.jsonlines import json_objects
from boostline.data.formats.parquet import ParquetRows
from boostline.data.formats.table_reader import bit_of
from boostline.data.source import LineReader, Source, open_bytes, source_name

Tags = dict[str, bool | None]
_FORMATS = ("jsonl", "csv", "parquet")


def text_blocks(
    source: Source,
    text: Sequence[str],
    labels: Sequence[str] = (),
    *,
    size: int = 256,
    format: str | None = None,
    separator: str = "|",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Iterator[tuple[list[str], list[Tags]]]:
    r"""Yield blocks of texts and their tags, ``{"tag": True}``.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, or an open binary file.
    text
        The columns with the text. Several are put together, one per line.
    labels
        The column with the tags, or several columns of 0 and 1 (empty for unknown). Empty: rows have no tags.
    size
        Rows in a block.
    format
        jsonl, csv or parquet, if the name of the file does not tell.
    separator
        What stands between tags that are one text.
    delimiter, encoding
        Of a csv file.

    Examples
    --------
    >>> import io
    >>> rows = io.BytesIO(b'{"body": "my bill", "tags": ["billing"]}\n{"body": "help!", "tags": "login|urgent"}\n')
    >>> next(text_blocks(rows, ["body"], ["tags"], format="jsonl"))
    (['my bill', 'help!'], [{'billing': True}, {'login': True, 'urgent': True}])
    """
    name = source_name(source)
    kind = format_of(source, format)
    if kind not in _FORMATS:
        raise ValueError(f"texts come from {', '.join(_FORMATS)} files, but {name} is {kind}")
    options = {"delimiter": delimiter, "encoding": encoding}
    with open_bytes(source) as file:
        rows = _rows(kind, file, source, [*text, *labels], size, **options)
        while batch := list(islice(rows, size)):
            texts, tags = [], []
            for number, row in batch:
                try:
                    texts.append("\n".join(_text(row[column], column) for column in text))
                    tags.append(_tags(row, labels, separator))
                except ValueError as error:
                    raise DataError(str(error), path=name, line=number) from None
            yield texts, tags


def _text(value: Any, column: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{column!r} is {_shown(value)}, but must be a text")
    return value


def _tags(row: dict[str, Any], labels: Sequence[str], separator: str) -> Tags:
    if len(labels) > 1:
        return {label: _relevance(row[label], label) for label in labels}
    if not labels:
        return {}
    told = row[labels[0]]
    if told is None:
        return {}
    if isinstance(told, str):
        told = [tag.strip() for tag in told.split(separator) if tag.strip()]
    if isinstance(told, dict):
        for tag, value in told.items():
            if not (value is None or isinstance(value, bool)):
                raise ValueError(
                    f"{labels[0]!r} has {_shown(value)} for {tag!r}, but must have true, false or null"
                )
        found = list(told)
    elif isinstance(told, list):
        found = [str(tag) if type(tag) is int else tag for tag in told]
    else:
        raise ValueError(
            f"{labels[0]!r} is {_shown(told)}, but must be a list of tags, or a text such as a{separator}b"
        )
    for tag in found:
        if not isinstance(tag, str) or not tag:
            raise ValueError(f"{labels[0]!r} has the tag {_shown(tag)}, but tags must be texts")
    if (twice := first_repeated(found)) is not None:
        raise ValueError(f"{labels[0]!r} has the tag {twice!r} twice")
    return dict(told) if isinstance(told, dict) else dict.fromkeys(found, True)


def _relevance(value: Any, label: str) -> bool | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        return bool(bit_of(value, label))
    except ValueError as error:
        raise ValueError(f"{error}; give one column if it holds the tags themselves") from None


def _rows(
    kind: str, file: BinaryIO, source: Source, columns: Sequence[str], size: int, **options: Any
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with their numbers."""
    name = source_name(source)
    if kind == "jsonl":
        for number, row in json_objects(LineReader(file, name)):
            _need_columns(columns, row, name, number)
            yield number, row
    elif kind == "csv":
        header, rows = csv_rows(file, source, **options)
        _need_columns(columns, header, name, 1)
        for number, cells in rows:
            yield number, dict(zip(header, cells, strict=True))
    else:
        table = ParquetRows(file, name)
        _need_columns(columns, table.columns, name, None)
        batches = (batch.to_pylist() for batch in table.batches(columns, size))
        yield from enumerate(chain.from_iterable(batches), start=1)


def _need_columns(wanted: Sequence[str], found: Iterable[str], name: str, line: int | None) -> None:
    names = list(found)
    for column in wanted:
        if column not in names:
            raise DataError(
                f"has no column {column!r}; {meant_or_there(column, names)}", path=name, line=line
            )


def _shown(value: Any) -> str:
    text = json.dumps(value, default=repr)
    return text if len(text) <= 60 else f"{text[:57]}..."
