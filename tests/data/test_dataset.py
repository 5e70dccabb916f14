"""Dataset: views, shuffles, figures; and what the package needs to be imported."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse

from boostline.data import DataError, Dataset


def make(n: int = 10, n_train: int = 6, sparse: bool = False) -> Dataset:
    X = np.arange(n * 3, dtype=float).reshape(n, 3)
    Y = np.arange(n)[:, None] % np.array([2, 3]) == 0
    return Dataset(
        scipy.sparse.csr_matrix(X) if sparse else X, Y, n_train, labels=["a", "b"], name="t"
    )


def test_parts_are_views() -> None:
    data = make()
    assert len(data.train) == 6 and len(data.test) == 4
    assert data.train.n_train == 6 and data.test.n_train == 0
    assert np.shares_memory(data.test.X, data.X)
    np.testing.assert_array_equal(data.test.X, data.X[6:])
    np.testing.assert_array_equal(data.train.Y, data.Y[:6])
    assert data.test.labels == ["a", "b"] and data.features == ["0", "1", "2"]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_and_blocks(sparse: bool) -> None:
    data = make(sparse=sparse)
    rows = list(data)
    assert len(rows) == 10
    for index, (x, relevant) in enumerate(rows):
        assert relevant.dtype == np.bool_ and relevant.shape == (2,)
        assert scipy.sparse.issparse(x) == sparse and x.shape == ((1, 3) if sparse else (3,))
        values = x.toarray()[0] if sparse else x
        np.testing.assert_array_equal(values, [3 * index, 3 * index + 1, 3 * index + 2])
    assert [block.X.shape[0] for block in data.blocks(4)] == [4, 2, 4]  # none spans the split
    with pytest.raises(ValueError, match="size is 0"):
        next(data.blocks(0))


def test_shuffles_stay_within_train_and_within_test() -> None:
    data = make(1000, 600)
    mixed, again, other = data.shuffled(3), data.shuffled(3), data.shuffled(4)
    np.testing.assert_array_equal(mixed.X, again.X)
    assert not np.array_equal(mixed.X, other.X) and not np.array_equal(mixed.X, data.X)
    number = (mixed.X[:, 0] / 3).astype(int)  # the row's place before
    assert sorted(number[:600]) == list(range(600)) and sorted(number[600:]) == list(
        range(600, 1000)
    )
    np.testing.assert_array_equal(mixed.Y, data.Y[number])
    assert mixed.n_train == 600
    # Both parts are shuffled evenly: a uniform permutation keeps the mean place near the middle.
    assert abs(number[:300].mean() - 299.5) < 40 and abs(number[600:800].mean() - 799.5) < 40


def test_figures() -> None:
    Y = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]])
    data = Dataset(np.array([[0.0, np.nan], [1, 2], [0, 0], [0, 3]]), Y, 2, name="t")
    figures = data.describe()
    assert figures.as_dict() == {
        "name": "t",
        "n_train": 2,
        "n_test": 2,
        "n_features": 2,
        "n_labels": 3,
        "min_relevant": 0,
        "mean_relevant": 7 / 4,
        "max_relevant": 3,
        "empty_train": 1,
        "empty_test": 0,
        "full_rows": 1,
        "label_sets": 3,
        "density": 4 / 8,
        "missing": 1,
    }
    assert "0 / 1.7500 / 3" in str(figures) and "rows without a label, train / test  1 / 0" in str(
        figures
    )
    sparse = Dataset(scipy.sparse.csr_matrix(data.X), scipy.sparse.csr_matrix(Y), 2, name="t")
    assert sparse.describe() == figures


def test_repr_copy_and_pickle() -> None:
    data = make()
    assert repr(data) == "Dataset('t', 6 train + 4 test rows, 3 features (dense), 2 labels)"
    for twin in (copy.deepcopy(data), pickle.loads(pickle.dumps(data))):
        np.testing.assert_array_equal(twin.X, data.X)
        assert twin.labels == data.labels and twin.n_train == 6
    error = pickle.loads(pickle.dumps(DataError("bad", path="a", line=3)))
    assert (str(error), error.path, error.line) == ("a:3: bad", "a", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(3), np.ones((3, 1))), "X has 1 dimensions, but must have 2"),
        ((np.ones((3, 1)), np.ones((2, 1))), "X has 3 rows, but Y has 2"),
        (
            (np.ones((3, 1)), np.full((3, 1), 2)),
            "Y has the value 2, but an indicator must have 0 and 1, or NaN for unknown",
        ),
        ((np.ones((3, 1)), np.ones((3, 1)), 4), "n_train is 4, but there are 3 rows"),
        ((np.ones((3, 1)), np.ones((3, 1)), 3, ["a", "b"]), "labels has 2 names, but there are 1"),
        ((np.ones((3, 1)), np.ones((3, 1)), 3, ["a"], ["f", "g"]), "features has 2 names"),
    ],
)
def test_bad_arguments_are_named(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dataset(*arguments)


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.process
@pytest.mark.process
def test_importing_data_imports_nothing_heavy() -> None:
    loaded = run("""
        import sys, boostline.data
        heavy = {"scipy", "sklearn", "pandas", "pyarrow", "river", "rich", "matplotlib", "pooch", "requests"}
        print(sorted(heavy & set(sys.modules)))
    """)
    assert loaded == "[]"


@pytest.mark.process
def test_text_formats_need_numpy_alone() -> None:
    """Sparse rows are dense then, if they are small."""
    assert run("""
        import io, sys
        for name in ("scipy", "sklearn", "pandas", "pyarrow", "river"):
            sys.modules[name] = None
        from boostline import data
        head = b"@relation r\\n@attribute x real\\n@attribute y {0,1}\\n@data\\n"
        for format, text, labels, features in [
            ("arff", head + b"1,0\\n", ["y"], None),
            ("arff", head + b"{0 1}\\n", ["y"], None),
            ("csv", b"x,y\\n1,0\\n", ["y"], None),
            ("jsonl", b'{"features": {"x": 1}, "labels": ["y"]}', ["y"], ["x", "z"]),
            ("svmlight", b"0 1:1\\n", 1, 2),
        ]:
            told = {} if features is None else {"features": features}
            print(data.load(io.BytesIO(text), format=format, labels=labels, **told).X.tolist())
    """).split("\n") == ["[[1.0]]", "[[1.0]]", "[[1.0]]", "[[1.0, 0.0]]", "[[1.0, 0.0]]"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("kind", "package", "text", "told"),
    [
        ("parquet", "pyarrow", "PAR1", {"labels": ["y"]}),
        ("svmlight", "scipy", "0 1:1\n" * 300, {"labels": 1, "features": 2**16}),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    kind: str, package: str, text: str, told: dict[str, object]
) -> None:
    message = run(f"""
        import io, sys
        sys.modules[{package!r}] = None
        from boostline import data
        try:
            data.load(io.BytesIO({text.encode()!r}), format={kind!r}, **{told!r})
        except ImportError as error:
            print(error)
    """)
    assert f"needs {package}, which is not installed: pip install boostline[data]" in message
