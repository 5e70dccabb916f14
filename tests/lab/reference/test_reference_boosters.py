"""The schema, OnlineBMR and Ada.OLMR of the reference, against the paper's statements."""

import copy

import numpy as np
import pytest

from boostline.lab import reference


class Voter:
    """Votes by a function of x, and remembers what it was taught."""

    def __init__(self, vote):
        self.vote = vote
        self.taught = []

    def predict(self, x):
        return self.vote(x)

    def learn(self, x, relevant, costs, weight):
        self.taught.append((relevant.copy(), costs.copy(), weight))


def random_voter(k, seed, single_label=False):
    """A fixed random function of x[0], an integer."""

    def vote(x):
        rng = np.random.default_rng([seed, int(x[0])])
        return np.eye(k)[rng.integers(k)] if single_label else rng.dirichlet(np.ones(k))

    return Voter(vote)


def random_rows(k, n, seed):
    rng = np.random.default_rng(seed)
    for t in range(n):
        relevant = np.zeros(k, dtype=bool)
        relevant[rng.choice(k, size=rng.integers(1, k), replace=False)] = True
        yield np.array([float(t)]), relevant


def boosters(k, n, seed):
    """Every kind of booster on learners of its own."""

    def voters(single_label=False):
        return [random_voter(k, 100 * seed + i, single_label) for i in range(n)]

    return [
        reference.AdaOLMR(k, voters(), seed=seed),
        reference.OnlineBMR(k, voters(), edge=0.1),
        reference.OnlineBMR(k, voters(), edge=0.4, margin=0.3),
        reference.OnlineBMR(k, voters(True), edge=0.1, loss="rank"),
    ]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_normalised_costs_lie_in_the_papers_set(k):
    for model in boosters(k, 5, seed=k):
        for x, y in random_rows(k, 40, seed=k):
            model.learn(x, y)
            now = model.last_round
            for c, d, w in zip(now.costs, now.normalised_costs, now.weights, strict=False):
                if w == 0:
                    assert (d == 0).all()
                    assert np.ptp(c) == 0
                    continue
                assert d.min() == 0
                assert d.max() == 1
                assert d[y].max() <= d[~y].min()
                np.testing.assert_allclose(w * d, c - c.min(), atol=1e-15)
            for learner, d, w in zip(
                model.learners, now.normalised_costs, now.weights, strict=True
            ):
                relevant, costs, weight = learner.taught[-1]
                assert (relevant == y).all()
                assert (costs == d).all()
                assert weight == w


def test_ada_costs_sum_to_zero_and_are_gradients_at_the_expert_before():
    k, model = 6, boosters(6, 4, seed=1)[0]
    for x, y in random_rows(k, 50, seed=2):
        model.learn(x, y)
        now = model.last_round
        assert now.costs.shape == (5, k)
        np.testing.assert_allclose(now.costs.sum(axis=1), 0, atol=1e-15)
        for c, s in zip(now.costs, now.expert_scores, strict=True):
            np.testing.assert_allclose(c, reference.logistic_gradient(s, y), atol=1e-16)


def test_experts_accumulate_weighted_votes():
    for model in boosters(4, 5, seed=3):
        for x, y in random_rows(4, 20, seed=4):
            alpha = model.learner_weights.copy()
            model.learn(x, y)
            now = model.last_round
            assert (now.expert_scores[0] == 0).all()
            for j in range(1, 6):
                expected = sum(alpha[i] * now.votes[i] for i in range(j))
                np.testing.assert_allclose(now.expert_scores[j], expected, atol=1e-15)


