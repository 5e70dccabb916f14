"""Multi-label svmlight and JSON lines: rows that name their features and labels."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, make_multilabel_classification

from boostline import data
from boostline.data import DataError


def named(text: str, name: str) -> io.BytesIO:
    file = io.BytesIO(text.encode())
    file.name = name
    return file


# -- svmlight --------------------------------------------------------------------------------------

SVM = "2,5 1:0.5 3:1.25 # note\n# a comment\n\n5 2:-1\n 3:4\n7\n"


def test_svmlight_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text(SVM)
    loaded = data.load(path)
    assert loaded.features == ["1", "2", "3"] and loaded.labels == ["2", "5", "7"]
    assert scipy.sparse.issparse(loaded.X)
    assert loaded.X.toarray().tolist() == [[0.5, 0, 1.25], [0, -1, 0], [0, 0, 4], [0, 0, 0]]
    assert loaded.Y.astype(int).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_svmlight_labels_can_be_numbered_listed_or_named(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n0,2 2:1\n")
    assert data.load(path, labels=4).Y.astype(int).tolist() == [[0, 1, 0, 0], [1, 0, 1, 0]]
    listed = data.load(path, labels=[2, 1, 0])
    assert listed.Y.astype(int).tolist() == [[0, 1, 0], [1, 0, 1]] and listed.labels == [
        "2",
        "1",
        "0",
    ]
    assert data.load(path, labels=["a", "b", "c"]).labels == ["a", "b", "c"]
    assert data.load(path, features=5).n_features == 5


def test_svmlight_test_rows_may_bring_new_labels_and_features(tmp_path: Path) -> None:
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "b.svm").write_text("3 4:1\n")
    loaded = data.load(tmp_path / "a.svm", test=tmp_path / "b.svm")
    assert loaded.labels == ["1", "3"] and loaded.X.shape == (2, 4) and loaded.n_train == 1


def test_svmlight_with_the_first_line_of_the_extreme_repository(tmp_path: Path) -> None:
    text = "2 3 4\n0,3 0:1 2:2\n 1:5\n"
    (tmp_path / "x.svm").write_text(text)
    loaded = data.load(tmp_path / "x.svm")
    assert loaded.X.shape == (2, 3) and loaded.labels == ["0", "1", "2", "3"]
    blocks = data.stream(named(text, "x.svm"), block=1)
    assert blocks.features == ["0", "1", "2"] and blocks.labels == ["0", "1", "2", "3"]
    assert [X.toarray().tolist() for X, _ in blocks] == [[[1, 0, 2]], [[0, 5, 0]]]
    with pytest.raises(DataError, match=r"says that there are 2 rows, but there are 1"):
        data.load(named("2 3 4\n0 0:1\n", "x.svm"))


def test_svmlight_is_what_scikit_learn_writes(tmp_path: Path) -> None:
    X, Y = make_multilabel_classification(200, 15, n_classes=6, random_state=0)
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, Y, str(path), multilabel=True, zero_based=False)
    loaded = data.load(path, labels=6, features=15)
    np.testing.assert_allclose(loaded.X.toarray(), X)
    np.testing.assert_array_equal(loaded.Y, Y)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n1 1:x\n", r":2: is not of the form 'label,label index:value"),
        ("1 1:1\n1 1\n", r":2: is not of the form"),
        ("1 1:1\na 1:1\n", r":2: is not of the form"),
        ("1 1:1\n1 2:1 1:1\n", r":2: is not of the form .*sorted and unique"),
        ("1 1:1\n1 1:inf\n", r":2: is not of the form .*infinite"),
        ("1 1:1\n1 1:1e155\n", r":2: is not of the form .*a feature has the value 1e\+155"),
        (
            "1 1:1\n1 0:1\n",
            r":2: the row has the feature 0, but the first one is 1: pass zero_based=True",
        ),
        ("1 1:1\n1 9:1\n", r":2: the row has the feature 9, but the last one is 3"),
        ("1 1:1\n8 1:1\n", r":2: the row has the label 8, which is not one of the 3 labels"),
        ("1 1:1\n0.5 1:1\n", r":2: the row has the label 0.5, which is not one of"),
        ("1 1:1\n1,1 1:1\n", r":2: the row has a label twice"),
        ("1 1:1\ninf 1:1\n", r":2: the row has the label inf, which is not one of"),
        ("1 1:1\n1 1:1_0\n", r":2: is not of the form .*underscore"),
        ("1 1:1\n1_0 1:1\n", r":2: is not of the form .*underscore"),
        ("9" * 5000 + " 3 3\n1 1:1\n", r":1: is not of the form"),
    ],
)
def test_svmlight_damage_is_named_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=r"^x\.svm" + message):
        data.load(named(text, "x.svm"), labels=3, features=3)


@pytest.mark.parametrize("label", ["inf", "-inf", "nan", "1.5"])
def test_svmlight_labels_that_are_no_integers(label: str, tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_text(f"1 1:2\n{label} 1:2\n")
    with pytest.raises(DataError, match=rf"a\.svm:2: the label {label} is not an integer"):
        data.load(path)


@pytest.mark.parametrize(
    ("text", "told", "message"),
    [
        ("1 1:1\n1 2000000000:1\n", {}, r":2: the row has the feature 2000000000; more than"),
        (
            "1 2000000000 3\n1 1:1\n",
            {},
            r":1: the first line says that there are 2000000000 features",
        ),
        (
            "1 3 2000000000\n1 1:1\n",
            {},
            r":1: the first line says that there are 2000000000 labels",
        ),
        (
            "1 2000000000 3\n1 1:1\n",
            {"labels": 3},
            r":1: the first line says that there are 2000000000 feat",
        ),
    ],
)
def test_a_few_bytes_of_svmlight_do_not_take_all_memory(
    text: str, told: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.svm"
    path.write_text(text)
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, before[1]))  # for a reader without limits
    try:
        with pytest.raises(DataError, match=message):
            data.load(path, **told)
        with open(path, "rb") as file, pytest.raises(DataError):
            data.stream(file, format="svmlight", **told)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_more_svmlight_features_than_the_limit_can_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boostline.data.formats.svmlight.MAX_COLUMNS", 10)
    path = tmp_path / "a.svm"
    path.write_text("1 20:1\n")
    with pytest.raises(DataError, match="more than 10 are accepted only if features= gives"):
        data.load(path)
    assert data.load(path, features=20).X.shape == (1, 20)


def test_svmlight_streams_need_to_be_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not say how many labels there are: pass labels="):
        data.stream(named(SVM, "x.svm"))
    with pytest.raises(DataError, match="does not say how many features there are"):
        data.stream(named(SVM, "x.svm"), labels=3)
    with pytest.raises(TypeError, match="features is a list, but must be the number of features"):
        data.stream(named(SVM, "x.svm"), labels=3, features=["a"])
    with pytest.raises(TypeError, match="but must be a number or a list"):
        data.stream(named(SVM, "x.svm"), labels="abc", features=3)
    with pytest.raises(ValueError, match="labels is 0, but must be at least 1"):
        data.stream(named(SVM, "x.svm"), labels=0, features=3)
    with pytest.raises(ValueError, match="the same label twice"):
        data.stream(named(SVM, "x.svm"), labels=[1, 1], features=3)
    path = tmp_path / "a.svm"
    path.write_text("1 1:2\n1.5 1:2\n")
    with pytest.raises(DataError, match=r"a\.svm:2: the label 1.5 is not an integer"):
        data.load(path)
    path.write_text("1:2\n")
    with pytest.raises(DataError, match="no row has a label"):
        data.load(path)


@settings(deadline=None)  # shared machines are slow at times
@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_svmlight_round_trip(seed: int, block: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(6, 4)) * (random.random((6, 4)) < 0.6)
    X[:, 0] = 1.5  # a row with neither label nor feature would be a blank line
    Y = random.random((6, 3)) < 0.4
    file = io.BytesIO()
    dump_svmlight_file(X, Y.astype(int), file, multilabel=True, zero_based=True)
    file.seek(0)
    blocks = list(
        data.stream(file, format="svmlight", labels=3, features=4, zero_based=True, block=block)
    )
    np.testing.assert_allclose(np.vstack([b.X.toarray() for b in blocks]), X, rtol=1e-14)
    np.testing.assert_array_equal(np.vstack([b.Y for b in blocks]), Y)


def test_very_many_labels_stay_sparse() -> None:
    text = "5000 1:1\n3,4999 1:1\n\n 1:2\n"
    loaded = data.load(named(text, "x.svm"), labels=5001, features=1)
    assert scipy.sparse.issparse(loaded.Y) and loaded.Y.dtype == np.bool_
    assert loaded.Y.shape == (3, 5001) and loaded.Y.nnz == 3
    figures = loaded.describe()
    assert (figures.max_relevant, figures.empty_train, figures.label_sets) == (2, 1, 3)
    relevant = [np.flatnonzero(row).tolist() for _, row in loaded]
    assert relevant == [[5000], [3, 4999], []]


# -- JSON lines ------------------------------------------------------------------------------------

ROWS = [
    {"features": {"width": 2.5, "colour": "red"}, "labels": ["warm", "bright"]},
    {"features": {"width": None, "colour": "blue", "new": True}, "labels": [], "id": 7},
    {"features": {}, "labels": ["cold"]},
]
JSON = "\n".join(map(json.dumps, ROWS)) + "\n\n"


def test_json_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(JSON)
    loaded = data.load(path)
    assert loaded.features == ["width", "colour=red", "colour=blue", "new"]
    assert loaded.labels == ["bright", "cold", "warm"]
    nan = np.nan
    assert scipy.sparse.issparse(loaded.X)
    np.testing.assert_array_equal(
        loaded.X.toarray(), [[2.5, 1, 0, 0], [nan, 0, 1, 1], [0, 0, 0, 0]]
    )
    assert loaded.Y.astype(int).tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    dropped = data.load(path, drop=["colour"], labels=["cold", "warm", "bright", "never"])
    assert dropped.features == ["width", "new"] and dropped.labels[-1] == "never"


def test_json_rows_that_have_every_feature_are_dense() -> None:
    text = '{"features": [1, 2.5], "labels": [3]}\n{"features": [4, 5], "labels": []}\n'
    loaded = data.load(named(text, "x.jsonl"), labels=[3], features=["0", "1"])
    assert loaded.X.tolist() == [[1, 2.5], [4, 5]] and loaded.labels == ["3"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"features": {"a": 1}, "labels": ["y"', r"is not valid JSON: "),
        ("[1, 2]", r"the row is an array, but must be an object"),
        (
            '{"features": {"a": 1}, "label": []}',
            r"the row has no 'labels'; it has 'features', 'label'",
        ),
        (
            '{"features": 3, "labels": []}',
            r"'features' is a number, but must be an object or an array",
        ),
        (
            '{"features": {"a": [1]}, "labels": []}',
            r"the feature 'a' is an array, but must be a number",
        ),
        ('{"features": {"a": Infinity}, "labels": []}', r"the feature 'a' has an infinite value"),
        ('{"features": {"a": 1e155}, "labels": []}', r"the feature 'a' has the value 1e\+155"),
        (
            '{"features": {"b": 1}, "labels": []}',
            r"the row has the feature 'b', which is not one of the 1",
        ),
        ('{"features": {}, "labels": "y"}', r"'labels' is a text, but must be an array of the"),
        (
            '{"features": {}, "labels": ["z"]}',
            r"the row has the label 'z', which is not one of the 1",
        ),
        ('{"features": {}, "labels": [true]}', r"a label is true or false, but must be text"),
        ('{"features": {}, "labels": ["y", "y"]}', r"the row has label 'y' twice, but must have"),
        (
            '{"features": {}, "labels": {"y": "yes"}}',
            r"the row has the value 'yes' for label 'y', but",
        ),
        ('{"features": {"a": 1, "a": 2}, "labels": []}', r"the row has the key 'a' twice"),
        ('{"features": {}, "labels": [], "labels": ["y"]}', r"the row has the key 'labels' twice"),
        (
            '{"features": {"a=b": 1, "a": "b"}, "labels": []}',
            r"the row has the feature 'a=b' twice",
        ),
        ("[" * 100_000, r"recursion"),
        ('{"features": {"a": 1' + "0" * 400 + '}, "labels": []}', r"int too large"),
    ],
)
def test_json_damage_is_named_with_file_and_line(line: str, message: str) -> None:
    good = '{"features": {"a": 1}, "labels": ["y"]}\n'
    with pytest.raises(DataError, match=r"^x\.jsonl:3: .*" + message):
        data.load(named(good * 2 + line, "x.jsonl"), labels=["y"], features=["a"])


def test_json_streams_need_to_be_told() -> None:
    with pytest.raises(DataError, match="does not say which labels there are: pass labels="):
        data.stream(named(JSON, "x.jsonl"))
    with pytest.raises(TypeError, match="features is 3, but must be a list"):
        data.stream(named(JSON, "x.jsonl"), labels=["a"], features=3)
    with pytest.raises(ValueError, match="labels has the same name twice"):
        data.stream(named(JSON, "x.jsonl"), labels=["a", "a"], features=["b"])


names = st.text(min_size=1)


@pytest.mark.gate
@settings(deadline=None)  # shared machines are slow at times
@given(
    st.lists(
        st.tuples(
            st.dictionaries(names, st.none() | st.booleans() | st.floats(-1e100, 1e100)),
            st.sets(names),
        ),
        max_size=5,
    )
)
def test_json_round_trip(rows: list[tuple[dict[str, float | None], set[str]]]) -> None:
    features = sorted({name for row, _ in rows for name in row})
    labels = sorted({label for _, row in rows for label in row}) or ["y"]
    lines = [json.dumps({"features": row, "labels": sorted(on)}) for row, on in rows]
    loaded = data.load(named("\n".join(lines), "x.jsonl"), labels=labels, features=features)
    expected = np.zeros((len(rows), len(features)))
    Y = np.zeros((len(rows), len(labels)), dtype=bool)
    for index, (row, on) in enumerate(rows):
        for name, value in row.items():
            expected[index, features.index(name)] = np.nan if value is None else value
        Y[index, [labels.index(label) for label in on]] = True
    X = loaded.X.toarray() if scipy.sparse.issparse(loaded.X) else loaded.X
    np.testing.assert_array_equal(X, expected)
    np.testing.assert_array_equal(loaded.Y, Y)
