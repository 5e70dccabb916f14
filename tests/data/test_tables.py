"""CSV and Parquet with named label columns."""

from __future__ import annotations

import csv
import gzip
import io
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostline import data
from boostline.data import DataError

TEXT = "id,width,colour,warm,cold\n7,0.5,red,1,0\n8,?,blue,true,FALSE\n9,-2,,0,1.0\n"


def read(text: str | bytes, **options: object) -> data.Dataset:
    content = text.encode() if isinstance(text, str) else text
    file = io.BytesIO(content)
    file.name = "t.csv"
    options = {"labels": ["cold", "warm"]} | options
    return data.load(file, **options)


def test_columns_become_features_categories_and_labels() -> None:
    loaded = read(TEXT, drop=["id"], categories={"colour": ["red", "blue"]})
    assert loaded.features == ["width", "colour=red", "colour=blue"]
    assert loaded.labels == ["warm", "cold"]  # the order of the file's columns
    nan = np.nan
    np.testing.assert_array_equal(loaded.X, [[0.5, 1, 0], [nan, 0, 1], [-2, nan, nan]])
    assert loaded.Y.tolist() == [[True, False], [True, False], [False, True]]


def test_delimiters_gzip_bom_and_quotes(tmp_path: Path) -> None:
    text = '\ufeff"the, width"\ty\n1\t1\n'
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(text.encode()))
    loaded = data.load(tmp_path / "t.tsv.gz", labels=["y"])
    assert loaded.features == ["the, width"] and loaded.X.tolist() == [[1]]
    assert loaded.name == "t"
    assert read("a;y\n1;0\n", labels=["y"], delimiter=";").X.tolist() == [[1]]


@pytest.mark.parametrize("block", [1, 2, 1000])
def test_a_byte_order_mark_within_the_file_is_no_number(tmp_path: Path, block: int) -> None:
    """Also where a block begins with it, which pyarrow takes for the beginning of a file."""
    (tmp_path / "t.csv").write_text("x,y\n1,0\n2,1\n\ufeff3,1\n4,0\n", "utf-8")
    with pytest.raises(data.DataError, match=r"t\.csv:4: the column 'x' has"):
        list(data.stream(tmp_path / "t.csv", labels=["y"], block=block))


ALL_MISSING = ["", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None"]


@pytest.mark.parametrize("text", ALL_MISSING)
def test_what_stands_for_a_missing_value(text: str) -> None:
    """In numbers always; in a column of text, unless the caller names it among the values."""
    assert np.isnan(read(f"x,y\n1,0\n{text},1\n", labels=["y"]).X[1, 0])
    rows = f"x,y\nred,0\n{text},1\n"
    missing = read(rows, labels=["y"], categories={"x": ["red"]})
    np.testing.assert_array_equal(missing.X, [[1], [np.nan]])
    named = read(rows, labels=["y"], categories={"x": ["red", text]})
    np.testing.assert_array_equal(named.X, [[1, 0], [0, 1]])
    unknown = read(f"x,y\n1,{text}\n2,1\n", labels=["y"])
    np.testing.assert_array_equal(unknown.Y, [[np.nan], [1]])


def test_other_words_for_missing_are_refused() -> None:
    with pytest.raises(DataError, match=":2: the column 'x' has 'none', which is no number"):
        read("x,y\nnone,0\n", labels=["y"])


def test_a_header_may_hold_line_ends_in_quotes() -> None:
    loaded = read('\n"the\nwidth","a\rb",y\n1,2,0\n', labels=["y"])
    assert loaded.features == ["the\nwidth", "a\rb"] and loaded.X.tolist() == [[1, 2]]


def test_a_value_that_is_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boostline.data.formats.csv.MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match=r"^t\.csv:1: is not valid CSV: field larger"):
        read("x" * 2000 + ",y\n1,0\n", labels=["y"])


