"""LabelRanker: votes at two temperatures and their geometric mean, mixed by online portfolio selection.

Not the paper's: the rule of the recommended model, with a promise on every interval (docs/theory.md). A row with
relevant labels Y costs f(w) = -c mean over Y of ln s[l], s = sum of w_m q_m, and that bounds the rank loss of the
ranking by s.
"""

from __future__ import annotations

import numpy as np

from boostline.lab.reference.losses import BoolArray, FloatArray, rank_loss

RATES = (0.35, 0.02)  # of the chains
SHARE = 1e-3  # of a chain, times its rate: what goes back to the prior after each row
CHAIN_SHARE = 1e-3  # of the masses of the chains, likewise
ASTRAY_RATE = 0.1  # of the running mean that says that what is played has gone astray
TEMPERATURES = (1, 2)
FIRST_CURVATURE = 30.0  # how firmly the exponents of the geometric mean start at 1 / N
FORGETTING = 0.999  # of their squared gradients
MOST_EXPONENT = 8.0


class Portfolio:
    """Weights of M votes on the simplex.

    Attributes
    ----------
    chains : array (2, M)
        The weights at each learning rate.
    masses : array (2,)
        How much each of these counts.
    gains : array (M,)
        Sums of c (x_m - 1), x_m = mean over Y of q_m[l] / s[l]. No fixed mixture could have lost less than what was
        played by more than the largest of them, since f is convex.
    astray : float
        The running share of rows on which what was played was worse than the label frequencies. While it is above
        1/2, all chains but the slowest take no vote for worse than the frequencies on such rows.

    >>> both = Portfolio(np.ones(2))
    >>> for _ in range(100):
    ...     both.learn(np.array([[0.9, 0.1]]), np.array([0.5]), 1.0)   # the first vote for the relevant label is larger
    >>> bool(both.weights[0] > 0.9)
    True
    """

    def __init__(self, prior: FloatArray) -> None:
        self.prior = prior / prior.sum()
        self.chains = np.tile(self.prior, (len(RATES), 1))
        self.masses = np.full(len(RATES), 1 / len(RATES))
        self.gains = np.zeros(len(prior))
        self.astray = 0.0

    @property
    def weights(self) -> FloatArray:
        """What is played: the chains' weights, mixed by their masses."""
        return np.asarray(self.masses @ self.chains)

    def learn(self, votes: FloatArray, null: FloatArray, weight: float) -> None:
        """Learn from one row.

        ``votes`` (|Y|, M) are those for the relevant labels, ``null`` (|Y|,) their frequencies, ``weight`` is c.
        """
        is_worse = bool(np.log(votes @ self.weights).mean() < np.log(null).mean())
        self.astray += ASTRAY_RATE * (is_worse - self.astray)
        is_floored = is_worse and self.astray > 0.5
        self.gains += weight * ((votes / (votes @ self.weights)[:, None]).mean(axis=0) - 1)
        losses = np.zeros(len(RATES))
        for e, rate in enumerate(RATES):
            s = votes @ self.chains[e]
            losses[e] = -np.log(s).mean()
            q = np.maximum(votes, null[:, None]) if is_floored and rate > min(RATES) else votes
            x = (q / (q @ self.chains[e])[:, None]).mean(axis=0)
            moved = self.chains[e] * (1 + rate * weight * (x - 1))  # sums to 1, as x averages to 1
            self.chains[e] = (1 - SHARE * rate) * moved / moved.sum() + SHARE * rate * self.prior
        masses = self.masses * np.exp(-weight * (losses - losses[0]))
        self.masses = (1 - CHAIN_SHARE) * masses / masses.sum() + CHAIN_SHARE / len(RATES)


