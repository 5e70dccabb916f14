"""Files of every format version load and go on; what they should do comes from the NumPy twin."""

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

FILES = sorted(GOLDEN.glob("format-*.blm"))


def test_every_format_version_has_its_files():
    versions = {int(path.name.split("-")[1]) for path in FILES}
    assert versions == set(range(1, saving.FORMAT + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_scores_and_goes_on_as_the_twin_does(path):
    algorithm = path.stem.split("-")[2]
    twin = make.twin(algorithm)
    for x, y, w in zip(*make.rows(0, make.ROWS), strict=True):
        twin.learn(x, y, weight=w)
    model, extra = saving.load_with_extra(path)
    assert (model.clock, model.seed, model.labels) == (make.ROWS, make.SEED, make.LABELS)
    assert extra == {"rows": make.ROWS, "note": "golden"}
    for x, y, w in zip(*make.rows(make.ROWS, 60), strict=True):
        np.testing.assert_allclose(model.score(x), twin.score(x), rtol=1e-9, atol=1e-12)
        model.learn(x, y, weight=w)
        twin.learn(x, y, weight=w)
    np.testing.assert_allclose(model.edges(), twin.edges(), rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["ada_olmr", "online_bmr"])
def test_the_present_format_is_still_written(algorithm):
    """New settings and arrays may come; what the newest golden file has stays, with its type, shape and values."""
    model = make.compiled(algorithm)
    X, Y, weights = make.rows(0, make.ROWS)
    model.learn(X, Y, weight=weights)
    golden = bl.load(GOLDEN / f"format-{saving.FORMAT}-{algorithm}.blm")
    assert golden.config() == model.config()
    found, expected = model.state()["arrays"], golden.state()["arrays"]
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        np.testing.assert_allclose(found[name], array, rtol=1e-9, atol=1e-12, err_msg=name)


def test_the_safetensors_library_reads_the_files():
    safetensors = pytest.importorskip("safetensors")
    for path in FILES:
        arrays = bl.load(path).state()["arrays"]
        with safetensors.safe_open(path, "numpy") as file:
            assert list(file.metadata()) == ["boostline"]
            assert set(file.keys()) == set(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(file.get_tensor(name), array)
