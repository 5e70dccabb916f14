"""No stream of numbers that a model takes can lead it into a state that a file may not hold."""

import numpy as np
import pytest

import boostline as bl
from boostline.contract.rows import LARGEST_VALUE

L = bl.learners
K, D, N = 3, 5, 80
LEARNERS = {
    "default": bl.learners.auto_mix(),
    "trees": [L.HoeffdingTree(grace_period=2.0, weight_scale=1e6)] * 3,
    "linear": [L.Linear()],
    "hashed": [L.Linear(n_hashed=2)],
    "ridge": [L.Ridge(forgetting=0.9)],
    "kernel": [L.Kernel(40)],
    "neighbours": [L.Neighbours()],
}


def rows():
    """Ordinary rows among which some have the largest and the smallest numbers there are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    Y = X[:, :K] > 0.2
    X[::7] = LARGEST_VALUE
    X[3::7] = -LARGEST_VALUE
    X[5::11] *= 1e-320
    X[6, 2] = np.nan
    return X, Y


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_that_has_seen_the_largest_numbers_saves_loads_and_goes_on(name, tmp_path):
    X, Y = rows()
    model = bl.AdaOLMR(K, learners=LEARNERS[name])
    assert np.isfinite(model.learn(X, Y)).all()
    model.save(tmp_path / "m.blm")
    again = bl.load(tmp_path / "m.blm")
    assert (again.learn(X, Y) == model.learn(X, Y)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_cell_whose_square_overflows_is_refused_and_changes_nothing(name, tmp_path):
    X, Y = rows()
    model = bl.AdaOLMR(K, learners=LEARNERS[name])
    model.learn(X, Y)
    model.save(tmp_path / "before.blm")
    X[40, 1] = 1e155
    with pytest.raises(ValueError, match=r"x has the value 1e\+155 at \[40, 1\]"):
        model.learn(X, Y)
    model.save(tmp_path / "after.blm")
    assert (tmp_path / "before.blm").read_bytes() == (tmp_path / "after.blm").read_bytes()
