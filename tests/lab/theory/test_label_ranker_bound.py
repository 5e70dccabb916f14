"""The bound of LabelRanker (docs/theory.md), on random streams and against the best mixture in hindsight."""

import numpy as np
import pytest
from scipy.optimize import minimize

import boostline as bl
from boostline.lab import reference
from boostline.lab.reference.label_ranker import CHAIN_SHARE, RATES, SHARE
from boostline.lab.theory import bounds


def random_stream(rng, rounds=60):
    """Votes of three learners of random skill, one of which changes half way."""
    k = int(rng.integers(2, 7))
    skills = rng.uniform(0, 4, size=3)
    for t in range(rounds):
        y = rng.random(k) < rng.uniform(0.1, 0.6)
        if t == rounds // 2:
            skills[0] = -skills[0]
        logits = skills[:, None] * y + rng.normal(size=(3, k))
        yield np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), y


def losses_of(u, rows):
    return np.array([-c * np.log(votes @ u).mean() for votes, c in rows])


def best_mixture(rows, n):
    """By a convex solver, on weights that are the softmax of free numbers."""

    def loss(z):
        u = np.exp(z - z.max())
        u /= u.sum()
        slope = -sum(c * (votes / (votes @ u)[:, None]).mean(axis=0) for votes, c in rows)
        return losses_of(u, rows).sum(), u * (slope - u @ slope)

    z = minimize(loss, np.zeros(n), jac=True, method="L-BFGS-B").x
    u = np.exp(z - z.max())
    return u / u.sum()


@pytest.mark.gate
@pytest.mark.parametrize("block", range(10))
def test_the_bound_holds_on_random_streams(block):
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        ranker, rows, played, x = None, [], [], []
        for votes, y in random_stream(rng):
            ranker = ranker or reference.LabelRanker(len(y), np.ones(3))
            if not y.any() or y.all():
                continue
            c = min(1.0, 1 / np.log1p((~y).sum() / y.sum()))
            q = ranker.temper(votes)[:, y].T
            rows.append((q, c))
            played.append(-c * np.log(q @ ranker.portfolio.weights).mean())
            x.append([(q / (q @ w)[:, None]).mean(axis=0) for w in ranker.portfolio.chains])
            ranker.learn(votes, y)
        total, rank_loss, _ = ranker.surrogate
        assert rank_loss <= total + 1e-9
        n = len(ranker.portfolio.prior)
        u = best_mixture(rows, n)
        regret = np.sum(played) - losses_of(u, rows).sum()
        assert regret <= ranker.portfolio.gains.max() + 1e-6
        # On every interval, here on a few, against its own best mixture: steps 3 and 4 of the proof.
        c, slopes, losses = np.array([c for _, c in rows]), np.array(x), np.array(played)
        for first, last in ((0, len(rows)), (len(rows) // 2, len(rows)), (10, 25)):
            part = slice(first, last)
            u = best_mixture(rows[part], n)
            regret = losses[part].sum() - losses_of(u, rows[part]).sum()
            promised = []
            for e, eta in enumerate(RATES):
                beta = SHARE * eta
                spread = (c[part, None] ** 2 * (slopes[part, e] - 1) ** 2 @ u[:, None]).sum()
                start = np.log(1 / (beta * ranker.portfolio.prior.min()))
                promised.append((start - (last - first) * np.log1p(-beta)) / eta + eta * spread)
            chains = np.log(2 / CHAIN_SHARE) - (last - first) * np.log1p(-CHAIN_SHARE)
            assert regret <= min(promised) + chains + 1e-6


def test_one_row_by_brute_force():
    """Every label set and many score vectors, ties and all: b L <= mean of -ln s - ln |Y|; alike if all are tied."""
    rng = np.random.default_rng(0)
    for k in (2, 3, 5):
        for bits in range(1, 2**k - 1):
            y = np.array([bits >> j & 1 for j in range(k)], bool)
            b = np.log1p((~y).sum() / y.sum())
            a = np.log(y.sum())
            assert b == pytest.approx(np.log(k) - a)
            for _ in range(200):
                s = rng.integers(1, 4, size=k) / 1.0 if rng.random() < 0.5 else rng.random(k) + 1e-3
                s = s / s.sum()
                rank_loss = (s[~y] >= s[y][:, None]).mean()  # ties count in full
                assert b * rank_loss <= -np.log(s[y]).mean() - a + 1e-12


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("scene", marks=pytest.mark.gate),
        pytest.param("bibtex", marks=pytest.mark.slow),
        pytest.param("mediamill", marks=pytest.mark.slow),
    ],
)
def test_it_says_something_on_real_data(data_folder, name):
    data = bl.data.load(name)
    order = np.random.default_rng(0).permutation(data.Y.shape[0])[:10_000]
    model = bl.LabelRanker(data.Y.shape[1], seed=0)
    model.learn(data.X[order], data.Y[order])
    bound = bounds.label_ranker(model)
    assert bound.holds and not bound.vacuous
    assert bound.total / model.diagnostics.surrogate[2] < 0.5


@pytest.mark.parametrize("rate", RATES)
def test_the_regret_against_one_vote_has_a_limit_whatever_the_votes_are(rate):
    """Third inequality of Theorem 11, for one chain, every vote and every interval; votes lean to one label."""
    rng = np.random.default_rng(int(1000 * rate))
    n_votes, rounds, share = 4, 3000, SHARE * rate
    prior = rng.dirichlet(np.ones(n_votes))
    w, worst = prior.copy(), np.zeros(n_votes)
    limit = -np.log(share * prior) / rate
    for _ in range(rounds):
        votes = rng.dirichlet(np.full(5, 0.03), size=n_votes) + 1e-9
        votes /= votes.sum(axis=1, keepdims=True)
        # The label that this mixture has least of, compared with its best vote: x is as large as 1e8.
        label = (votes.max(axis=0) / (w @ votes)).argmax()
        c = min(1.0, 1.0 / np.log(5.0))
        mixed = w @ votes[:, label]
        regret = c * (np.log(votes[:, label]) - np.log(mixed))
        worst = (
            np.maximum(worst, 0.0) + regret + np.log1p(-share) / rate
        )  # of intervals that end here
        assert (worst <= limit).all()
        w = (1 - share) * w * (1 + rate * c * (votes[:, label] / mixed - 1)) + share * prior
