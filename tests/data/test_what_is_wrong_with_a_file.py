"""Files that are not what they seem: the error says what they are and what would do."""

import io

import pytest

from boostline.contract.advice import cli_messages
from boostline.data import DataError, load, stream


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        ("a,b\n1,0\n".encode("utf-16"), "is UTF-16 text, but must be UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a binary file"),
        (b"PAR1\x15\x04", "is a Parquet file, not text: pass format='parquet'"),
        (b"a;b\n1;0\n", "has a single column, 'a;b': .* separated by ';'; pass delimiter=';'"),
        (b"a\tb\n1\t0\n", r"separated by '\\t'; pass delimiter='\\t'"),
        (b"warm,cold,hot\n1,0,1\n", "has no column 'clod', .* is 'cold' meant?"),
    ],
)
def test_csv(content, message):
    with pytest.raises(DataError, match=message):
        load(io.BytesIO(content), format="csv", labels=["clod"])


@pytest.mark.parametrize("name", ["arff", "svmlight", "jsonl"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("@relation r".encode("utf-16"), "is UTF-16 text"),
        (b"PK\x03\x04\x14\0\x06", "is a binary file"),
    ],
)
def test_other_text(name, content, message, tmp_path):
    path = tmp_path / "d"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load(path, format=name, labels=["a"])


@pytest.mark.parametrize("name", ["svmlight", "jsonl"])
def test_without_rows(name, tmp_path):
    path = tmp_path / "d"
    path.write_bytes(b"\n")
    with pytest.raises(DataError, match="has no rows"):
        load(path, format=name)


def test_a_set_that_is_misspelt():
    with pytest.raises(ValueError, match=r"the named sets are .*; is 'yeast' meant"):
        load("yest")


def test_advice_is_for_who_reads_it():
    rows = stream(io.BytesIO(b"x,my id,a\n1,k,0\n"), format="csv", labels=["a"])
    with pytest.raises(DataError, match=r"pass categories={'my id': \[...\]} .* drop=\['my id'\]"):
        list(rows)
    rows = stream(io.BytesIO(b"x,my id,a\n1,k,0\n"), format="csv", labels=["a"])
    with (
        cli_messages(),
        pytest.raises(DataError, match=r"--categories 'my id=value,.*' .* --drop 'my id'"),
    ):
        list(rows)
