"""Texts and tags in files: all forms of tags mean the same, and what is wrong is named with its line."""

import io
import json

import pytest

from boostline.data import DataError
from boostline.data.text_files import text_blocks

JSON_TAGS = {
    '["a", "b"]': {"a": True, "b": True},
    '"a | b"': {"a": True, "b": True},
    '{"a": true, "b": null}': {"a": True, "b": None},
    "[1, 2]": {"1": True, "2": True},
    "null": {},
}


def read(content, *labels, format="jsonl", **options):
    file = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    blocks = text_blocks(file, ["body"], labels, format=format, **options)
    return [pair for texts, tags in blocks for pair in zip(texts, tags, strict=True)]


@pytest.mark.parametrize("told", JSON_TAGS)
def test_forms_of_tags(told):
    assert read(f'\n{{"body": null, "tags": {told}}}\n\n', "tags") == [("", JSON_TAGS[told])]


def test_columns_of_bits_may_be_empty():
    rows = "body,a,b\nhello,1,\n\nbye,0,true\n"
    expected = [("hello", {"a": True, "b": None}), ("bye", {"a": False, "b": True})]
    assert read(rows, "a", "b", format="csv") == expected


def test_rows_to_rank_have_no_tags():
    assert read("body;tags\nhello;a\n", format="csv", delimiter=";") == [("hello", {})]


@pytest.mark.parametrize(
    ("content", "format", "message"),
    [
        ('{"body": "x", "tags": []}\n{"body":', "jsonl", ":2: is not valid JSON"),
        ("[" * 100_000, "jsonl", "is not valid JSON"),
        ("[1]", "jsonl", "the row is an array, but must be an object"),
        ('{"body": 3, "tags": []}', "jsonl", "'body' is 3, but must be a text"),
        ('{"body": "", "tags": 3}', "jsonl", "'tags' is 3, but must be a list of tags"),
        ('{"body": "", "tags": [[]]}', "jsonl", r"has the tag \[\], but tags must be texts"),
        ('{"body": "", "tags": {"a": 1}}', "jsonl", "has 1 for 'a', but must have true"),
        ('{"body": "", "tags": "a|a"}', "jsonl", "has the tag 'a' twice"),
        ('{"body": "", "tag": ""}', "jsonl", "has no column 'tags'; is 'tag' meant"),
        ("", "csv", "is empty, or has no header line"),
        ("body,tags\nx,a,b\n", "csv", ":2: the row has 3 values, but the header has 2"),
        ('body,tags\n"x"y,a\n', "csv", "is not valid CSV"),
        (b"body,tags\n\xe9,a\n", "csv", "is not utf-8"),
        ("body,tags\n", "parquet", "is not a Parquet file, or is incomplete"),
    ],
)
def test_what_is_wrong_is_named(content, format, message):
    with pytest.raises(DataError, match=message):
        read(content, "tags", format=format)


def test_a_column_that_is_no_bit_is_named():
    with pytest.raises(DataError, match="the label 'a' has 'x', but must have 0 or 1"):
        read("body,a,b\nhello,x,1\n", "a", "b", format="csv")


def test_other_formats_have_no_texts():
    with pytest.raises(ValueError, match="texts come from jsonl, csv, parquet files"):
        read("", "tags", format="svmlight")


def test_parquet_is_no_stream():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    with pytest.raises(DataError, match="parquet needs a file"):
        next(text_blocks(Pipe(b"PAR1"), ["body"], ["tags"], format="parquet"))


def test_parquet_gives_what_json_lines_give(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    rows = [{"body": "hello", "tags": ["a", "b"]}, {"body": None, "tags": []}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    [(texts, tags)] = text_blocks(tmp_path / "t.parquet", ["body"], ["tags"])
    lines = "\n".join(json.dumps(row) for row in rows)
    assert list(zip(texts, tags, strict=True)) == read(lines, "tags")