class LogPool:
    """The geometric mean of N votes, with exponents that are learned: p in proportion to the product of u_i^a_i.

    >>> pool = LogPool(2)
    >>> logs = np.log([[0.8, 0.1, 0.1], [0.4, 0.2, 0.4]])
    >>> p = pool.vote(logs)
    >>> pool.learn(logs, p, np.array([True, False, False]), 1.0)
    >>> bool(pool.exponents[0] > pool.exponents[1])
    True
    """

    def __init__(self, n_votes: int) -> None:
        self.exponents = np.full(n_votes, 1 / n_votes)
        self.curvatures = np.full(n_votes, FIRST_CURVATURE)

    def vote(self, logs: FloatArray) -> FloatArray:
        """Return p for the logarithms (N, k) of the votes."""
        z = self.exponents @ logs
        e = np.exp(z - z.max())
        return np.asarray(e / e.sum())

    def learn(self, logs: FloatArray, p: FloatArray, relevant: BoolArray, weight: float) -> None:
        """Step down the gradient of weight * mean over Y of -ln p[l]."""
        if weight == 0:
            return
        slopes = logs @ p - logs[:, relevant].mean(axis=1)
        self.curvatures = (
            FORGETTING * self.curvatures + (1 - FORGETTING) * FIRST_CURVATURE + weight * slopes**2
        )
        moved = self.exponents - weight * slopes / self.curvatures
        self.exponents = np.clip(moved, -MOST_EXPONENT, MOST_EXPONENT)


class LabelRanker:
    """The booster's part of the recommended model: it hears votes and gives scores.

    Attributes
    ----------
    portfolio : Portfolio
        Of all votes at all temperatures: vote i at temperature j is number 2 i + j. The pooled vote comes last.
    pool : LogPool
        The geometric mean of the votes.
    surrogate : array (3,)
        Sums over the rows of c (mean of -ln s - ln |Y|); of c b times the rank loss, which is never more; and of c b,
        where b = ln(1 + |Y^c| / |Y|).
    counts : array (k,)
        How often each label was relevant, by importance.

    >>> ranker = LabelRanker(3, np.ones(2))
    >>> votes = np.array([[0.8, 0.1, 0.1], [0.2, 0.4, 0.4]])
    >>> ranker.learn(votes, np.array([True, False, False])).argmax()
    np.int64(0)
    """

    def __init__(self, n_labels: int, prior: FloatArray) -> None:
        self.n_labels = n_labels
        self.pool = LogPool(len(prior))
        self.portfolio = Portfolio(np.repeat(np.append(prior, prior.max()), len(TEMPERATURES)))
        self.surrogate = np.zeros(3)
        self.counts = np.zeros(n_labels)

    @property
    def null(self) -> FloatArray:
        """The frequencies of the labels, which sum to 1."""
        return np.asarray((self.counts + 1) / (self.counts + 1).sum())

    @property
    def floor(self) -> float:
        """Added to every vote, so that logarithms are finite."""
        return 0.01 / self.n_labels

    def logs(self, votes: FloatArray) -> FloatArray:
        """Return the logarithms of the votes."""
        return np.asarray(np.log(votes + self.floor))

    def temper(self, votes: FloatArray) -> FloatArray:
        """Return votes and pooled vote at all temperatures (2 N + 2, k): in proportion to h, h^2."""
        pooled = self.pool.vote(self.logs(votes))
        raised = np.vstack([votes, pooled])[:, None, :] + self.floor
        raised = raised ** np.array(TEMPERATURES)[None, :, None]
        raised /= raised.sum(axis=2, keepdims=True)
        return np.asarray(raised.reshape(-1, self.n_labels))

    def score(self, votes: FloatArray) -> FloatArray:
        """Return s for the votes (N, k) of a row."""
        return np.asarray(self.portfolio.weights @ self.temper(votes))

    def learn(
        self,
        votes: FloatArray,
        relevant: BoolArray,
        irrelevant: BoolArray | None = None,
        weight: float = 1.0,
    ) -> FloatArray:
        """Learn from one row; returns the scores given before its labels were known."""
        irrelevant = ~relevant if irrelevant is None else irrelevant
        scores = self.score(votes)
        n = int(relevant.sum())
        if not n or not irrelevant.any():
            return scores
        spread = np.log1p(irrelevant.sum() / n)
        c = weight * min(1.0, 1 / spread)
        self.surrogate += c * np.array(
            [
                -np.log(scores[relevant]).mean() - np.log(n),
                spread * float(rank_loss(scores, relevant, irrelevant)),
                spread,
            ]
        )
        self.portfolio.learn(self.temper(votes)[:, relevant].T, self.null[relevant], c)
        self.counts += weight * relevant
        logs = self.logs(votes)
        self.pool.learn(logs, self.pool.vote(logs), relevant, c)
        return scores