def test_many_columns_take_linear_time() -> None:
    n = 20_000
    names = [f"c{i}" for i in range(n)]
    start = time.process_time()
    file = io.BytesIO((",".join(names) + "\n").encode())
    stream = data.stream(file, format="csv", labels=names[: n // 2], drop=names[n // 2 : n - 1])
    assert stream.n_labels == n // 2 and stream.features == names[-1:]
    assert time.process_time() - start < 1.0


def test_train_and_test_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text("x,y\n3,1\n")
    loaded = data.load(tmp_path / "a.csv", test=tmp_path / "b.csv", labels=["y"])
    assert (loaded.n_train, loaded.n_test) == (2, 1) and loaded.X.tolist() == [[1], [2], [3]]
    one = data.load(tmp_path / "a.csv", labels=["y"], n_train=1)
    assert (one.n_train, one.n_test) == (1, 1)


def test_numbers_that_turn_up_late_are_taken() -> None:
    """Types do not follow from the first rows: a later row may have a fraction."""
    text = "x,y\n" + "1,0\n" * 600_000 + "1.5,1\n"
    assert read(text, labels=["y"]).X[-1, 0] == 1.5


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x,y\n1,0\n2\n", {}, r":3: the row has 1 values, but the header has 2"),
        ("x,y\n1,0\n2,0,1\n", {}, r":3: the row has 3 values, but the header has 2"),
        (
            "x,y\n1,0\na,0\n",
            {},
            r":3: the column 'x' has 'a', which is no number; pass categories=",
        ),
        ("x,y\n1,0\n1e999,0\n", {}, r":3: the column 'x' has an infinite value"),
        (
            "x,y\n1,0\n-1e155,0\n",
            {},
            r":3: the column 'x' has the value -1e\+155, but must have numbers",
        ),
        ("x,y\n1,0\n1,2\n", {}, r":3: the label 'y' has '2', but must have 0 or 1, or be empty"),
        (
            "x,y\n1,0\nz,0\n",
            {"categories": {"x": ["1"]}},
            r":3: the column 'x' has 'z', which is not",
        ),
        (
            "x,y\n1,0\n",
            {"labels": ["z"]},
            r"has no column 'z', which is named as a label; it has 'x', 'y'",
        ),
        ("x,y\n1,0\n", {"drop": ["z"]}, r"has no column 'z', which drop names"),
        ("x,x,y\n1,1,0\n", {}, r":1: has the column 'x' twice"),
        ("", {}, r":1: is empty, or has no header line"),
        ("x,y\n1,0\n", {"labels": None}, r"does not say which columns are labels: pass labels="),
        (b"x,y\n1,\xff\n", {}, r":2: is not utf-8; pass encoding="),
        (b"\xff,y\n1,0\n", {}, r":1: is not utf-8"),
        ("x,y\r1,0\r2,1\r", {}, r":1: has a carriage return within a line; lines must end"),
        ("x,y\n1,0\r2,1\n", {}, r":2: has a carriage return within a line"),
        ('x,y\n1,0\n"1\r",0\r"2",0\n', {}, r":3: has a carriage return within a line"),
        (
            'x,y\n\n1,0\n"1\n",0\n\nu,1\n',
            {"categories": {"x": ["1"]}},
            r":4: the column 'x' has '1\\n'",
        ),
        ('x,y\n\n"1",0\n\n2,u\n', {}, r":5: the label 'y' has 'u'"),
        ('x,y\n1,0\n"2,0\n3,0\n', {}, r":3: the row has a quote that is never closed"),
    ],
)
def test_damage_is_named_with_file_and_row(
    text: str | bytes, options: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=r"^t\.csv.*" + message):
        read(text, **({"labels": ["y"]} | options))


def test_the_row_is_right_far_into_the_file() -> None:
    text = "x,y\n" + "1,0\n" * 200_000 + "1,7\n"
    with pytest.raises(DataError, match=r"^t\.csv:200002: the label 'y' has '7'"):
        read(text, labels=["y"])
    with pytest.raises(DataError, match=r"^t\.csv:200002: the column 'x' has 'u'"):
        read(text.replace("1,7", "u,1"), labels=["y"])


