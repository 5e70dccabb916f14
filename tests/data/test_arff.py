"""ARFF and MULAN xml: everything the format allows, and clear words for what is damaged."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from boostline import data
from boostline.data import DataError
from boostline.data.formats.arff import ArffReader

HEADER = """% a comment
@RELATION 'a set'

@Attribute 'the width' Real
@attribute colour {red, 'dark green', blue}
@attribute flag {0,1}
@attribute\tbad {1, 0}
@attribute good {0,1}
@DATA
"""


def read(text: str, labels: list[str], **options: object) -> data.Dataset:
    return data.load(io.BytesIO(text.encode()), format="arff", labels=labels, **options)


def test_quotes_case_comments_nominals_and_missing_values() -> None:
    rows = "1.5,red,1,0,1\n% note\n\n ?, 'dark green' ,0 , 1,0 % behind\n-2e3,?,?,'0',0\n"
    loaded = read(HEADER + rows, ["good", "bad"])
    assert loaded.features == [
        "the width",
        "colour=red",
        "colour=dark green",
        "colour=blue",
        "flag",
    ]
    assert loaded.labels == ["bad", "good"]  # the order of the file's columns
    nan = np.nan
    expected = [[1.5, 1, 0, 0, 1], [nan, 0, 1, 0, 0], [-2000, nan, nan, nan, nan]]
    np.testing.assert_array_equal(loaded.X, expected)
    assert loaded.Y.tolist() == [[False, True], [True, False], [False, False]]
    assert loaded.describe().missing == 5


def test_sparse_rows_take_the_first_value_for_what_they_leave_out() -> None:
    # Weka: an absent nominal value is the first of its domain; an absent number is 0.
    text = HEADER.replace("{1, 0}", "{0, 1}") + "{0 2.5, 1 'dark green',4 1}\n{}\n{2 1, 1 ?}\n"
    loaded = read(text, ["good", "bad"])
    assert scipy.sparse.issparse(loaded.X) and loaded.X.format == "csr"
    nan = np.nan
    expected = [[2.5, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, nan, nan, nan, 1]]
    np.testing.assert_array_equal(loaded.X.toarray(), expected)
    assert loaded.Y.tolist() == [[False, True], [False, False], [False, False]]


def test_dense_and_sparse_rows_may_be_mixed() -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute y {0,1}\n@data\n"
    first_dense = read(head + "1,2,1\n{1 5}\n", ["y"])
    first_sparse = read(head + "{1 5}\n1,2,1\n", ["y"])
    assert first_dense.X.tolist() == [[1, 2], [0, 5]]
    assert first_sparse.X.toarray().tolist() == [[0, 5], [1, 2]]
    assert first_sparse.Y.tolist() == [[False], [True]]


def test_a_binary_feature_is_never_taken_for_a_label() -> None:
    text = "@relation r\n@attribute a {0,1}\n@attribute y {0,1}\n@attribute b {0,1}\n@data\n1,0,1\n"
    loaded = read(text, ["y"])
    assert loaded.features == ["a", "b"] and loaded.labels == ["y"]
    assert loaded.X.tolist() == [[1, 1]] and loaded.Y.tolist() == [[False]]


def test_attributes_can_be_dropped() -> None:
    text = "@relation r\n@attribute id string\n@attribute a real\n@attribute y {0,1}\n@data\n"
    text += "'x, y',2,1\n"
    assert read(text, ["y"], drop=["id"]).X.tolist() == [[2]]
    with pytest.raises(DataError, match=r":2: the attribute 'id' is of type string.*drop=\['id'\]"):
        read(text, ["y"])


def test_a_file_without_rows_is_an_empty_set() -> None:
    loaded = read(HEADER, ["good"])
    assert len(loaded) == 0 and loaded.n_features == 6 and loaded.describe().mean_relevant == 0.0


def test_latin_1_names_need_to_be_said() -> None:
    text = "@relation r\n@attribute größe real\n@attribute y {0,1}\n@data\n2,1\n".encode("latin-1")
    with pytest.raises(DataError, match=r":2: is not utf-8.*encoding='latin-1'"):
        data.load(io.BytesIO(text), format="arff", labels=["y"])
    loaded = data.load(io.BytesIO(text), format="arff", labels=["y"], encoding="latin-1")
    assert loaded.features == ["größe"]
    text = "@relation r\n@attribute a {ü}\n@attribute y {0,1}\n@data\nü,1\n".encode()
    text += "ü,1\n".encode("latin-1")
    with pytest.raises(DataError, match=":6: is not utf-8"):
        data.load(io.BytesIO(text), format="arff", labels=["y"])


PLAIN = "@relation r\n@attribute a real\n@attribute b {0,1}\n@attribute y {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLAIN + "1,1,1\n1,1\n", r":7: the row has 2 values, but the header names 3 attributes"),
        (PLAIN + "1,1,1\n% c\n1,1,1,1\n", r":8: the row has 4 values, but the header names 3"),
        (PLAIN + "1,1,1\nx,1,1\n", r":7: the column 'a' is numeric, but has the value 'x'"),
        (PLAIN + "1_0,1,1\n", r":6: the column 'a' is numeric, but has the value '1_0'"),
        (PLAIN + ",1,1\n", r":6: the column 'a' is numeric, but has the value ''"),
        (
            PLAIN + "1e999,1,1\n",
            r":6: the column 'a' has an infinite value, but must have numbers from",
        ),
        (
            PLAIN + "1e155,1,1\n",
            r":6: the column 'a' has the value 1e\+155, but must have numbers",
        ),
        (PLAIN + "-?,1,1\n", r":6: the column 'a' is numeric, but has the value '-\?'"),
        (PLAIN + "1\x85,1,1\n", r":6: the column 'a' is numeric, but has the value '1\\x85'"),
        (PLAIN + "\uff11,1,1\n", r":6: the column 'a' is numeric, but has the value '\uff11'"),
        (PLAIN + "1,2,1\n", r":6: the column 'b' has the value '2', but its domain is \{0, 1\}"),
        (PLAIN + "1,1,2\n", r":6: the column 'y' has the value '2', but its domain is"),
        (
            PLAIN.replace("{0,1}", "{red,green}", 1) + "1,green,1\n1,blue,0\n",
            r":7: the column 'b' has the value 'blue', but its domain is \{red, green\}",
        ),
        (
            PLAIN.replace("{0,1}", "{0,1,2}", 1) + "{1 3}\n",
            r":6: the column 'b' has the value '3', but its domain is \{0, 1, 2\}",
        ),
        (PLAIN + "1,yes,1\n", r":6: the column 'b' has the value 'yes', but its domain is"),
        (PLAIN + "1,1\n1,1\n", r":6: the row has 2 values, but the header names 3"),
        (PLAIN.replace("y {0,1}", "y string"), r":4: the label 'y' is of type string"),
        (PLAIN + "1,1,'1\n", r":6: has a quote at column 5 that is never closed"),
        (PLAIN + "1,1,'1'x\n", r":6: has 'x' directly after a closing quote"),
        (PLAIN + "{0 1,2 1\n", r":6: the sparse row does not end with \}"),
        (PLAIN + "{0 1,7 1}\n", r":6: the sparse row has the index 7, but the header names 3"),
        (PLAIN + "{0 1,0 2}\n", r":6: the sparse row has the index 0 twice"),
        (PLAIN + "{0 1 2,1 1}\n", r":6: the column 'a' is numeric, but has the value '1 2'"),
        (PLAIN + "{0 1,1}\n", r":6: the sparse row has '1', but must have 'index value'"),
        (PLAIN + "{-1 1}\n", r":6: the sparse row has '-1 1'"),
        (PLAIN + "{1e0 1}\n", r":6: the sparse row has '1e0 1', but must have 'index value'"),
        (PLAIN + "{+1 1}\n", r":6: the sparse row has '\+1 1', but must have 'index value'"),
        (PLAIN + "{0 -?}\n", r":6: the column 'a' is numeric, but has the value '-\?'"),
        (PLAIN + "{0 '1'x}\n", r":6: the sparse row has 'x', but must have 'index value'"),
        (PLAIN + "{0 '1}\n", r":6: has a quote at column 4 that is never closed"),
        (PLAIN + "{0 1} x\n", r":6: the sparse row does not end with \}"),
        (PLAIN + "{0 1,,2 1}\n", r":6: the sparse row has ',2 1'"),
        (PLAIN + "{1 2}\n", r":6: the column 'b' has the value '2'"),
        ("@relation r\n@attribute a real\n", r":2: ends before @data: the file is incomplete"),
        ("", r"ends before @data"),
        ("@relation r\n@data\n1\n", r":2: @data comes before any @attribute"),
        ("hello\n", r":1: has 'hello' in the header"),
        ("@relation r\n@attribute a\n", r":2: has an @attribute without a name or without a type"),
        ("@relation r\n@attribute a {x,y\n", r":2: does not close the \{ of the attribute 'a'"),
        (
            "@relation r\n@attribute a {}\n@attribute y {0,1}\n@data\n?,1\n",
            r":2: the attribute 'a' has the domain \{\}, but must have a value: pass drop=\['a'\]",
        ),
        ("@relation r\n@attribute y {}\n@data\n", r":2: the attribute 'y' has the domain \{\}"),
        ("@relation r\n@attribute a {x,?}\n", r":2: lists \? as a value of the attribute 'a'"),
        (
            "@relation r\n@attribute a {x,x}\n",
            r":2: lists the value 'x' of the attribute 'a' twice",
        ),
        (
            "@relation r\n@attribute a real\n@attribute a real\n",
            r":3: names the attribute 'a' a second",
        ),
        ("@relation r\n@attribute 'a real\n", r":2: has a quote at column 1 that is never closed"),
        (
            "@relation r\n@attribute a real\n@data\n1\n",
            r"has no column 'y', which is named as a label",
        ),
        (
            "@relation r\n@attribute y {a,b}\n@data\na\n",
            r":2: the label 'y' is nominal \{a, b\}; a label is \{0,1\}",
        ),
        (
            "@relation r\n@attribute y real\n@data\n0.5\n",
            r":4: the label 'y' has '0.5', but must have 0 or 1",
        ),
        (
            "@relation r\n@attribute y {1,0}\n@data\n1\n{}\n",
            r":2: the label 'y' is declared as \{1,0\}.*declare it as \{0,1\}",
        ),
        (
            "@relation r\n@attribute y {1,0}\n@data\n{}\n",
            r":2: the label 'y' is declared as \{1,0\}.*declare it as \{0,1\}",
        ),
    ],
)
def test_damage_is_named_with_file_and_line(text: str, message: str) -> None:
    file = io.BytesIO(text.encode())
    file.name = "bad.arff"
    with pytest.raises(DataError, match=r"^bad\.arff.*" + message) as caught:
        data.load(file, labels=["y"])
    assert caught.value.path == "bad.arff"


def test_a_byte_that_is_no_text_is_refused_among_numbers() -> None:
    with pytest.raises(DataError, match=r":6: is not utf-8"):
        data.load(io.BytesIO(PLAIN.encode() + b"1\x85,1,1\n"), format="arff", labels=["y"])


def test_an_attribute_with_an_empty_domain_can_be_dropped() -> None:
    text = (
        "@relation r\n@attribute a {}\n@attribute b real\n@attribute y {0,1}\n@data\n?,2,1\n{1 3}"
    )
    assert read(text, ["y"], drop=["a"]).X.tolist() == [[2], [3]]


LONG = {
    "domain": "@attribute a {" + ",".join(f"v{i}" for i in range(10_000)) + "}\n@data\nv7,1\n",
    "blanks in a sparse row": "@attribute a real\n@data\n{0 5" + " " * 100_000 + ",1 1}\n",
    "blanks before damage": "@attribute a real\n@data\n{0 5" + " " * 100_000 + "x,1 1}\n",
    "open quote": "@attribute a real\n@data\n'" + "\\'" * 100_000 + "\n",
}


@pytest.mark.parametrize("what", LONG)
def test_long_lines_take_linear_time(what: str) -> None:
    """A quadratic reader takes 20 to 40 seconds."""
    text = LONG[what].replace("@data", "@attribute y {0,1}\n@data")
    start = time.process_time()
    try:
        assert read(text, ["y"]).Y.tolist() == [[True]]
    except DataError as error:
        assert len(str(error)) < 1200
    assert time.process_time() - start < 2.0


def test_the_line_is_right_far_into_the_file() -> None:
    text = PLAIN + "1,1,1\n" * 9000 + "1,1\n"
    with pytest.raises(DataError, match=r":9006: the row has 2 values"):
        data.load(io.BytesIO(text.encode()), format="arff", labels=["y"])


def test_a_gzip_file_that_is_cut_off_or_damaged(tmp_path: Path) -> None:
    rows = "".join(f"{value},1,1\n" for value in np.random.default_rng(0).random(20_000))
    packed = gzip.compress((PLAIN + rows).encode())
    for name, content in (
        ("cut", packed[:-1000]),
        ("bad", packed[:5000] + b"xxxx" + packed[5004:]),
    ):
        path = tmp_path / f"{name}.arff.gz"
        path.write_bytes(content)
        with pytest.raises(
            DataError, match=r"arff\.gz.*(gzip data are damaged|the row has|numeric)"
        ):
            data.load(path, labels=["y"])


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from boostline.data import source

    monkeypatch.setattr(source, "MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match=":6: the line is longer than 1000 bytes"):
        read(PLAIN + "1" * 5000, ["y"])


def test_train_and_test_need_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text(PLAIN + "1,1,1\n")
    (tmp_path / "b.arff").write_text(PLAIN.replace(" b ", " c ") + "1,1,1\n")
    with pytest.raises(DataError, match=r"b\.arff: feature 1 is 'c', but 'b' in .*a\.arff"):
        data.load(tmp_path / "a.arff", test=tmp_path / "b.arff", labels=["y"])


def test_bad_arguments_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    path.write_text(PLAIN + "1,1,1\n")
    with pytest.raises(TypeError, match="labels is 1, but an arff file needs the names"):
        data.load(path, labels=1)
    with pytest.raises(ValueError, match="labels is 'y': give a list of names, or an xml"):
        data.load(path, labels="y")
    with pytest.raises(ValueError, match="delimiter is not an option of the format arff"):
        data.load(path, labels=["y"], delimiter=";")
    for encoding in ("klingon", "hex", "utf-16"):
        with pytest.raises(
            ValueError, match=f"encoding is '{encoding}', but must be a known encoding"
        ):
            data.load(path, labels=["y"], encoding=encoding)
    with pytest.raises(ValueError, match="the label 'y' is also named in drop or categories"):
        data.load(path, labels=["y"], drop=["y"])
    with pytest.raises(ValueError, match="n_train is 2, but there are 1 rows"):
        data.load(path, labels=["y"], n_train=2)
    with pytest.raises(ValueError, match="n_train and test are both given"):
        data.load(path, test=path, labels=["y"], n_train=1)
    with pytest.raises(ValueError, match="format is 'xls', but must be one of arff, svmlight"):
        data.load(path, format="xls")
    with pytest.raises(DataError, match="cannot be opened: No such file"):
        data.load(tmp_path / "none.arff", labels=["y"])
    with pytest.raises(ValueError, match="pass format= one of arff"):
        data.load(tmp_path / "a.txt", labels=["y"])
    with pytest.raises(TypeError, match="open it in binary mode"):
        data.load(io.StringIO(""), format="arff", labels=["y"])


# -- round trips -----------------------------------------------------------------------------------

finite = st.floats(-1e100, 1e100) | st.just(np.nan)
word = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\x85"),
    min_size=1,
)


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Names, category values, numbers, category codes (-1 missing) and indicators."""
    n_numbers, n_labels = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    names = draw(
        st.lists(
            word, min_size=n_numbers + 1 + n_labels, max_size=n_numbers + 1 + n_labels, unique=True
        )
    )
    values = draw(st.lists(word, min_size=1, max_size=4, unique=True))
    n = draw(st.integers(0, 5))
    row = st.lists(finite, min_size=n_numbers, max_size=n_numbers)
    numbers = np.array(draw(st.lists(row, min_size=n, max_size=n))).reshape(n, n_numbers)
    codes = np.array(
        draw(st.lists(st.integers(-1, len(values) - 1), min_size=n, max_size=n)), dtype=int
    )
    bits = st.lists(st.booleans(), min_size=n_labels, max_size=n_labels)
    Y = np.array(draw(st.lists(bits, min_size=n, max_size=n)), dtype=bool).reshape(n, n_labels)
    return names, values, numbers, codes, Y


