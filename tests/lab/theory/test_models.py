"""The theory asked of real models: the compiled boosters on the adversary's streams."""

import numpy as np
import pytest

import boostline as bl
from boostline import losses
from boostline.lab.theory import History, adversary, bounds, edges, simulate


def play(model, stream):
    for x, y in stream:
        model.learn(x, y)
    return History.of(model)


@pytest.fixture(scope="module")
def stream():
    return adversary.Adversary(3, 0.08, 12).stream(300, seed=0)


@pytest.mark.parametrize("loss", ["rank", "hinge", "logistic", "exponential"])
def test_online_bmr_has_the_simulators_history(stream, loss):
    model = bl.OnlineBMR(n_labels=3, learners=stream.learners(), edge=0.08, loss=loss)
    found = play(model, stream)
    expected = simulate.online_bmr(stream.votes, stream.relevant, 0.08, loss)
    assert found.algorithm == "OnlineBMR" and found.rounds == 300
    assert found.suffered_loss == pytest.approx(expected.suffered_loss)
    assert np.array_equal(found.label_set_sizes, expected.label_set_sizes)
    # Table and look-up are the same; only the order of sums differs.
    assert np.allclose(found.edges, expected.edges, rtol=1e-9, atol=1e-9)
    assert np.allclose(found.max_weights, expected.max_weights)
    for bound in bounds.report(model):
        assert bound.holds, str(bound)


def test_the_realised_bound_of_a_real_model_is_an_equality(stream):
    model = bl.OnlineBMR(n_labels=3, learners=stream.learners(), edge=0.08, loss="rank")
    play(model, stream)
    assert bounds.bmr_realised(model).total == pytest.approx(model.suffered_loss, rel=1e-9)


def test_user_written_losses_work_in_the_booster(stream):
    squared = losses.PairwiseLoss(lambda d: np.maximum(1 + d, 0) ** 2, name="squared hinge")
    model = bl.OnlineBMR(n_labels=3, learners=stream.learners(), edge=0.08, loss=squared)
    found = play(model, stream)
    expected = simulate.online_bmr(stream.votes, stream.relevant, 0.08, squared)
    assert np.allclose(found.edges, expected.edges)
    assert bounds.bmr_general(model).holds


def test_a_user_written_loss_is_refused_where_it_was_not_probed():
    """Bent beyond every difference of 128 learners: with more of them nothing would be certain."""
    bent = losses.PairwiseLoss(lambda d: np.minimum(np.maximum(1 + d, 0), 140.0), name="bent")
    assert bent.convex
    many = adversary.Adversary(2, 0.1, 150).stream(2, seed=0).learners()
    model = bl.OnlineBMR(2, learners=many, edge=0.1, loss=bent)
    with pytest.raises(ValueError, match="at most 128 with a user-written loss"):
        model.learn([0.0], {1})
    assert model.clock == 0


def test_ada_olmr_keeps_its_bounds(stream):
    model = bl.AdaOLMR(n_labels=3, learners=stream.learners(), seed=1)
    found = play(model, stream)
    assert found.algorithm == "AdaOLMR" and found.rounds == 300
    expected = simulate.ada_olmr(stream.votes, stream.relevant)
    assert np.allclose(found.edges, expected.edges, atol=1e-6)
    for bound in bounds.report(model):
        assert bound.holds, str(bound)
    assert bounds.ada_olmr(model).vacuous


def test_a_recorder_inside_a_booster_finds_the_learners_edge():
    """Votes from u_{2 gamma}: a long run satisfies OnlineWLC at gamma, not at 4 gamma."""
    stream = adversary.Adversary(2, 0.1, 3).stream(3000, seed=2)
    recorders = [edges.EdgeRecorder(learner) for learner in stream.learners()]
    model = bl.OnlineBMR(n_labels=2, learners=recorders, edge=0.1, loss="hinge")
    play(model, stream)
    for recorder, edge in zip(recorders, model.edges(), strict=True):
        record = recorder.record()
        assert len(record.advantage) == 3000
        assert record.edge == pytest.approx(edge, rel=1e-6)
        assert record.satisfies(0.1, 30.0) and not record.satisfies(0.4, 30.0)
