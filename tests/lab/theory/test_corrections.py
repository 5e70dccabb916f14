"""Statements of the paper that do not hold, beside those that do (docs/theory.md, "What is corrected")."""

import itertools
import math

import numpy as np
import pytest

import boostline as bl
from boostline import losses, potentials
from boostline.lab.theory import adversary, bounds, edges
from boostline.lab.theory.bounds_online_bmr import largest_weight
from boostline.lab.theory.optimality import _tail_exponent, _weight_sum


def random_costs(relevant, rng):
    """Costs in the paper's set: those of the relevant labels below the others, from 0 to 1."""
    values = np.sort(rng.random(len(relevant)))
    values = (values - values[0]) / (values[-1] - values[0])
    costs = np.empty(len(relevant))
    costs[relevant] = rng.permutation(values[: relevant.sum()])
    costs[~relevant] = rng.permutation(values[relevant.sum() :])
    assert edges.membership(costs, relevant)
    return costs


def advantage(costs, relevant, gamma):
    return float(
        costs @ (potentials.baseline(relevant, 0.0) - potentials.baseline(relevant, gamma))
    )


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 20])
def test_what_an_edge_is_worth_to_the_baseline(k):
    """The paper: gamma / k <= c . (u_0 - u_gamma) <= gamma. The first is true, the second false from k = 5 on."""
    rng, gamma = np.random.default_rng(k), 0.9 / k
    most = adversary.largest_advantage(k)
    for _ in range(300):
        relevant = adversary.draw_label_sets((1,), k, rng)[0]
        found = advantage(random_costs(relevant, rng), relevant, gamma)
        assert gamma / k - 1e-12 <= found <= gamma * most + 1e-12
    half = np.arange(k) < k // 2
    worst = advantage(np.where(half, 0.0, 1.0), half, gamma)
    assert worst == pytest.approx(gamma * most)
    assert (worst > gamma * (1 + 1e-9)) == (k >= 5)


def test_the_warm_up_of_the_paper_breaks_onlinewlc_and_ours_keeps_it():
    """k = 20: after S / (4 gamma) rounds of useless votes the excess is beyond S."""
    k, gamma, delta = 20, 0.01, 0.1
    game = adversary.Adversary(k, gamma, 1, delta=delta, warm_up=True)
    rng = np.random.default_rng(0)
    old = int(game.S / (4 * gamma))
    relevant = adversary.draw_label_sets((old,), k, rng)
    votes = adversary.draw_votes(relevant, [0.0], rng)
    record = edges.Record.of(~relevant, np.eye(k)[votes[:, 0]], relevant)
    excess = record.excess(gamma)
    assert excess[-1] > 1.1 * game.S
    assert excess[: game.useless_rounds].max() < 0.5 * game.S
    assert game.useless_rounds == int(old / 5)


def test_edges_up_to_one_over_twice_k_less_one_are_the_adversarys():
    """u_{2 gamma} is a distribution there; the paper's appendix asks for gamma < 1/(4k)."""
    for k in (2, 3, 5, 10):
        most = 1 / (2 * (k - 1))
        stream = adversary.Adversary(k, most, 3).stream(200, seed=0)
        for size in range(1, k):
            law = potentials.baseline(np.arange(k) < size, 2 * most)
            assert law.min() >= 0 and law.sum() == pytest.approx(1)
            assert np.ptp(law) == pytest.approx(2 * most)  # not clipped
        assert stream.votes.shape == (200, 3)
        with pytest.raises(ValueError, match="but must lie in"):
            adversary.Adversary(k, most * 1.001, 3)


@pytest.mark.parametrize("k", [2, 3, 4, 7, 20])
def test_the_exponent_of_the_lower_bound_holds_up_to_one_over_2k(k):
    for gamma in np.linspace(0.05, 0.999, 12) / (2 * k):
        rates = [
            -math.log(1 - (math.sqrt(down) - math.sqrt(up)) ** 2)
            for up, down in (
                ((1 - 2 * gamma * size) / k, (1 - 2 * gamma * size) / k + 2 * gamma)
                for size in range(1, k)
            )
        ]
        assert max(rates) <= 4 * k**2 * gamma**2
        assert min(rates) == pytest.approx(_tail_exponent(k, 2 * gamma))