@settings(deadline=None)  # shared machines are slow at times
@given(tables(), st.booleans())
def test_what_is_written_is_read(
    table: tuple[list[str], list[str], np.ndarray, np.ndarray, np.ndarray], sparse: bool
) -> None:
    names, values, numbers, codes, Y = table
    d, k = numbers.shape[1], Y.shape[1]
    # A domain that is {0} or {1} stays one 0/1 column; keep this test to one-hot columns.
    values = [value + "_" for value in values]
    domain = "{" + ",".join(map(quote, values)) + "}"
    types = ["numeric"] * d + [domain] + ["{0,1}"] * k
    lines = ["@relation r"]
    lines += [f"@attribute {quote(name)} {kind}" for name, kind in zip(names, types, strict=True)]
    lines.append("@data")
    for row in range(len(Y)):
        cells = ["?" if np.isnan(value) else repr(float(value)) for value in numbers[row]]
        cells.append("?" if codes[row] < 0 else quote(values[codes[row]]))
        cells += ["1" if bit else "0" for bit in Y[row]]
        if sparse:
            lines.append("{" + ", ".join(f"{i} {cell}" for i, cell in enumerate(cells)) + "}")
        else:
            lines.append(",".join(cells))
    text = "\n".join(lines).encode()
    reader = ArffReader(io.BytesIO(text), "r.arff", names[d + 1 :])
    blocks = list(reader.blocks(2))
    one_hot = np.eye(len(values))[codes]
    one_hot[codes < 0] = np.nan
    expected = np.hstack([numbers, one_hot])
    assert reader.labels == names[d + 1 :]
    assert reader.features[:d] == names[:d]
    read_X = [block.X.toarray() if sparse else block.X for block in blocks]
    np.testing.assert_array_equal(np.vstack([np.empty((0, expected.shape[1])), *read_X]), expected)
    np.testing.assert_array_equal(np.vstack([np.empty((0, k), bool), *(b.Y for b in blocks)]), Y)


