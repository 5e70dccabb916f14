"""Simulators against the NumPy oracle, and the adversary against its definition."""

import math

import numpy as np
import pytest

from boostline import losses
from boostline.lab import reference
from boostline.lab.theory import adversary, simulate
from boostline.lab.theory.adversary import Adversary, draw_label_sets, draw_votes, uniform_vote_loss
from boostline.potentials import baseline


class Replay:
    """Votes that were written down; x[0] is the round."""

    def __init__(self, votes):
        self.votes = votes

    def predict(self, x):
        return self.votes[int(x[0])]

    def learn(self, x, relevant, costs, weight):
        pass


def random_run(seed, single, k=4, n=6, rounds=60):
    rng = np.random.default_rng(seed)
    relevant = rng.random((rounds, k)) < 0.4  # the empty set occurs as well
    if single:
        return draw_votes(relevant, np.full(n, 0.1), rng), relevant
    # Quarters: sums are exact, so a tie is a tie in both computations.
    return rng.multinomial(4, np.full(k, 1 / k), size=(rounds, n)) / 4, relevant


@pytest.mark.parametrize(("loss", "single"), [("rank", True), ("hinge", True), ("hinge", False)])
def test_online_bmr_is_the_oracle(loss, single):
    votes, relevant = random_run(1, single)
    h = simulate.as_distributions(votes, 4)
    model = reference.OnlineBMR(4, [Replay(h[:, i]) for i in range(6)], edge=0.15, loss=loss)
    suffered = 0.0
    for t, y in enumerate(relevant):
        scores = model.learn(np.array([float(t)]), y)
        suffered += losses.Rank().value(y, scores)
    found = simulate.online_bmr(votes, relevant, 0.15, loss)
    assert found.suffered_loss == pytest.approx(suffered)
    assert np.allclose(found.edges, model.edges())
    assert np.allclose(found.weight_sums, model.weight_sums)
    assert np.allclose(found.max_weights, model.max_weights)
    assert np.allclose(found.expert_losses, model.expert_losses)


@pytest.mark.parametrize("single", [True, False])
def test_ada_olmr_is_the_oracle(single):
    seed = 5
    for stream in range(2, 20):
        votes, relevant = random_run(stream, single)
        h = simulate.as_distributions(votes, 4)
        model = reference.AdaOLMR(4, [Replay(h[:, i]) for i in range(6)], seed=seed)
        suffered, closest = 0.0, math.inf
        for t, y in enumerate(relevant):
            scores = model.learn(np.array([float(t)]), y)
            suffered += losses.Rank().value(y, scores)
            closest = min(closest, model.last_round.closest_decision)
        if closest > 1e-12:  # else rounding may turn a near tie, and the runs may part
            break
    else:
        pytest.fail("every stream had a near tie")
    raw = [int(np.random.Philox(counter=t, key=seed).random_raw()) for t in range(1, 61)]
    uniforms = np.array([(r >> 11) * 2.0**-53 for r in raw])
    simulator = simulate.AdaSimulator(1, 6, 4)
    for block in (slice(0, 25), slice(25, 60)):  # in blocks, to show that the state goes on
        simulator.run(votes[None, block], relevant[None, block], uniforms[None, block])
    found = simulator.histories()[0]
    assert np.allclose(simulator.alphas[0], model.learner_weights)
    assert np.allclose(found.edges, model.edges())
    assert np.allclose(found.weight_sums, model.weight_sums)
    assert np.allclose(found.max_weights, model.max_weights)
    assert np.allclose(found.expert_losses, model.expert_losses)
    assert found.suffered_loss == pytest.approx(suffered)
    assert found.rounds == 60


def test_streams_side_by_side_do_not_touch_each_other():
    runs = [random_run(seed, True) for seed in (3, 4)]
    both = simulate.AdaSimulator(2, 6, 4)
    both.run(np.stack([v for v, _ in runs]), np.stack([y for _, y in runs]), np.full((2, 60), 0.3))
    for b, (votes, relevant) in enumerate(runs):
        alone = simulate.AdaSimulator(1, 6, 4)
        alone.run(votes[None], relevant[None], np.full((1, 60), 0.3))
        assert np.array_equal(alone.alphas[0], both.alphas[b])
        assert alone.suffered[0] == both.suffered[b]


def test_label_sets_are_uniform_over_all_but_two():
    sets = draw_label_sets((60_000,), 3, np.random.default_rng(0))
    codes, counts = np.unique(sets @ [1, 2, 4], return_counts=True)
    assert codes.tolist() == [1, 2, 3, 4, 5, 6]
    assert np.abs(counts / 60_000 - 1 / 6).max() < 0.006  # four standard errors
    sizes = np.bincount(sets.sum(axis=1), minlength=4) / 60_000
    assert np.abs(sizes - adversary.label_set_probabilities(3)).max() < 0.01


@pytest.mark.parametrize("edge", [0.0, 0.1, 0.3, 0.9])
def test_votes_have_the_baselines_law(edge):
    relevant = np.array([False, True, True, False])
    votes = draw_votes(np.tile(relevant, (40_000, 1)), [edge], np.random.default_rng(1))[:, 0]
    share = np.bincount(votes, minlength=4) / 40_000
    assert np.abs(share - baseline(relevant, edge)).max() < 0.011


def test_a_negative_edge_is_the_edge_of_the_irrelevant_labels():
    relevant = np.array([True, False, False])
    votes = draw_votes(np.tile(relevant, (40_000, 1)), [-0.2], np.random.default_rng(2))[:, 0]
    share = np.bincount(votes, minlength=3) / 40_000
    assert np.abs(share - baseline(~relevant, 0.2)).max() < 0.011


@pytest.mark.gate
def test_the_uniform_votes_loss_is_what_a_simulation_loses():
    k, gamma, n, rounds = 3, 0.08, 25, 40_000
    stream = Adversary(k, gamma, n).stream(rounds, seed=3)
    loss = simulate.online_bmr(stream.votes, stream.relevant, gamma).suffered_loss / rounds
    assert loss == pytest.approx(
        uniform_vote_loss(k, 2 * gamma, n), abs=4 * 0.5 / math.sqrt(rounds)
    )


def test_warm_up_rounds_carry_no_information():
    adversary_ = Adversary(2, 0.1, 30, delta=0.3, warm_up=True)
    assert adversary_.useless_rounds == int(adversary_.S / 0.4)
    stream = adversary_.stream(4000, seed=4)
    right = stream.relevant[np.arange(4000)[:, None], stream.votes]
    t0 = adversary_.useless_rounds
    assert right[:t0].mean() == pytest.approx(0.5, abs=0.05)
    assert right[t0:].mean() == pytest.approx(0.6, abs=0.01)


def test_the_adversarys_conditions_are_checked():
    with pytest.raises(ValueError, match=r"edge is 0\.2, but must lie in .* = \(0, 0\.125\]"):
        Adversary(5, 0.2, 10)
    with pytest.raises(ValueError, match=r"excess_loss is 1\.0, but the theorem needs"):
        Adversary(2, 0.1, 10, excess_loss=1.0)


def test_a_stream_drives_the_oracle():
    stream = Adversary(3, 0.05, 4).stream(20, seed=0)
    model = reference.OnlineBMR(3, stream.learners(), edge=0.05, loss="rank")
    for x, y in stream:
        model.learn(x, y)
    found = simulate.online_bmr(stream.votes, stream.relevant, 0.05)
    assert np.allclose(found.expert_losses, model.expert_losses)