def test_bad_arguments_are_named() -> None:
    for labels, message in (
        ("y", "labels is 'y', but must be a list"),
        (2, "labels is 2, but must be a list"),
    ):
        with pytest.raises(TypeError, match=message):
            read("x,y\n", labels=labels)
    with pytest.raises(ValueError, match="labels names 'y' twice"):
        read("x,y\n", labels=["y", "y"])
    with pytest.raises(ValueError, match="labels is empty"):
        read("x,y\n", labels=[])
    with pytest.raises(ValueError, match="the label 'y' is also named in drop"):
        read("x,y\n", labels=["y"], drop=["y"])
    for delimiter in (";;", "\n", "\xe9"):
        with pytest.raises(ValueError, match=r"delimiter is .*, but must be one ASCII character"):
            read("x,y\n", delimiter=delimiter)
    with pytest.raises(ValueError, match="zero_based is not an option of the format csv"):
        read("x,y\n", zero_based=True)


def test_only_a_header_is_an_empty_set() -> None:
    loaded = read("x,y\n", labels=["y"])
    assert len(loaded) == 0 and loaded.features == ["x"]


def test_parquet_types(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "small": np.array([1, 2, 3], dtype=np.int8),
            "real": np.array([0.5, np.nan, 2.5], dtype=np.float32),
            "flag": [True, False, True],
            "colour": pd.Categorical(["b", None, "a"]),
            "y": [True, False, True],
            "z": [0, 1, 1],
            "w": [0.0, 1.0, 0.0],
        }
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    loaded = data.load(path, labels=["y", "z", "w"], categories={"colour": ["a", "b"]})
    nan = np.nan
    np.testing.assert_array_equal(
        loaded.X, [[1, 0.5, 1, 0, 1], [2, nan, 0, nan, nan], [3, 2.5, 1, 1, 0]]
    )
    assert loaded.Y.astype(int).tolist() == [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
    with pytest.raises(DataError, match=r"'colour' is of type dictionary.*pass categories="):
        data.load(path, labels=["y", "z", "w"])


def test_parquet_with_other_rows_than_it_promises(tmp_path: Path) -> None:
    """As of a file whose row groups are damaged: some block sizes met the error, others lost rows."""
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.arange(8.0), "y": [0, 1] * 4}).to_parquet(path)
    said, forged = (
        b"\x16\x10\x19",
        b"\x16\x12\x19",
    )  # Thrift: the number of rows, 8, and a list (row groups)
    assert path.read_bytes().count(said) == 1
    path.write_bytes(path.read_bytes().replace(said, forged))
    with pytest.raises(DataError, match=r"t\.parquet: is damaged: it has 8 rows, but says 9"):
        data.load(path, labels=["y"])


def test_parquet_whose_row_groups_have_other_types_than_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": np.arange(8.0), "y": [0, 1] * 4}).to_parquet(path, row_group_size=4)
    double, real = (
        b"\x15\x0a\x19",
        b"\x15\x08\x19",
    )  # Thrift: a column's type, and a list (encodings)
    before, _, after = path.read_bytes().rpartition(double)
    path.write_bytes(before + real + after)
    for read in (data.load, lambda *args, **kwargs: list(data.stream(*args, block=1, **kwargs))):
        with pytest.raises(
            DataError,
            match=r"t\.parquet: is damaged: .*type does not match .*FLOAT vs\. DOUBLE",
        ):
            read(path, labels=["y"])


def test_parquet_whose_column_statistics_are_damaged(tmp_path: Path) -> None:
    # Found by fuzzing: pyarrow ended the process when it was asked to describe such a column.
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1.0, None, 2.0], "y": [0, 1, 0]}), path)
    # Thrift: field 2 is an empty list, field 3 a list of two; or field 1 is a byte, field 2 the list of two.
    histograms, damaged = b"\x29\x06\x19\x26", b"\x13\x06\x19\x26"
    before, found, after = path.read_bytes().rpartition(histograms)
    if not found:
        pytest.skip("this pyarrow writes no histograms")
    path.write_bytes(before + damaged + after)
    with pytest.raises(DataError, match=r"t\.parquet: is damaged: .*histogram"):
        data.load(path, labels=["y"])