@settings(deadline=None)  # shared machines are slow at times
@given(st.lists(st.lists(st.sampled_from(["0", "1", "?", "0.5", "-3e-2"]), min_size=3, max_size=3)))
def test_both_ways_through_a_block_agree(rows: list[list[str]]) -> None:
    head = "@relation r\n" + "".join(f"@attribute a{i} real\n" for i in range(3))
    head += "@attribute y {0,1}\n@data\n"
    dense = "".join(",".join(row) + ",1\n" for row in rows)
    sparse = "".join(
        "{" + ",".join(f"{i} {cell}" for i, cell in enumerate(row) if cell != "0") + "}\n"
        for row in rows
    )
    quick = read(head + dense, ["y"])
    # A comment behind the last row sends the whole block token by token.
    slow = read(head + dense.rstrip("\n") + " % note\n", ["y"])
    np.testing.assert_array_equal(quick.X, slow.X)
    quick_sparse = read(head + sparse, ["y"]).X
    slow_sparse = read(head + sparse.rstrip("\n") + " % note\n", ["y"]).X
    for loaded in (quick_sparse, slow_sparse):
        array = loaded.toarray() if scipy.sparse.issparse(loaded) else loaded
        np.testing.assert_array_equal(array, quick.X)


PIECES = ["0", "1", "+", "-", ".", "e", "?", "nan", "_", "'", "\x85", "\t", "1e5", "\uff11"]