def test_no_use_of_the_adversarys_votes_beats_counting_them():
    """By brute force: all votes of three learners, k = 3; the best order for each, given the votes, is by counts."""
    k, n, gamma = 3, 3, 0.15
    sets = [np.array(y, bool) for y in itertools.product([0, 1], repeat=k) if 0 < sum(y) < k]
    orders = list(itertools.permutations(range(k)))
    best = 0.0
    for votes in itertools.product(range(k), repeat=n):
        joint = [np.prod(potentials.baseline(y, 2 * gamma)[list(votes)]) / len(sets) for y in sets]
        best += min(
            sum(
                p
                * np.mean(
                    [place[r] < place[s] for s in np.flatnonzero(y) for r in np.flatnonzero(~y)]
                )
                for p, y in zip(joint, sets, strict=True)
            )
            for place in orders
        )
    assert best == pytest.approx(adversary.uniform_vote_loss(k, 2 * gamma, n))


def test_the_sharper_factors_of_the_hinge_loss():
    """phi^N(0) <= factor e^(-gamma^2 N / 2), with less than the paper's N + 1; w <= k / (k - 1), the paper: 2."""
    for n, gamma, (k, size) in itertools.product(
        (1, 2, 10, 100, 400), (1e-3, 0.02, 0.1, 0.3, 0.5), [(2, 1), (5, 2), (14, 1)]
    ):
        found = potentials.start_potential(losses.Hinge(), n, k, size, gamma)
        factor = bounds.hinge_factor(n, gamma)
        assert found <= factor * math.exp(-(gamma**2) * n / 2) * (1 + 1e-9)
        assert factor <= n + 1
        assert factor < 0.2 * (n + 1) or n <= 10
        weight = largest_weight(losses.Hinge(), n - 1, 3 * n, k, size, gamma)
        assert weight <= k / (k - 1) + 1e-9 and k / (k - 1) <= 2


def test_weights_of_costs_may_exceed_1_and_what_bounds_them():
    """The paper's w_t lie in [0, 1], but max - min of its costs reaches k / (k - 1)."""
    rng = np.random.default_rng(0)
    relevant = np.eye(5, dtype=bool)[rng.integers(5, size=60)]
    stream = adversary.Stream(relevant, adversary.draw_votes(relevant, np.full(8, -0.5), rng))
    model = bl.OnlineBMR(5, learners=stream.learners(), edge=0.1)
    model.learn(stream.X, stream.relevant)
    assert 1.2 < model.diagnostics.max_weights.max() <= 5 / 4 + 1e-9


def test_the_bound_on_the_weights_of_the_rank_loss_is_finite_at_the_last_learner():
    """Table 1 has 1 / sqrt(N - i), which is infinite at i = N: there w is (1/|Y| + 1/|Y^c|) / 2."""
    assert largest_weight(losses.Rank(), 0, 9, 4, 2, 0.1) == pytest.approx(0.5)
    n, k, gamma = 12, 3, 0.1
    one_by_one = sum(
        max(largest_weight(losses.Rank(), n - i, i - 1, k, m, gamma) for m in (1, 2))
        for i in range(1, n + 1)
    )
    assert _weight_sum(k, n, gamma) == pytest.approx(one_by_one, rel=1e-12)


def test_errors_of_monte_carlo_costs_average_out():
    """With the same draws for every row they did not: the mean over rows had the error of one row."""

    def one_error(relevant, scores):
        return np.where(relevant[np.argmax(scores, axis=1)], 0.0, 1.0)

    loss = losses.GeneralLoss(one_error, name="one-error", n_labels=3, vectorised=True)
    rows, n = 40, 6
    y = np.array([True, False, False])
    exact, _ = potentials.costs(loss, n - 1, np.zeros(3), y, 0.1, draws=200_000, seed=99)

    class Even:  # the same scores in every row
        votes_single_label = True

        def predict(self, x):
            return np.array([1.0, 0.0, 0.0])

        def learn(self, x, relevant, costs, weight):
            self.seen = [*getattr(self, "seen", []), costs * weight - (costs * weight).mean()]

        def __deepcopy__(self, memo):
            return self

    first = Even()
    model = bl.OnlineBMR(3, learners=[first, *(Even() for _ in range(n - 1))], edge=0.1, loss=loss)
    model.learn(np.zeros((rows, 1)), np.tile(y, (rows, 1)))
    errors = np.array(first.seen) - exact
    one = np.sqrt((errors**2).mean())
    assert len(np.unique(errors[:, 0])) > rows / 2
    assert np.abs(errors.mean(axis=0)).max() < 4 * one / math.sqrt(rows)
    shared = [potentials.costs(loss, n - 1, np.zeros(3), y, 0.1, seed=1)[0] for _ in range(3)]
    assert np.ptp(shared, axis=0).max() == 0.0  # as it was: nothing to average
