"""Edges: normalised costs, the paper's set of costs, empirical edges, OnlineWLC."""

import copy
import math

import numpy as np
import pytest
from scipy import stats

from boostline import losses, potentials
from boostline.lab.theory import adversary, binomial, edges
from boostline.lab.theory.edges import EdgeRecorder, EmpiricalEdge, Record, check_wlc, membership
from boostline.potentials import baseline


def random_costs(rng, relevant):
    """A random member of C0eor."""
    k = len(relevant)
    c = np.sort(rng.random(k))
    c = (c - c[0]) / (c[-1] - c[0])
    out = np.empty(k)
    size = relevant.sum()
    out[relevant], out[~relevant] = rng.permutation(c[:size]), rng.permutation(c[size:])
    return out


@pytest.mark.parametrize("loss", ["hinge", "rank", "logistic", "exponential"])
def test_normalised_costs_of_proper_losses_are_in_the_papers_set(loss):
    rng = np.random.default_rng(0)
    for _ in range(50):
        relevant = rng.permutation([True, True, False, False, False])
        s = rng.integers(-3, 4, 5).astype(float)
        c, _ = potentials.costs(losses.get(loss), 6, s, relevant, 0.1)
        d, weight = edges.normalised(c)
        assert weight == pytest.approx(np.ptp(c))
        # Differences of potentials near 0 carry rounding, which a small weight magnifies.
        assert membership(d, relevant, tolerance=1e-12 / weight), membership(d, relevant).reason


def test_membership_says_what_is_wrong():
    relevant = [True, False, False]
    assert membership([0, 0.5, 1], relevant)
    assert "not 0" in membership([0.1, 0.5, 1], relevant).reason
    assert "not 1" in membership([0, 0.5, 0.9], relevant).reason
    assert "outside [0, 1]" in membership([0, 0.5, 1.1], relevant).reason
    assert "label 0 costs 1" in membership([1, 0, 0], relevant).reason
    rng = np.random.default_rng(1)
    for _ in range(20):
        mask = rng.permutation([True, True, False, False])
        assert membership(random_costs(rng, mask), mask)


def test_the_baseline_has_its_edge_whatever_the_costs():
    rng = np.random.default_rng(2)
    edge = EmpiricalEdge()
    for _ in range(30):
        relevant = rng.permutation([True, True, False, False, False])
        c = random_costs(rng, relevant)
        edge.update(c, baseline(relevant, 0.13), relevant, weight=rng.random())
    assert edge.value == pytest.approx(0.13, rel=1e-12)


def test_empirical_edge_is_the_papers_for_costs_that_sum_to_zero():
    rng = np.random.default_rng(3)
    edge, top, bottom = EmpiricalEdge(), 0.0, 0.0
    for _ in range(30):
        relevant = rng.permutation([True, False, False, False])
        c = np.where(relevant, -1.0, 1.0 / 3) * rng.random()
        h = rng.dirichlet(np.ones(4))
        edge.update(c, h, relevant)
        top -= c @ h
        bottom += np.abs(c).sum() / 2
    assert edge.value == pytest.approx(top / bottom, rel=1e-12)


def make_record(rng, rounds=200, true_edge=0.2, k=4):
    relevant = adversary.draw_label_sets((rounds,), k, rng)
    votes = np.eye(k)[adversary.draw_votes(relevant, [true_edge], rng)[:, 0]]
    costs = np.stack([random_costs(rng, y) for y in relevant])
    weights = rng.random(rounds)
    return costs, votes, relevant, weights


def test_excess_is_the_definition_at_every_prefix():
    rng = np.random.default_rng(4)
    costs, votes, relevant, weights = make_record(rng)
    record = Record.of(costs, votes, relevant, weights)
    weights = weights / weights.max()
    for gamma in (0.0, 0.1, 0.4):  # .4 is clipped for |Y| = 3
        left = right = 0.0
        excess = record.excess(gamma)
        for t in range(len(costs)):
            left += weights[t] * costs[t] @ votes[t]
            right += weights[t] * costs[t] @ baseline(relevant[t], gamma)
            assert excess[t] == pytest.approx(left - right, abs=1e-9)


def test_largest_edge_is_on_the_boundary():
    rng = np.random.default_rng(5)
    record = Record.of(*make_record(rng))
    for s in (1.0, 5.0, 20.0):
        gamma = record.largest_edge(s)
        assert record.satisfies(gamma, s)
        assert gamma == 1.0 or not record.satisfies(gamma + 1e-6, s)
    assert record.largest_edge(20.0) >= record.largest_edge(1.0)
    bad = Record(np.ones(5), np.ones(5), np.ones(5, dtype=int))
    assert math.isnan(bad.largest_edge(0.5))


