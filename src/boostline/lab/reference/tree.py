"""The Hoeffding tree (VFDT) that takes importance weights: the paper's weak learner (Section 4).

It is a single-label learner: of each example it hears every relevant label once, in ascending
order, with importance weight_scale * weight * (1 - costs[l]), and it votes with the share of each
label in the leaf that x falls into.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from boostline.lab.reference.losses import BoolArray, FloatArray, smallest_positive

PRIOR_MASS = 1.0  # a label starts with it where it is first seen, and votes with it where it is not
N_THRESHOLDS = 10  # candidates for each covariate, evenly between its least and greatest value
MIN_BRANCH = 0.01  # share of the weight that each branch must exceed
MIN_VARIANCE = 1e-12
FAR_OUT = 12.0  # standard deviations; further out a share of 2e-33 is as good as a smaller one
GAIN_TIE = 1e-9  # gains that differ by no more are tied
MASS_TIE = 1e-9  # and so are masses, for single_label; of the heaviest
LEAST_TOTAL = 1e-300  # of the masses in a leaf; the shares of smaller ones are not exact
MOST_IMPORTANCE = 1e60  # keeps sums of squares finite
# What the compiled tree takes, for the cap on its memory: the tree, and what it keeps for each covariate;
# nodes in pages (the way through a node, what it knows), with two lists of the pages; a label in a leaf; and
# for each covariate the statistics of a label and the range of a leaf that has any.
TREE_BYTES, COVARIATE_BYTES = 248, 12
NODE_BYTES, NODES_IN_A_PAGE, PAGE_BYTES = 88, 16, 16
LABEL_BYTES = 16
STATISTICS_BYTES, RANGE_BYTES = 40, 16

_erfc = np.frompyfunc(math.erfc, 1, 1)


def room_for(n: int) -> int:
    """Return the room of a growing list of n records: n rounded up to three significant bits."""
    step = 1 << max(0, n.bit_length() - 3)
    return -(-n // step) * step


def nodes_bytes(n: int) -> int:
    n_pages = -(-n // NODES_IN_A_PAGE)
    return NODE_BYTES * NODES_IN_A_PAGE * n_pages + PAGE_BYTES * room_for(n_pages)


def labels_bytes(n: int) -> int:
    return LABEL_BYTES * room_for(n)


def statistics_bytes(n: int, n_features: int) -> int:
    if n == 0:
        return 0
    return n_features * (RANGE_BYTES + STATISTICS_BYTES * room_for(n))


class Split(NamedTuple):
    """x[feature] <= threshold goes left; NaN goes to the branch that was heavier."""

    feature: int  # a covariate of x
    threshold: float
    left: int  # positions in `HoeffdingTree.nodes`
    right: int
    nan_left: bool


class Leaf:
    """Masses of the labels (0: not in the table), and a Gaussian for each label and covariate."""

    def __init__(self, masses: FloatArray, n_features: int) -> None:
        shape = (masses.size, n_features)
        self.masses = masses
        self.weight_at_last_try = float(masses.sum())
        self.weight = np.zeros(shape)
        self.mean = np.zeros(shape)
        self.m2 = np.zeros(shape)  # weighted sum of squares about the mean
        self.low = np.full(shape, np.inf)
        self.high = np.full(shape, -np.inf)
        self.observed = np.zeros(masses.size, dtype=bool)  # labels that have statistics
        self.active = True  # until the cap on memory stops its growth

    def memory_bytes(self, n_features: int) -> int:
        """Return what the leaf's table and statistics take in the compiled tree."""
        n_labels, n_observed = int((self.masses > 0).sum()), int(self.observed.sum())
        return labels_bytes(n_labels) + statistics_bytes(n_observed, n_features)

    def observe(self, label: int, values: FloatArray, q: float) -> None:
        """Welford's update for each covariate, with importance q."""
        self.observed[label] = True
        known = np.flatnonzero(~np.isnan(values))
        at = (label, known)
        value = values[known]
        self.weight[at] += q
        delta = value - self.mean[at]
        self.mean[at] += delta * q / self.weight[at]
        self.m2[at] += q * delta * (value - self.mean[at])
        self.low[at] = np.minimum(self.low[at], value)
        self.high[at] = np.maximum(self.high[at], value)


