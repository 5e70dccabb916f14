"""Saved files load and go on; what they should do comes from the NumPy twin."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import boostline as bl
from boostline import saving

GOLDEN = Path(__file__).parent / "golden"
_spec = importlib.util.spec_from_file_location("golden_make", GOLDEN / "make.py")
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)


def golden(name):
    return GOLDEN / f"{name}.blm"


#: Points and weights of some learners are in single precision.
DOUBLE, SINGLE = {"rtol": 1e-7, "atol": 1e-9}, {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("name", make.ROWS)
def test_a_golden_file_goes_on_as_if_never_saved(name):
    n = make.ROWS[name]
    model, extra = saving.load_with_extra(golden(name))
    assert (model.clock, model.seed, model.labels) == (n, make.SEED, make.LABELS)
    assert extra == {"rows": n, "note": "golden"}
    never_saved = make.learned(name)
    X, Y, weights = make.rows(n, 60)
    tolerance = SINGLE if name.startswith("mix") else DOUBLE
    np.testing.assert_allclose(model.score(X), never_saved.score(X), **tolerance)
    found, expected = (m.learn(X, Y, weight=weights) for m in (model, never_saved))
    np.testing.assert_allclose(found, expected, **tolerance)
    np.testing.assert_allclose(model.edges(), never_saved.edges(), **tolerance)


@pytest.mark.gate
@pytest.mark.parametrize("name", make.TWINS)
def test_a_golden_file_scores_and_goes_on_as_the_twin_does(name):
    twin = make.twin(name)
    for x, y, w in zip(*make.rows(0, make.ROWS[name]), strict=True):
        twin.learn(x, y, weight=w)
    model = bl.load(golden(name))
    for x, y, w in zip(*make.rows(make.ROWS[name], 60), strict=True):
        np.testing.assert_allclose(model.score(x), twin.score(x), rtol=1e-9, atol=1e-12)
        model.learn(x, y, weight=w)
        twin.learn(x, y, weight=w)
    np.testing.assert_allclose(model.edges(), twin.edges(), rtol=1e-9)


@pytest.mark.parametrize("name", ["mix", "mix_early"])
def test_the_counts_in_a_golden_file_are_those_of_the_rows(name):
    """By hand: sums over the rows that have a pair, each faded once for every later one."""
    model = bl.load(golden(name))
    X, Y, weights = make.rows(0, make.ROWS[name])
    ranked = Y.any(axis=1) & ~Y.all(axis=1)
    relevant, weights = Y[ranked], weights[ranked]
    ages = np.arange(len(weights))[::-1]
    votes = model.votes(X[0])[-len(make.DECAYS) :]
    for decay, found in zip(make.DECAYS, votes, strict=True):
        counts = (decay**ages * weights) @ relevant
        np.testing.assert_allclose(found, counts / counts.sum(), rtol=1e-4)
    assert int(model.diagnostics.label_set_sizes.sum()) == ranked.sum()


@pytest.mark.parametrize("name", make.ROWS)
def test_a_golden_file_is_still_written(name):
    model = make.learned(name)
    loaded = bl.load(golden(name))
    assert loaded.config() == model.config()
    found, expected = model.state()["arrays"], loaded.state()["arrays"]
    assert found.keys() == expected.keys()
    for array_name, array in expected.items():
        assert found[array_name].dtype == array.dtype, array_name
        np.testing.assert_allclose(
            found[array_name], array, rtol=1e-7, atol=1e-9, err_msg=array_name
        )


def test_the_safetensors_library_reads_the_files():
    safetensors = pytest.importorskip("safetensors")
    for path in map(golden, make.ROWS):
        arrays = bl.load(path).state()["arrays"]
        with safetensors.safe_open(path, "numpy") as file:
            assert list(file.metadata()) == ["boostline"]
            assert set(file.keys()) == set(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(file.get_tensor(name), array)
