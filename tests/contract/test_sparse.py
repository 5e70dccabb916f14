"""Sparse matrices whose arrays do not fit together are refused: before, they were read and written out of bounds."""

import numpy as np
import pytest
from scipy import sparse

import boostline as bl

D, K = 6, 5


def edited(change, kind=sparse.csr_matrix, shape=(3, D)):
    """A good matrix in which something is changed behind SciPy's back."""
    matrix = kind(np.arange(float(np.prod(shape))).reshape(shape) % 4 % 2)
    change(matrix)
    return matrix


def set_item(name, place, value):
    return lambda matrix: getattr(matrix, name).__setitem__(place, value)


def set_array(name, value):
    return lambda matrix: setattr(matrix, name, np.array(value))


BAD = {
    "column too large": (set_item("indices", 0, 10**6), r"\.indices has the column 1000000 in row 0"),
    "column negative": (set_item("indices", -1, -(2**30)), r"\.indices has the column -1073741824"),
    "indptr too large": (set_item("indptr", 1, 10**6), r"\.indptr goes from 0 to 1000000 at row 0"),
    "indptr descends": (set_item("indptr", 1, -4), r"\.indptr goes from 0 to -4 at row 0"),
    "indptr starts late": (set_item("indptr", 0, 2), r"\.indptr begins with 2, but must begin with 0"),
    "indptr short": (set_array("indptr", [0, 3]), r"\.indptr has length 2, but must have 4"),
    "data short": (set_array("data", [1.0]), r"\.indices has length 9, but must be as long as"),
}  # fmt: skip


@pytest.fixture(scope="module")
def model():
    model = bl.AdaOLMR(K, learners=[bl.learners.Linear(), bl.learners.HoeffdingTree()], seed=1)
    model.learn(np.eye(D), [{i % K} for i in range(D)])
    return model


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_refused_by_every_call(model, name):
    change, message = BAD[name]
    x = edited(change)
    before = {key: array.copy() for key, array in model.state()["arrays"].items()}
    with pytest.raises(ValueError, match="x" + message):
        model.learn(x, [{0}, {1}, {2}])
    with pytest.raises(ValueError, match="x" + message):
        model.score(x)
    with pytest.raises(ValueError, match="x" + message):
        model.votes(x)
    for key, array in model.state()["arrays"].items():
        np.testing.assert_array_equal(array, before[key], err_msg=key)


@pytest.mark.parametrize("name", [name for name in BAD if name != "data short"])
def test_bad_label_sets_are_refused(model, name):
    change, message = BAD[name]
    with pytest.raises(ValueError, match="relevant" + message):
        model.learn(np.zeros((3, D)), edited(change, shape=(3, K)))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (sparse.csc_matrix, set_item("indices", 0, 10**6)),
        (sparse.csc_matrix, set_item("indptr", 1, 10**6)),
        (sparse.bsr_matrix, set_item("indices", 0, -5)),
        (sparse.coo_matrix, set_item("col", 0, 10**6)),
        (sparse.coo_array, set_item("row", 0, -7)),
    ],
)
def test_other_formats_are_checked_before_they_are_converted(model, kind, change):
    with pytest.raises(
        ValueError, match=r"x is a damaged sparse matrix .* within its shape \(3, 6\)"
    ):
        model.score(edited(change, kind))


def test_columns_out_of_order_are_sorted_even_if_scipy_believes_them_sorted(model):
    good = sparse.csr_matrix(np.array([[0.5, 0, 2.0, 0, 0, -1.0]]))
    shuffled = sparse.csr_matrix((np.array([-1.0, 0.5, 2.0]), [5, 0, 2], [0, 3]), shape=(1, D))
    shuffled.has_sorted_indices = shuffled.has_canonical_format = True
    np.testing.assert_array_equal(model.score(shuffled), model.score(good))
    twice = sparse.csr_matrix(
        (np.array([0.25, -1.0, 0.25, 2.0]), [0, 5, 0, 2], [0, 4]), shape=(1, D)
    )
    np.testing.assert_array_equal(model.score(twice), model.score(good))
    assert twice.nnz == 4  # what the caller holds is not touched
