"""Files of every format version load and go on; what they should do comes from the NumPy twin."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import boostline as bl
from boostline import saving
from boostline.boosters.older_configs import of_this_version
from boostline.lab.theory import bounds

GOLDEN = Path(__file__).parent / "golden"
_spec = importlib.util.spec_from_file_location("golden_make", GOLDEN / "make.py")
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)

ALL = sorted(GOLDEN.glob("format-*.blm"))
#: The rule of LabelRanker was another one before format 3.
REPLACED = [p for p in ALL if p.stem.startswith(("format-1-mix", "format-2-mix"))]
FILES = [p for p in ALL if p not in REPLACED]
#: edge="auto" followed the realised edge before; such files go on with the present rule.
OTHER_EDGES = [GOLDEN / f"format-{version}-bmr_edge_auto.blm" for version in (1, 2)]


@pytest.mark.parametrize("path", REPLACED, ids=lambda path: path.stem)
def test_a_file_of_the_rule_that_was_replaced_says_who_reads_it(path):
    with pytest.raises(
        saving.LoadError, match=r"LabelRanker of format [12].*version 0\.1.*reads it"
    ):
        bl.load(path)


@pytest.mark.parametrize("path", OTHER_EDGES, ids=lambda path: path.stem)
def test_a_file_of_the_earlier_search_for_the_edge_goes_on_from_its_edge(path):
    """Its sums go over: the certificate of the whole run still holds, and is that of its parts."""
    model, never_saved = bl.load(path), make.learned("bmr_edge_auto")
    before = bounds.bmr_realised(model)
    old_levels = np.geomspace(0.001, 0.3, 18)
    assert np.abs(old_levels / model.edge - 1).min() < 1e-12
    assert before.holds and before.total == pytest.approx(bounds.bmr_auto(model).total)
    X, Y, weights = make.rows(make.ROWS["bmr_edge_auto"], 120)
    edge = model.edge
    # Costs play no part in the votes of the first row; the trees saw other costs, but the same rows.
    assert model.score(X[0]).shape == never_saved.score(X[0]).shape
    model.learn(X, Y, weight=weights)
    after = bounds.bmr_realised(model)
    assert model.edge != edge and after.holds and after.total > before.total
    assert after.total == pytest.approx(bounds.bmr_auto(model).total)


def test_every_format_version_has_its_files():
    versions = {int(path.name.split("-")[1]) for path in ALL}
    assert versions == set(range(1, saving.FORMAT + 1))


#: Points and weights of some learners are in single precision, which older files have in double.
DOUBLE, SINGLE = {"rtol": 1e-7, "atol": 1e-9}, {"rtol": 1e-4, "atol": 1e-5}


def name_of(path):
    return path.stem.split("-")[2]


@pytest.mark.parametrize(
    "path", [p for p in FILES if p not in OTHER_EDGES], ids=lambda path: path.stem
)
def test_a_golden_file_goes_on_as_if_never_saved(path):
    name = name_of(path)
    n = make.ROWS[name]
    model, extra = saving.load_with_extra(path)
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
@pytest.mark.parametrize(
    "path", [p for p in FILES if name_of(p) in make.TWINS], ids=lambda path: path.stem
)
def test_a_golden_file_scores_and_goes_on_as_the_twin_does(path):
    name = name_of(path)
    twin = make.twin(name)
    for x, y, w in zip(*make.rows(0, make.ROWS[name]), strict=True):
        twin.learn(x, y, weight=w)
    model = bl.load(path)
    for x, y, w in zip(*make.rows(make.ROWS[name], 60), strict=True):
        np.testing.assert_allclose(model.score(x), twin.score(x), rtol=1e-9, atol=1e-12)
        model.learn(x, y, weight=w)
        twin.learn(x, y, weight=w)
    np.testing.assert_allclose(model.edges(), twin.edges(), rtol=1e-9)


@pytest.mark.parametrize(
    "path", [p for p in FILES if name_of(p).startswith("mix")], ids=lambda path: path.stem
)
def test_the_counts_in_a_golden_file_are_those_of_the_rows(path):
    """By hand: sums over the rows that have a pair, each faded once for every later one."""
    model = bl.load(path)
    X, Y, weights = make.rows(0, make.ROWS[name_of(path)])
    ranked = Y.any(axis=1) & ~Y.all(axis=1)
    relevant, weights = Y[ranked], weights[ranked]
    ages = np.arange(len(weights))[::-1]
    votes = model.votes(X[0])[-len(make.DECAYS) :]
    for decay, found in zip(make.DECAYS, votes, strict=True):
        counts = (decay**ages * weights) @ relevant
        np.testing.assert_allclose(found, counts / counts.sum(), rtol=1e-4)
    assert int(model.label_set_sizes.sum()) == ranked.sum()


@pytest.mark.parametrize("name", make.ROWS)
def test_the_present_format_is_still_written(name):
    """New settings and arrays may come; what the newest golden file has stays, with its type, shape and values."""
    model = make.learned(name)
    golden = bl.load(GOLDEN / f"format-{saving.FORMAT}-{name}.blm")
    assert golden.config() == model.config()
    found, expected = model.state()["arrays"], golden.state()["arrays"]
    assert found.keys() == expected.keys()
    for array_name, array in expected.items():
        assert found[array_name].dtype == array.dtype, array_name
        np.testing.assert_allclose(
            found[array_name], array, rtol=1e-7, atol=1e-9, err_msg=array_name
        )


def test_the_safetensors_library_reads_the_files():
    safetensors = pytest.importorskip("safetensors")
    for path in [p for p in FILES if p.name.startswith(f"format-{saving.FORMAT}")]:
        arrays = bl.load(path).state()["arrays"]
        with safetensors.safe_open(path, "numpy") as file:
            assert list(file.metadata()) == ["boostline"]
            assert set(file.keys()) == set(arrays)
            for name, array in arrays.items():
                np.testing.assert_array_equal(file.get_tensor(name), array)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"combine": "mixture", "expert": "draw"}, "expert is 'draw' with combine='mixture'"),
        ({"combine": "paper", "expert": "draw", "weight_limit": 3.0}, "its setting drift is 'a'"),
    ],
)
def test_settings_of_format_1_that_are_gone_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        of_this_version({"algorithm": "ada_olmr", "settings": {**settings, "drift": "a"}})