def test_gradient_descent_and_hedge_by_hand():
    k, model = 5, boosters(5, 3, seed=5)[0]
    alpha, log_v, rounds = np.zeros(3), np.zeros(3), random_rows(5, 60, seed=6)
    for t, (x, y) in enumerate(rounds, start=1):
        weight = [1.0, 0.3, 0.0][t % 3]
        model.learn(x, y, weight=weight)
        votes = model.last_round.votes
        s = np.zeros(k)
        for i in range(3):
            before = s
            s = before + alpha[i] * votes[i]
            log_v[i] -= weight * reference.rank_loss(s, y)
            step = 1e-6
            slope = (  # the derivative of f(alpha) = L_log(s^{i-1} + alpha h)
                reference.logistic_loss(s + step * votes[i], y)
                - reference.logistic_loss(s - step * votes[i], y)
            ) / (2 * step)
            alpha[i] = np.clip(alpha[i] - weight * slope / np.sqrt(t), -2, 2)
        np.testing.assert_allclose(model.learner_weights, alpha, atol=1e-7)
        np.testing.assert_allclose(model.expert_log_weights, log_v, atol=1e-12)
        alpha = model.learner_weights.copy()
    np.testing.assert_allclose(model.expert_losses, -log_v, atol=1e-12)


@pytest.mark.parametrize("expert", ["draw", "weighted", "best", "last"])
def test_scores_are_those_of_the_followed_expert_and_asking_changes_nothing(expert):
    k = 4
    model = reference.AdaOLMR(k, [random_voter(k, i) for i in range(5)], seed=9, expert=expert)
    for x, y in random_rows(k, 60, seed=7):
        log_v = model.expert_log_weights.copy()
        before = [model.score(x), model.score(x)]
        got = model.learn(x, y)
        now = model.last_round
        assert (before[0] == got).all()
        assert (before[1] == got).all()
        if expert == "weighted":
            p = np.exp(log_v) / np.exp(log_v).sum()
            np.testing.assert_allclose(got, p @ now.expert_scores[1:], atol=1e-14)
            assert now.followed is None
            continue
        assert (got == now.expert_scores[now.followed]).all()
        if expert == "best":
            assert now.followed == 1 + list(log_v).index(max(log_v))
        if expert == "last":
            assert now.followed == 5


@pytest.mark.gate
def test_experts_are_drawn_in_proportion_to_their_weights():
    model = reference.AdaOLMR(2, [Voter(lambda x: np.array([0.5, 0.5]))] * 3, seed=4)
    chances = np.array([0.2, 0.3, 0.5])
    model.expert_log_weights = np.log(chances) - 2000.0  # far beyond the underflow of exp
    counts, rounds = np.zeros(3), 4000
    for _ in range(rounds):  # no pair: only the clock moves
        model.learn(np.zeros(1), set())
        counts[model.last_round.followed - 1] += 1
    deviation = (counts - rounds * chances) / np.sqrt(rounds * chances * (1 - chances))
    assert abs(deviation).max() < 4


@pytest.mark.parametrize("relevant", [set(), {0, 1, 2}])
def test_without_a_pair_only_the_clock_moves(relevant):
    for model in boosters(3, 4, seed=8):
        for x, y in random_rows(3, 10, seed=8):
            model.learn(x, y)
        before = copy.deepcopy(model)
        x = np.array([3.0])
        assert (model.learn(x, relevant) == before.score(x)).all()
        assert model.t == before.t + 1
        for name in ("learner_weights", "expert_losses", "weight_sums", "max_weights"):
            assert (getattr(model, name) == getattr(before, name)).all()
        assert (model.edges() == before.edges()).all()
        assert [len(v.taught) for v in model.learners] == [10] * 4
        assert (model.last_round.costs == 0).all()


def test_the_baseline_learner_has_its_edge_exactly():
    k, gamma = 5, 0.13

    def vote(x):  # x carries the answer
        return reference.baseline(x > 0, gamma)

    for model in (
        reference.AdaOLMR(k, [Voter(vote), Voter(vote)], seed=0),
        reference.OnlineBMR(k, [Voter(vote), Voter(vote)], edge=0.05),
    ):
        assert (model.edges() == 0).all()
        for i, (_, y) in enumerate(random_rows(k, 30, seed=10)):
            model.learn(y.astype(float), y, weight=[1.0, 0.4][i % 2])
        np.testing.assert_allclose(model.edges(), gamma, rtol=1e-12)