@pytest.mark.parametrize("block", [1, 3, 5, 8, 100])
def test_blocks_of_parquet_do_not_depend_on_row_groups(tmp_path: Path, block: int) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"a": np.arange(11.0), "c": list("xyxyxyxyxyx"), "y": [0, 1] * 5 + [0]})
    frame.astype({"c": "category"}).to_parquet(path, row_group_size=4)
    blocks = list(data.stream(path, labels=["y"], categories={"c": ["x", "y"]}, block=block))
    assert [len(b.X) for b in blocks] == [block] * (11 // block) + [11 % block] * (11 % block > 0)
    X, Y = np.vstack([b.X for b in blocks]), np.vstack([b.Y for b in blocks])
    np.testing.assert_array_equal(X[:, 0], frame.a)
    np.testing.assert_array_equal(X[:, 1], frame.c == "x")
    np.testing.assert_array_equal(Y[:, 0], frame.y)


def test_parquet_that_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"x": np.random.default_rng(0).random(10_000), "y": [0] * 10_000})
    pq.write_table(table, path, write_page_checksum=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"t\.parquet: is not a Parquet file, or is incomplete"):
        data.load(path, labels=["y"])
    path.write_bytes(whole[:1000] + bytes(10) + whole[1010:])
    with pytest.raises(DataError, match=r"t\.parquet: is damaged"):
        data.load(path, labels=["y"])
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [0, 3]}), path)
    with pytest.raises(DataError, match=r"t\.parquet:2: the label 'y' has 3, but must have 0 or 1"):
        data.load(path, labels=["y"])


@settings(deadline=None)  # shared machines are slow at times
@given(
    st.lists(
        st.tuples(
            st.floats(-1e100, 1e100) | st.just(np.nan),
            st.sampled_from(["a", "b,c", 'd"e', "ü\nv"]),
            st.booleans(),
        )
    ),
    st.integers(1, 4),
)
def test_what_is_written_is_read(rows: list[tuple[float, str, bool]], block: int) -> None:
    values = ["a", "b,c", 'd"e', "ü\nv"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["x", "kind", "y"])
    writer.writerows([repr(x), kind, int(y)] for x, kind, y in rows)
    blocks = data.stream(
        io.BytesIO(text.getvalue().encode()),
        format="csv",
        labels=["y"],
        categories={"kind": values},
        block=block,
    )
    read_blocks = list(blocks)
    assert all(len(X) == block for X, _ in read_blocks[:-1])
    X = np.vstack([np.empty((0, 5)), *(block.X for block in read_blocks)])
    expected = [[x, *(float(kind == value) for value in values)] for x, kind, _ in rows]
    np.testing.assert_array_equal(X, np.array(expected).reshape(len(rows), 5))
    assert [bool(y) for block in read_blocks for y in block.Y[:, 0]] == [y for *_, y in rows]


def test_parquet_whose_texts_are_no_utf8(tmp_path: Path) -> None:
    """The bytes of a text are in no checksum unless the writer asks for one."""
    path = tmp_path / "t.parquet"
    table = pa.table({"colour": ["green", "green"], "y": [0, 1]})
    pq.write_table(table, path, compression="none", write_statistics=False)
    path.write_bytes(path.read_bytes().replace(b"green", b"gr\xffen"))
    with pytest.raises(DataError, match=r"t\.parquet: is damaged: .*UTF-?8"):
        data.load(path, labels=["y"], categories={"colour": ["green"]})
    pq.write_table(table, path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"colour", b"col\xffur"))
    with pytest.raises(DataError, match=r"t\.parquet: is not a Parquet file, or is incomplete"):
        data.load(path, labels=["y"])