@pytest.mark.gate
@settings(deadline=None, max_examples=1000)
@given(
    st.lists(st.sampled_from(PIECES), max_size=3),
    st.sampled_from(["{cell},1", "1,{cell}", "{{0 {cell}}}", "{{{cell} 1}}", "{{1 {cell}}}"]),
)
def test_both_ways_through_a_block_refuse_the_same(pieces: list[str], row: str) -> None:
    """A dropped attribute of text keeps a file off the quick way, and must change nothing else."""
    cell = "".join(pieces)
    head = "@relation r\n@attribute a real\n@attribute y {0,1}\n"

    def outcome(text: str, **options: object) -> object:
        try:
            loaded = read(text, ["y"], **options)
        except DataError as error:
            return error.message.rpartition("names")[0] or error.message
        X = loaded.X.toarray() if scipy.sparse.issparse(loaded.X) else loaded.X
        return repr((X.tolist(), loaded.Y.tolist()))

    line = row.format(cell=cell)
    other = line if line.startswith("{") else line + ",text"
    quick = outcome(f"{head}@data\n{line}\n")
    slow = outcome(f"{head}@attribute t string\n@data\n{other}\n", drop=["t"])
    assert quick == slow


def test_an_attribute_whose_type_is_another_kind_of_blank_is_refused(tmp_path):
    path = tmp_path / "d.arff"
    path.write_text("@relation r\n@attribute a \x1f\n@attribute b numeric\n@data\n1,2\n")
    with pytest.raises(DataError, match="without a name or without a type"):
        data.load(path, labels=["b"])
