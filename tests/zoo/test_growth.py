"""Labels and features that come while running: no score changes, the new is learned, a refusal leaves no trace."""

import numpy as np
import pytest
from model_zoo import D, K, each_model, each_saved_model, rows
from states import assert_same_model, assert_same_state

from boostline.learners import Centroids

#: Before the kernel has a fit, after it, and when all its landmarks are there.
STAGES = (3, 20, 50, 100)
past_values = pytest.mark.parametrize("past", ["missing", "zero"])


def wide(X, n, past):
    """The same rows with n more features, as they would have come before those were known."""
    fill = np.nan if past == "missing" else 0.0
    return np.column_stack([X, np.full((len(X), n), fill)])


def stages(kind):
    """A model at several points of its life, and rows that it has not seen."""
    X, Y = rows(120)
    for n in STAGES:
        model = kind.make()
        model.learn(X[:n], Y[:n])
        yield model, X[-20:]


@each_model
@past_values
def test_new_features_change_no_score(kind, past):
    for model, X in stages(kind):
        before, clock = model.score(X), model.clock
        model.add_features(3, past_values=past)
        assert model.n_features == D + 3 and model.clock == clock
        np.testing.assert_allclose(
            model.score(wide(X, 3, past)), before, rtol=1e-9, atol=1e-12, err_msg=f"after {clock}"
        )


@each_saved_model
@past_values
def test_grown_at_any_stage_it_is_saved_and_goes_on(kind, past, tmp_path):
    X, Y = rows(30, D + 2, K + 1, seed=1)
    for model, _ in stages(kind):
        model.add_features(2, past_values=past)
        model.add_labels(1)
        model.save(tmp_path / "m.blm")
        twin = kind.load(tmp_path / "m.blm")
        assert_same_model(twin, model)
        found = [twin.learn(x, y) for x, y in zip(X, Y, strict=True)]
        np.testing.assert_array_equal(found, model.learn(X, Y))
        assert_same_model(twin, model)


@each_model
def test_a_new_label_is_learned(kind):
    if any(isinstance(learner, Centroids) for learner in kind.learners):
        pytest.skip("the nearest centroid does not know how frequent a label is")
    X, Y = rows(150)
    model = kind.make()
    model.learn(X[:40], Y[:40])
    model.add_labels(2)
    assert model.n_labels == K + 2 and model.score(X[0]).shape == (K + 2,)
    only_new = np.arange(K + 2) == K + 1
    scores = model.learn(X, np.tile(only_new, (150, 1)))
    assert np.isfinite(scores).all()
    assert (scores[-20:].argmax(axis=1) == K + 1).mean() > 0.8


@each_model
def test_labels_may_come_before_the_first_example(kind):
    X, Y = rows(20, k=K + 1)
    model = kind.make()
    model.add_labels(1)
    assert np.isfinite(model.learn(X, Y)).all()


@each_model
def test_growth_that_is_refused_leaves_no_trace(kind):
    new = kind.make()
    before = new.state()
    with pytest.raises(RuntimeError, match="first example"):
        new.add_features(1)
    assert_same_state(new.state(), before)
    model = kind.make()
    model.learn(*rows(20))
    before = model.state()
    for bad in (0, -1, 1.5, "x", ["x"], 2**31):
        with pytest.raises((TypeError, ValueError), match="features is"):
            model.add_features(bad)
        with pytest.raises((TypeError, ValueError), match=r"labels (is|have no names)"):
            model.add_labels(bad)
    with pytest.raises(ValueError, match="past_values is 'new'"):
        model.add_features(1, past_values="new")
    assert_same_state(model.state(), before)