def test_adversary_learners_satisfy_the_condition_by_construction():
    """u_{2 gamma} satisfies OnlineWLC(delta, gamma, k ln(1/delta) / (2 gamma)), Appendix B."""
    k, gamma, delta, seeds = 3, 0.06, 0.2, 100
    rng = np.random.default_rng(6)
    relevant = adversary.draw_label_sets((600,), k, rng)
    costs = np.stack([random_costs(rng, y) for y in relevant])
    s = k * math.log(1 / delta) / (2 * gamma)
    records = [
        Record.of(
            costs, np.eye(k)[adversary.draw_votes(relevant, [2 * gamma], rng)[:, 0]], relevant
        )
        for _ in range(seeds)
    ]
    verdict = check_wlc(records, delta, gamma, s)
    assert verdict.satisfied and verdict.established
    assert verdict.largest_edge >= gamma
    # A learner without knowledge fails once T is long compared with S / gamma.
    blind = [
        Record.of(costs, np.eye(k)[adversary.draw_votes(relevant, [0.0], rng)[:, 0]], relevant)
        for _ in range(seeds)
    ]
    assert not check_wlc(blind, delta, gamma, 5.0).satisfied


def test_the_largest_edge_finds_the_true_one():
    rng = np.random.default_rng(7)
    relevant = adversary.draw_label_sets((20_000,), 3, rng)
    costs = (~relevant).astype(float)
    records = [
        Record.of(costs, np.eye(3)[adversary.draw_votes(relevant, [0.2], rng)[:, 0]], relevant)
        for _ in range(20)
    ]
    verdict = check_wlc(records, delta=0.5, edge=0.1, excess_loss=100.0)
    assert verdict.largest_edge == pytest.approx(0.2, abs=0.03)


def test_recorder_gives_the_same_record_as_arrays():
    rng = np.random.default_rng(8)
    costs, votes, relevant, weights = make_record(rng, rounds=40)
    stream = adversary.Stream(relevant, votes.argmax(axis=1)[:, None])
    recorder = EdgeRecorder(stream.learners()[0])
    for t in range(40):
        assert recorder.predict(stream.X[t]) @ votes[t] == 1.0
        recorder.learn(stream.X[t], relevant[t], costs[t], weights[t])
    found, expected = recorder.record(), Record.of(costs, votes, relevant, weights)
    assert np.allclose(found.excess(0.1), expected.excess(0.1))
    assert found.edge == pytest.approx(expected.edge)


def test_binomial_figures_agree_with_scipy():
    for successes, trials, p in [(0, 10, 0.2), (3, 10, 0.2), (11, 200, 0.05), (5, 5, 0.9)]:
        assert binomial.binomial_tail(successes, trials, p) == pytest.approx(
            stats.binom.sf(successes - 1, trials, p), rel=1e-9
        )
    records = [
        Record(np.array([x]), np.array([1.0]), np.array([1])) for x in [-1.0] * 47 + [1.0] * 3
    ]
    verdict = check_wlc(records, 0.1, 0.0, 0.0)
    assert verdict.failure_rate == verdict.any_prefix_rate == 0.06
    assert verdict.failure_limit == pytest.approx(stats.beta.ppf(0.95, 4, 47), rel=1e-6)


def test_misuse_is_refused():
    with pytest.raises(ValueError, match="records is empty"):
        check_wlc([], 0.1, 0.1, 1.0)
    with pytest.raises(ValueError, match="must be \\(rounds, n_labels\\)"):
        Record.of(np.zeros(3), np.zeros(3), np.zeros(3))


def test_copies_of_a_recorder_go_their_own_ways():
    rng = np.random.default_rng(9)
    costs, votes, relevant, _ = make_record(rng, rounds=6)
    stream = adversary.Stream(relevant, votes.argmax(axis=1)[:, None])

    def learn(recorder, rounds):
        for t in rounds:
            recorder.learn(stream.X[t], relevant[t], costs[t], 1.0)
        return recorder

    first = learn(EdgeRecorder(stream.learners()[0]), [0, 1])
    second = learn(copy.deepcopy(first), [2, 3])
    assert len(first.record().advantage) == 2
    learn(first, [4])
    expected = learn(EdgeRecorder(stream.learners()[0]), [0, 1, 4]).record()
    assert np.array_equal(first.record().advantage, expected.advantage)
    expected = learn(EdgeRecorder(stream.learners()[0]), [0, 1, 2, 3]).record()
    assert np.array_equal(second.record().advantage, expected.advantage)
