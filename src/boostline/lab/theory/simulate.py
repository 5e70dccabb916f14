"""Both boosters on simulated votes, vectorised over rounds or over streams.

When the votes do not depend on the costs, nothing has to be learned, and the boosters reduce to
arithmetic on differences of votes. `online_bmr` then handles all rounds of a stream at once;
`AdaSimulator` steps through time (its weights must) with many streams side by side. Both return a
`History`, so that the bounds can be asked as of a real model; both agree with
`boostline.lab.reference` on the same votes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import BoolArray, FloatArray
from boostline.lab.theory.history import History
from boostline.losses import Loss, PairLoss, Rank, get
from boostline.potentials import StepTable, clipped_edge, start_potential, step_table

__all__ = ["AdaSimulator", "ada_olmr", "online_bmr"]


# Pairs looked up at a time by online_bmr: about 100 MB of temporaries.
_CHUNK = 2_000_000


def as_distributions(votes: ArrayLike, n_labels: int) -> FloatArray:
    """Votes (T, N) of single labels or (T, N, k) of distributions, as distributions.

    Examples
    --------
    >>> as_distributions([[1]], 3)
    array([[[0., 1., 0.]]])
    """
    array = np.asarray(votes)
    if np.issubdtype(array.dtype, np.integer):
        return np.asarray(np.eye(n_labels)[array], dtype=np.float64)
    if array.shape[-1] != n_labels:
        raise ValueError(f"votes have {array.shape[-1]} entries, but n_labels is {n_labels}")
    return array.astype(np.float64)


def online_bmr(
    votes: ArrayLike,
    relevant: ArrayLike,
    edge: float,
    loss: str | Loss = "rank",
) -> History:
    """OnlineBMR on given votes: single labels (T, N) or distributions (T, N, k).

    Examples
    --------
    >>> relevant = np.array([[True, False], [False, True]])
    >>> history = online_bmr(np.array([[0, 0], [0, 1]]), relevant, edge=0.2)
    >>> history.suffered_loss  # the second round ends in a tie
    0.5
    """
    pair_loss = get(loss)
    if not isinstance(pair_loss, PairLoss):
        raise TypeError(f"loss {pair_loss.name!r} does not split into pairs")
    y = np.asarray(relevant, dtype=bool)
    rounds, k = y.shape
    single = np.asarray(votes)
    n = single.shape[1]
    sizes = np.bincount(y.sum(axis=1), minlength=k + 1).astype(np.int64)
    sizes[[0, k]] = 0
    gain, weight_sums, max_weights = np.zeros(n), np.zeros(n), np.zeros(n)
    expert_losses = np.zeros(n)
    promised = assumed = 0.0
    for size in np.flatnonzero(sizes):
        promised += int(sizes[size]) * start_potential(pair_loss, n, k, int(size), edge)
        table = step_table(pair_loss, n, k, int(size), edge)
        rows = np.flatnonzero(y.sum(axis=1) == size)
        per_chunk = max(1, _CHUNK // (n * size * (k - size)))
        for start in range(0, len(rows), per_chunk):
            chunk = rows[start : start + per_chunk]
            h = as_distributions(single[chunk], k)
            part = _bmr_rounds(h, y[chunk], int(size), table)
            gain += part[0]
            weight_sums += part[1]
            assumed += clipped_edge(edge, int(size)) * float(part[1].sum())
            max_weights = np.maximum(max_weights, part[2])
            expert_losses += part[3]
    edges = np.divide(gain, weight_sums, out=np.zeros(n), where=weight_sums > 0)
    return History(
        algorithm="OnlineBMR",
        n_learners=n,
        n_labels=k,
        rounds=rounds,
        label_set_sizes=sizes,
        edges=edges,
        weight_sums=weight_sums,
        max_weights=max_weights,
        expert_losses=expert_losses,
        suffered_loss=float(expert_losses[-1]),
        edge=edge,
        loss=pair_loss,
        promised=promised,
        assumed=assumed,
    )


def _bmr_rounds(
    h: FloatArray, y: BoolArray, size: int, table: StepTable
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Sums over rounds with |Y| = size: edge numerators, denominators, max weights, rank losses."""
    _, n, k = h.shape
    # Relevant labels first: from here on they are the first ``size`` columns.
    order = np.argsort(~y, axis=1, kind="stable")
    h = np.take_along_axis(h, order[:, None, :], axis=2)
    after = np.cumsum(h, axis=1)
    before = after - h
    d = before[:, :, None, size:] - before[:, :, :size, None]  # (rounds, n, l, r)
    up, down = np.empty_like(d), np.empty_like(d)
    for i in range(n):  # learner i + 1 has n - i - 1 learners after it
        up[:, i] = table.at(n - i - 1, d[:, i])
        down[:, i] = table.at(n - i - 1, d[:, i] - 1.0)
    pairs = size * (k - size)
    c = np.concatenate([-down.sum(axis=3), up.sum(axis=2)], axis=2) / pairs
    mean = c.mean(axis=2)
    gain = (mean - (c * h).sum(axis=2)).sum(axis=0)
    spread = (size * mean - c[:, :, :size].sum(axis=2)).sum(axis=0)
    largest = (c.max(axis=2) - c.min(axis=2)).max(axis=0)
    # Votes in sixteenths or thirds must not turn a tie into an error by their rounding.
    final = np.round(after[:, :, None, size:] - after[:, :, :size, None], 9)
    losses = Rank().pair(final).mean(axis=(2, 3)).sum(axis=0)
    return gain, spread, largest, losses


