"""A model that is saved and loaded at the very row where it starts anew goes on as if it had not been."""

import numpy as np

import boostline as bl


def test_probabilities_go_on_as_if_nothing_had_been_saved(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 6))
    Z = X @ rng.normal(size=(6, 4))
    Z[500:] *= -1
    Y = Z > 1.0
    twin, model = (bl.LabelRanker(4, learners=[bl.learners.Ridge()], seed=0) for _ in range(2))
    for x, y in zip(X, Y, strict=True):
        before = model.n_restarts
        twin.learn(x, y)
        model.learn(x, y)
        if model.n_restarts > before:
            model.save(tmp_path / "m.blm")
            model = bl.load(tmp_path / "m.blm")
    assert model.n_restarts > 0
    np.testing.assert_array_equal(model.probabilities(X), twin.probabilities(X))