class HoeffdingTree:
    """Importance-weighted Hoeffding tree with Gaussian statistics.

    Parameters
    ----------
    n_labels : int
    grace_period : float
        Weight that a leaf must gain (strictly more) between two attempts to split it.
    split_confidence : float
        delta in the Hoeffding bound R sqrt(ln(1/delta) / 2n).
    tie_threshold : float
        Split anyway once the bound is below it.
    weight_scale : float
        Multiplies the importance weights.
    features : sequence of int
        The covariates of x that the tree looks at.
    single_label : bool
        Vote for the heaviest label alone (the lowest one at ties).
    max_bytes : int or None
        Cap on the memory that the compiled tree holds.

    Gains that differ by no more than `GAIN_TIE` are tied, and the first of them wins: otherwise
    rounding would decide between covariates that tie in exact arithmetic (which is common in
    small leaves: two points of a label are alike on every covariate).

    Attributes
    ----------
    nodes : list of Split or Leaf
        In the order of creation, the root first; a leaf that splits turns into a `Split` in its
        place, its children are appended, left before right.
    closest_decision : float
        How near the nearest decision of the last `learn` came to falling otherwise.
    vote_gap : float
        For single_label: how near the last `predict` came to voting for another label.

    >>> tree = HoeffdingTree(2, 10, 0.5, 0.1, 1.0, features=[0])
    >>> tree.predict(np.array([0.0])).tolist()
    [0.5, 0.5]
    >>> for t in range(20):
    ...     label = t % 2
    ...     y = np.array([label == 0, label == 1])
    ...     tree.learn(np.array([float(label)]), y, costs=1.0 - y, weight=1.0)
    >>> tree.structure[0]   # covariate 0 at 1/11, children 1 and 2
    (0, 0.09090909090909091, 1, 2)
    """

    def __init__(
        self,
        n_labels: int,
        grace_period: float,
        split_confidence: float,
        tie_threshold: float,
        weight_scale: float,
        features: Sequence[int] | npt.NDArray[np.integer],
        single_label: bool = False,
        max_bytes: int | None = None,
    ) -> None:
        self.n_labels = n_labels
        self.grace_period = grace_period
        self.split_confidence = split_confidence
        self.tie_threshold = tie_threshold
        self.weight_scale = weight_scale
        self.features = np.asarray(features, dtype=np.intp)
        self.single_label = single_label
        self.max_bytes = max_bytes
        self.nodes: list[Split | Leaf] = [Leaf(np.zeros(n_labels), self.features.size)]
        self.closest_decision = math.inf
        self.vote_gap = math.inf

    def find(self, x: FloatArray) -> tuple[int, Leaf]:
        """Return the leaf of x, and its position in `nodes`."""
        at = 0
        while isinstance(node := self.nodes[at], Split):
            value = x[node.feature]
            left = node.nan_left if math.isnan(value) else value <= node.threshold
            at = node.left if left else node.right
        return at, node

    def predict(self, x: FloatArray) -> FloatArray:
        """Return the share of each label in the leaf, a label not seen there having mass 1."""
        _, leaf = self.find(x)
        masses = np.where(leaf.masses > 0, leaf.masses, PRIOR_MASS)
        if not self.single_label:
            if masses.sum() < LEAST_TOTAL:
                return np.full(self.n_labels, 1.0 / self.n_labels)
            shares: FloatArray = masses / masses.sum()
            return shares
        votes = np.zeros(self.n_labels)
        enough = masses.max() * (1.0 - MASS_TIE)
        votes[np.argmax(masses >= enough)] = 1.0
        self.vote_gap = float(abs(masses - enough).min())
        return votes

    def learn(self, x: FloatArray, relevant: BoolArray, costs: FloatArray, weight: float) -> None:
        """Learn each relevant label, weighted by how much cheaper it is than the dearest label."""
        self.closest_decision = math.inf
        values = np.asarray(x, dtype=np.float64)[self.features]
        for label in np.flatnonzero(relevant):
            q = min(float(self.weight_scale * weight * (1.0 - costs[label])), MOST_IMPORTANCE)
            if q > 0:
                at, leaf = self.find(x)  # anew, since the label before may have split it
                if self._add_mass(leaf, int(label), q) and self._has_statistics(leaf, int(label)):
                    leaf.observe(int(label), values, q)
                    self._consider_split(at, leaf)

    def _add_mass(self, leaf: Leaf, label: int, q: float) -> bool:
        """Add to a label's mass; False if there is no room for a label that is new here."""
        if leaf.masses[label] == 0:
            n = int((leaf.masses > 0).sum())
            if not self._make_room(labels_bytes(n + 1) - labels_bytes(n)):
                return False
            leaf.masses[label] = PRIOR_MASS
        leaf.masses[label] += q
        return True

    def _has_statistics(self, leaf: Leaf, label: int) -> bool:
        """Whether the leaf grows and has, or can get, room for the label's statistics."""
        if leaf.active and not leaf.observed[label]:
            n, d = int(leaf.observed.sum()), self.features.size
            self._make_room(statistics_bytes(n + 1, d) - statistics_bytes(n, d))
        return leaf.active

    def memory_bytes(self) -> int:
        """Return what the compiled tree takes, which `max_bytes` caps."""
        d = self.features.size
        leaves = sum(leaf.memory_bytes(d) for leaf in self.nodes if isinstance(leaf, Leaf))
        return TREE_BYTES + COVARIATE_BYTES * d + nodes_bytes(len(self.nodes)) + leaves

    def _make_room(self, extra: int) -> bool:
        """Stop the growth of the least promising leaves until `extra` bytes fit under the cap."""
        while self.max_bytes is not None and self.memory_bytes() + extra > self.max_bytes:
            growing = [n for n in self.nodes if isinstance(n, Leaf) and n.active]
            if not growing:
                return False
            promise = np.array([n.masses.sum() - n.masses.max(initial=0.0) for n in growing])
            least = growing[int(np.argmin(promise))]
            self._note(smallest_positive(promise - promise.min()))
            least.active = False
            least.observed[:] = False
        return True

    def _consider_split(self, at: int, leaf: Leaf) -> None:
        """Try to split once the leaf has gained the grace period."""
        total = float(leaf.masses.sum())
        gained = total - leaf.weight_at_last_try
        self._note(abs(gained - self.grace_period))
        if gained <= self.grace_period:
            return
        leaf.weight_at_last_try = total
        n_seen = int((leaf.masses > 0).sum())
        if n_seen < 2:
            return
        bound = math.log2(max(2, n_seen)) * math.sqrt(
            math.log(1.0 / self.split_confidence) / (2.0 * total)
        )
        self._note(abs(bound - self.tie_threshold))
        f, thresholds, left, right, gains = self._candidates(leaf)
        if not np.isfinite(gains).any():
            return
        best_of = gains.max(axis=1)  # of each covariate; -inf where it has no candidate
        i = int(np.argmax(best_of >= best_of.max() - GAIN_TIE))  # the first at ties
        j = int(np.argmax(gains[i] >= best_of[i] - GAIN_TIE))
        others = np.delete(best_of, i)
        others = others[np.isfinite(others)]
        second = float(others.max()) if others.size else 0.0
        lead = float(gains[i, j]) - second
        self._note(abs(lead - bound))
        if not (lead > bound or bound < self.tie_threshold):
            return
        goes_left, goes_right = left[:, i, j], right[:, i, j]
        new_leaves = [Leaf(m.copy(), self.features.size) for m in (goes_left, goes_right)]
        if self.max_bytes is not None and self._bytes_after(leaf, new_leaves) > self.max_bytes:
            return
        behind = best_of.max() - gains
        behind[i] = best_of[i] - gains[i]
        from_tie = abs(behind - GAIN_TIE)  # what is far nearer, or farther, is no near tie
        self._note(float(from_tie[from_tie < GAIN_TIE / 2].min(initial=np.inf)))
        heavier = abs(float(goes_left.sum() - goes_right.sum()))
        self._note(heavier if heavier > 0 else math.inf)
        self.nodes[at] = Split(
            feature=int(self.features[f[i]]),
            threshold=float(thresholds[i, j]),
            left=len(self.nodes),
            right=len(self.nodes) + 1,
            nan_left=bool(goes_left.sum() >= goes_right.sum()),
        )
        self.nodes += new_leaves  # exactly its share for each: no prior, no statistics

    def _bytes_after(self, leaf: Leaf, new_leaves: list[Leaf]) -> int:
        """Return what the tree takes when two new leaves have taken the place of one."""
        d, n = self.features.size, len(self.nodes)
        return (
            self.memory_bytes()
            + nodes_bytes(n + 2)
            - nodes_bytes(n)
            + sum(new.memory_bytes(d) for new in new_leaves)
            - leaf.memory_bytes(d)
        )

    def _candidates(
        self, leaf: Leaf
    ) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return covariates (F,), thresholds (F, 10), masses left and right (k, F, 10), gains."""
        low, high = leaf.low.min(axis=0), leaf.high.max(axis=0)
        f = np.flatnonzero(high > low)
        steps = np.arange(1, N_THRESHOLDS + 1)
        t = low[f, None] + (high - low)[f, None] * steps / (N_THRESHOLDS + 1)

        w = leaf.weight[:, f, None]
        variance = np.divide(leaf.m2[:, f, None], w, out=np.zeros_like(w), where=w > 0)
        sd = np.sqrt(np.maximum(variance, MIN_VARIANCE))
        left = np.where(t >= leaf.high[:, f, None], w, 0.0)  # (k, F, 10): whole, or not at all,
        inside = (t >= leaf.low[:, f, None]) & (t < leaf.high[:, f, None])  # or by the Gaussian
        z = np.clip((t - leaf.mean[:, f, None]) / sd, -FAR_OUT, FAR_OUT)[inside]
        whole = np.broadcast_to(w, left.shape)[inside]
        right = w - left
        left[inside] = whole * (0.5 * _erfc(-z / math.sqrt(2.0)).astype(np.float64))
        right[inside] = whole * (0.5 * _erfc(z / math.sqrt(2.0)).astype(np.float64))

        total = w.sum(axis=0)  # W_f (F, 1)
        w_left, w_right = left.sum(axis=0), right.sum(axis=0)
        floor = MIN_BRANCH * total
        allowed = (w_left > floor) & (w_right > floor)
        if f.size:
            self._note(float(np.minimum(abs(w_left - floor), abs(w_right - floor)).min()))
        observed = leaf.weight.sum(axis=0).max()  # W_obs: a covariate that is often NaN gains less
        gain = _entropy(w) - (w_left * _entropy(left) + w_right * _entropy(right)) / total
        gain = np.maximum(gain, 0.0)  # below 0 by rounding only
        return f, t, left, right, np.where(allowed, gain * total / observed, -np.inf)

    def _note(self, distance: float) -> None:
        self.closest_decision = min(self.closest_decision, distance)

    @property
    def structure(self) -> list[tuple[int, float, int, int]]:
        """(feature, threshold, left, right) of each node; (-1, 0.0, -1, -1) for a leaf."""
        return [
            (node.feature, node.threshold, node.left, node.right)
            if isinstance(node, Split)
            else (-1, 0.0, -1, -1)
            for node in self.nodes
        ]

    @property
    def leaf_masses(self) -> dict[int, FloatArray]:
        """Masses of each leaf by its position in `nodes`, 0 for a label not in its table."""
        return {i: node.masses for i, node in enumerate(self.nodes) if isinstance(node, Leaf)}


def _entropy(masses: FloatArray) -> FloatArray:
    """Entropy in bits along the labels (the first axis), 0 log 0 being 0."""
    total = masses.sum(axis=0)
    p = np.divide(masses, total, out=np.zeros_like(masses), where=total > 0)
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    entropy: FloatArray = -(p * logs).sum(axis=0)
    return entropy