class AdaSimulator:
    """Ada.OLMR on the votes of several streams at once; feed it blocks of rounds.

    For a pair of labels (a, b) only x = h[b] - h[a] matters, with the sign turned so that b is the
    irrelevant one, or 0 if the pair is not to be ranked. Streams are the last axis of all arrays
    inside, so that each operation runs over contiguous memory.

    Parameters
    ----------
    n_streams, n_learners, n_labels
        B, N and k.
    seed
        Of the draws of the followed experts.
    keep
        Keep all rounds in memory, for `weight_regrets`.
    steps
        As in `boostline.AdaOLMR`.

    Examples
    --------
    >>> simulator = AdaSimulator(n_streams=1, n_learners=2, n_labels=2, seed=0)
    >>> simulator.run(np.zeros((1, 300, 2), dtype=int), np.tile([True, False], (1, 300, 1)))
    >>> bool(simulator.alphas[0, 0] > 1), round(float(simulator.histories()[0].edges[0]), 9)
    (True, 1.0)
    """

    def __init__(
        self,
        n_streams: int,
        n_learners: int,
        n_labels: int,
        seed: int = 0,
        keep: bool = False,
        steps: str = "paper",
    ) -> None:
        self.n_streams, self.n_learners, self.n_labels = n_streams, n_learners, n_labels
        self.rng = np.random.default_rng(seed)
        self.clock = 0
        shape = (n_learners, n_streams)
        self._alphas = np.zeros(shape)
        self._log_weights = np.zeros(shape)
        self._expert_losses = np.zeros(shape)
        self._gain = np.zeros(shape)
        self._weight_sums = np.zeros(shape)
        self._max_weights = np.zeros(shape)
        self.steps = steps
        self._slope_squares, self._spreads = np.zeros(shape), np.zeros(shape)
        self._suffered = np.zeros(n_streams)
        self._label_set_sizes = np.zeros((n_streams, n_labels + 1), dtype=np.int64)
        self._first, self._second = np.triu_indices(n_labels, 1)
        pairs = np.arange(len(self._first))
        self._contains = np.zeros((n_labels, len(pairs)))  # which pairs a label is in
        self._contains[self._first, pairs] = 1.0
        self._contains[self._second, pairs] = 1.0
        self._kept: list[tuple[FloatArray, ...]] | None = [] if keep else None

    @property
    def alphas(self) -> FloatArray:
        """Learner weights, (streams, learners)."""
        return self._alphas.T

    @property
    def suffered(self) -> FloatArray:
        """Cumulative rank loss of the followed experts, (streams,)."""
        return self._suffered

    def run(
        self, votes: ArrayLike, relevant: ArrayLike, uniforms: FloatArray | None = None
    ) -> None:
        """Play the rounds of a block.

        Parameters
        ----------
        votes
            (streams, rounds, learners) single labels or (..., labels) distributions.
        relevant
            (streams, rounds, labels) indicators.
        uniforms
            (streams, rounds) numbers that draw the followed experts; by default from the seed.
        """
        h, y = np.asarray(votes), np.asarray(relevant, dtype=bool)
        single = bool(np.issubdtype(h.dtype, np.integer))
        drawn = self.rng.random(y.shape[:2]) if uniforms is None else uniforms
        sizes = y.sum(axis=2)
        for size in range(1, self.n_labels):
            self._label_set_sizes[:, size] += (sizes == size).sum(axis=1)
        h = np.ascontiguousarray(np.moveaxis(h, 0, -1))  # rounds, learners[, labels], streams
        masks = np.ascontiguousarray(np.moveaxis(y, 0, -1))  # rounds, labels, streams
        sign = masks[:, self._first].astype(np.float64) - masks[:, self._second]
        count = np.abs(sign).sum(axis=1)
        weight = np.divide(1.0, count, out=np.zeros_like(count), where=count > 0)
        labels = np.arange(self.n_labels)[:, None, None]
        for t in range(len(masks)):
            now = (h[t] == labels).astype(np.float64) if single else h[t].swapaxes(0, 1)
            self.clock += 1
            self._round(now, sign[t][:, None], weight[t], drawn[:, t], masks[t])

    def _round(
        self, h: FloatArray, sign: FloatArray, weight: FloatArray, u: FloatArray, y: BoolArray
    ) -> None:
        """One round: h (k, N, B), sign (pairs, 1, B), weight and u (B,), y (k, B)."""
        p = np.exp(self._log_weights - self._log_weights.max(axis=0))
        cumulative = np.cumsum(p, axis=0)
        followed = (cumulative > u * cumulative[-1]).argmax(axis=0)
        # Scores first and differences then, as the oracle does.
        scores = np.cumsum(self._alphas * h, axis=1)
        d = (scores[self._second] - scores[self._first]) * sign  # of experts 1..N
        x = (h[self._second] - h[self._first]) * sign
        # Logistic function; |d| <= 2N, and beyond 700 the exponential would overflow.
        slope = 1.0 / (1.0 + np.exp(-np.maximum(d, -700.0)))
        w = np.abs(sign) * weight
        losses = (((d > 0) + 0.5 * (d == 0)) * w).sum(axis=0)
        weighted = np.empty_like(slope)
        weighted[:, 0], weighted[:, 1:] = 0.5, slope[:, :-1]
        curved = weighted * (1.0 - weighted) * w
        weighted *= w
        self._gain -= (weighted * x).sum(axis=0)
        self._weight_sums += weighted.sum(axis=0)
        np.maximum(self._max_weights, self._ranges(weighted, y), out=self._max_weights)
        if self._kept is not None:
            before = np.concatenate([np.zeros_like(d[:, :1]), d[:, :-1]], axis=1)
            self._kept.append((self._alphas, before, x, np.broadcast_to(w, x.shape)))
        f = (slope * x * w).sum(axis=0)
        self._slope_squares += f**2
        self._spreads += (curved * x**2).sum(axis=0)
        if self.steps == "paper":
            step = f / math.sqrt(self.clock)
        else:
            root = np.sqrt(np.where(self._slope_squares > 0, self._slope_squares, 1.0))
            step = 2.0 * math.sqrt(2.0) * f / root
        self._alphas = np.clip(self._alphas - step, -2.0, 2.0)
        self._suffered += losses[followed, np.arange(self.n_streams)]
        self._expert_losses += losses
        self._log_weights -= losses

    def _ranges(self, weighted: FloatArray, y: BoolArray) -> FloatArray:
        """max c - min c: the costs are + at the irrelevant end of a pair, - at the relevant one."""
        if self.n_labels == 2:
            return np.asarray(2.0 * weighted[0])
        magnitude = (self._contains @ weighted.reshape(len(weighted), -1)).reshape(
            self.n_labels, *weighted.shape[1:]
        )
        mask = y[:, None, :]
        return np.asarray((magnitude * ~mask).max(axis=0) + (magnitude * mask).max(axis=0))

    def weight_regrets(self) -> FloatArray:
        """Regret of every weight, (streams, learners): sum f_t(alpha_t) - min of sum f_t(alpha).

        The minimum is over alpha in [-2, 2]. f_t is convex, so it lies where the slope changes
        sign. Needs ``keep=True``.
        """
        if self._kept is None:
            raise ValueError("keep is False, but the regret needs the rounds: pass keep=True")
        # (rounds, learners, streams), then (rounds, pairs, learners, streams)
        alphas, before, x, w = (np.stack([kept[j] for kept in self._kept]) for j in range(4))

        def total(alpha: FloatArray) -> FloatArray:
            return np.asarray((np.logaddexp(0.0, before + alpha * x) * w).sum(axis=(0, 1)))

        low, high = np.full(self._alphas.shape, -2.0), np.full(self._alphas.shape, 2.0)
        for _ in range(40):
            middle = (low + high) / 2
            rising = (x * w / (1.0 + np.exp(-before - middle * x))).sum(axis=(0, 1)) > 0
            low, high = np.where(rising, low, middle), np.where(rising, middle, high)
        return (total(alphas[:, None]) - total((low + high) / 2)).T

    def histories(self) -> list[History]:
        """One `History` per stream, so far."""
        edges = np.divide(
            self._gain,
            self._weight_sums,
            out=np.zeros_like(self._gain),
            where=self._weight_sums > 0,
        )
        spreads = np.divide(
            self._spreads,
            self._weight_sums,
            out=np.zeros_like(self._spreads),
            where=self._weight_sums > 0,
        )
        adagrad = self.steps == "adagrad"
        return [
            History(
                algorithm="AdaOLMR",
                n_learners=self.n_learners,
                n_labels=self.n_labels,
                rounds=self.clock,
                label_set_sizes=self._label_set_sizes[b].copy(),
                edges=edges[:, b].copy(),
                weight_sums=self._weight_sums[:, b].copy(),
                max_weights=self._max_weights[:, b].copy(),
                expert_losses=self._expert_losses[:, b].copy(),
                suffered_loss=float(self._suffered[b]),
                steps=self.steps,
                slope_squares=self._slope_squares[:, b].copy() if adagrad else None,
                vote_spreads=spreads[:, b].copy() if adagrad else None,
            )
            for b in range(self.n_streams)
        ]


def ada_olmr(votes: ArrayLike, relevant: ArrayLike, seed: int = 0) -> History:
    """Ada.OLMR on the votes of one stream, (T, N) or (T, N, k).

    Examples
    --------
    >>> history = ada_olmr(np.zeros((50, 3), dtype=int), np.tile([True, False], (50, 1)))
    >>> history.suffered_loss  # the first round is a tie
    0.5
    """
    h, y = np.asarray(votes), np.asarray(relevant, dtype=bool)
    simulator = AdaSimulator(1, h.shape[1], y.shape[1], seed)
    simulator.run(h[None], y[None])
    return simulator.histories()[0]
