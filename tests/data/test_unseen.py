"""Rows to rank: without labels, and with words and categories that nobody has seen before."""

import io

import numpy as np
import pytest

from boostline.data import DataError, Unseen, stream

NAN = float("nan")


def read(text, format, **options):
    blocks = list(stream(io.BytesIO(text), format=format, labels=(), block=2, **options))
    assert all(Y.shape == (X.shape[0], 0) for X, Y in blocks)
    return np.vstack([X.toarray() if hasattr(X, "toarray") else X for X, _ in blocks])


@pytest.mark.parametrize("format", ["csv", "parquet", "arff"])
def test_a_new_category_is_a_missing_value(format, tmp_path):
    colours = ["red", "purple", "blue", "", "purple"]
    if format == "csv":
        text = ("size,colour\n" + "".join(f"{i},{c}\n" for i, c in enumerate(colours))).encode()
    elif format == "arff":
        head = "@relation r\n@attribute size real\n@attribute colour {blue,purple,red}\n@data\n"
        text = (head + "".join(f"{i},{c or '?'}\n" for i, c in enumerate(colours))).encode()
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        file = io.BytesIO()
        columns = {"size": list(range(5)), "colour": [c or None for c in colours]}
        parquet.write_table(pa.table(columns), file)
        text = file.getvalue()
    known = {"colour": ["red", "blue"]}
    unseen = Unseen()
    X = read(text, format, categories=known, unseen=unseen)
    expected = [[0, 1, 0], [1, NAN, NAN], [2, 0, 1], [3, NAN, NAN], [4, NAN, NAN]]
    np.testing.assert_array_equal(X, expected)
    assert (unseen.total, str(unseen)) == (2, "colour=purple (2 times)")
    with pytest.raises(DataError, match="'purple', which is not one of its categories"):
        read(text, format, categories=known)


def test_json_lines_without_labels_and_with_new_words():
    text = b"""{"features": {"wet": 1, "colour": "red"}}
        {"features": {"wet": 2, "colour": "purple", "dry": 3}, "labels": ["new", "new"]}
        {"features": {"colour": null}}
        {"features": {"colour": 7, "colour=green": 1}}"""
    features = ["colour=red", "wet", "colour=blue"]
    unseen = Unseen()
    X = read(text, "jsonl", features=features, unseen=unseen)
    np.testing.assert_array_equal(X, [[1, 1, 0], [NAN, 2, NAN], [NAN, 0, NAN], [NAN, 0, NAN]])
    assert unseen.names == {"colour=purple": 1, "dry": 1, "colour": 1, "colour=green": 1}
    with pytest.raises(DataError, match="the feature 'colour=purple', which is not one of"):
        read(text, "jsonl", features=features)


def test_a_new_key_takes_nothing_from_its_neighbours():
    """Words may be keys of their own, 'word=hello': 1; only a text is one of several values."""
    text = b'{"features": {"word=hello": 1, "word=new": 1}}'
    X = read(text, "jsonl", features=["word=hello", "word=world"], unseen=Unseen())
    assert X.tolist() == [[1, 0]]


def test_json_lines_without_labels_say_which_features_there_are(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"features": {"a": 1, "b": "x"}}\n')
    assert stream(path, labels=()).features == ["a", "b=x"]
    with pytest.raises(DataError, match="the row has no 'labels'"):
        stream(path)


def test_svmlight_without_labels_and_with_new_features():
    text = b"1:1 3:4\n5,7 2:2 9:1\n0 9:1 10:1\n"
    unseen = Unseen()
    X = read(text, "svmlight", features=3, unseen=unseen)
    assert X.tolist() == [[1, 0, 4], [0, 2, 0], [0, 0, 0]]
    assert unseen.names == {"9": 2, "10": 1}
    with pytest.raises(DataError, match="the row has the feature 9, but the last one is 3"):
        read(text, "svmlight", features=3)


def test_a_stream_of_new_words_takes_no_memory():
    unseen = Unseen()
    for i in range(3000):
        unseen.add(f"w{i}")
    assert (unseen.total, len(unseen.names)) == (3000, 1000)
    assert str(unseen).endswith("and at least 995 more")