def test_histories_of_the_theory():
    k, model = 4, boosters(4, 3, seed=11)[0]
    losses, weights, spreads = np.zeros(3), np.zeros(3), np.zeros(3)
    for x, y in random_rows(k, 40, seed=12):
        model.learn(x, y)
        now = model.last_round
        losses += [reference.rank_loss(s, y) for s in now.expert_scores[1:]]
        weights += abs(now.costs[:3]).sum(axis=1) / 2  # ||c||_1 / 2 (eq. adaptiveWeight)
        spreads = np.maximum(spreads, np.ptp(now.costs[:3], axis=1))
    np.testing.assert_allclose(model.expert_losses, losses)
    np.testing.assert_allclose(model.weight_sums, weights)
    np.testing.assert_allclose(model.max_weights, spreads)
    assert model.weight_sums[0] == pytest.approx(40 / 2)  # s^0 = 0: every pair weighs 1/2
    assert (model.weight_sums[1:] >= model.expert_losses[:2] / 2).all()  # eq. adaptiveProof8


def test_bmr_costs_carry_the_potential_from_expert_to_expert():
    """The step of the proof of the general loss bound: equal for single labels, else <=."""
    k, n, edge = 4, 5, 0.1
    for loss, single_label in (("rank", True), ("hinge", True), ("hinge", False)):
        voters = [random_voter(k, i, single_label) for i in range(n)]
        model = reference.OnlineBMR(k, voters, edge=edge, loss=loss)
        for x, y in random_rows(k, 20, seed=13):
            scores = model.learn(x, y)
            now = model.last_round
            assert now.followed == n
            assert (scores == now.expert_scores[n]).all()
            assert (model.learner_weights == 1).all()
            for i in range(1, n + 1):
                here = reference.potential(loss, n - i, now.expert_scores[i - 1], y, edge)
                there = reference.potential(loss, n - i, now.expert_scores[i], y, edge)
                mean = here + now.costs[i - 1] @ now.votes[i - 1]
                assert there <= mean + 1e-12
                if single_label:
                    assert there == pytest.approx(mean, abs=1e-12)


def test_rank_potentials_refuse_votes_that_are_not_single_labels():
    model = reference.OnlineBMR(3, [random_voter(3, 0)], edge=0.1, loss="rank")
    with pytest.raises(ValueError, match="single-label votes; use loss='hinge'"):
        model.learn(np.zeros(1), {0})
    assert model.t == 1


def test_always_wrong_learners_get_negative_weights_and_are_of_use():
    k = 3

    def wrong_by(step):
        return Voter(lambda x: np.eye(k)[(int(x[0]) + step) % k])

    model = reference.AdaOLMR(k, [wrong_by(1), wrong_by(2)], seed=1)
    losses = []
    for t in range(300):
        label = t % k
        losses.append(float(reference.rank_loss(model.learn(np.array([label]), {label}), {label})))
    assert (model.learner_weights < 0).all()
    assert (model.edges() < 0).all()
    # Expert 1 knows one of the two wrong labels (loss 1/4), expert 2 both (loss 0).
    assert model.expert_losses[1] < 2 < model.expert_losses[0]
    assert sum(losses[100:]) == 0


def test_expert_must_be_known():
    with pytest.raises(ValueError, match="expert is 'first'"):
        reference.AdaOLMR(2, [], seed=0, expert="first")


def philox4x64(counter, key):
    """First word of ten rounds of Philox4x64 (Salmon et al. 2011), with whole numbers."""
    mask = 2**64 - 1
    c, k = [counter, 0, 0, 0], [key, 0]
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [(b >> 64) ^ c[1] ^ k[0], b & mask, (a >> 64) ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B97F4A7C15) & mask, (k[1] + 0xBB67AE8584CAA73B) & mask]
    return c[0]


def test_the_draw_is_philox_keyed_by_seed_and_clock():
    assert philox4x64(0, 0) == 0x16554D9ECA36314C  # known answer published with Random123
    n, seed = 7, 123
    model = reference.AdaOLMR(2, [Voter(lambda x: np.array([0.5, 0.5]))] * n, seed=seed)
    for t in range(1, 200):
        model.learn(np.zeros(1), set())
        u = (philox4x64(t + 1, seed) >> 11) * 2.0**-53  # NumPy counts up before it draws
        assert model.last_round.followed == 1 + int(u * n)  # equal weights
