"""Partly known labels: an unknown label takes part in no pair. Against the reference and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import boostline as bl

N_FEATURES, N_LABELS = 3, 5


class Drifting:
    """A learner whose votes depend on all it was told, so that any difference in costs shows in later rounds."""

    def __init__(self, seed):
        self.table = np.random.default_rng(seed).random((N_FEATURES, N_LABELS))
        self.told = []

    def predict(self, x):
        votes = np.exp(np.clip(np.asarray(x) @ self.table, -5, 5))
        return votes / votes.sum()

    def learn(self, x, relevant, costs, weight):
        self.told.append((np.array(costs), float(weight)))
        self.table -= 0.3 * weight * np.outer(x, np.asarray(costs) - np.mean(costs))


def stream(n, seed):
    """Examples with relevant, irrelevant and unknown labels, some with no pair left."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        kind = rng.choice([0, 1, -1], size=N_LABELS, p=[0.4, 0.3, 0.3])
        yield (
            rng.normal(size=N_FEATURES),
            {int(i) for i in np.flatnonzero(kind == 1)},
            {int(i) for i in np.flatnonzero(kind == 0)},
            {int(i) for i in np.flatnonzero(kind == -1)},
        )


def pair(name):
    mine, theirs = [Drifting(i) for i in range(4)], [Drifting(i) for i in range(4)]
    if name == "ada_olmr":
        return (
            bl.AdaOLMR(N_LABELS, learners=mine, seed=3),
            bl.lab.reference.AdaOLMR(N_LABELS, theirs, seed=3),
            mine,
            theirs,
        )
    return (
        bl.OnlineBMR(N_LABELS, learners=mine, edge=0.1, seed=3),
        bl.lab.reference.OnlineBMR(N_LABELS, theirs, edge=0.1),
        mine,
        theirs,
    )


@pytest.mark.parametrize("name", ["ada_olmr", "online_bmr"])
def test_the_core_is_the_reference(name):
    core, reference, mine, theirs = pair(name)
    for x, relevant, _, unknown in stream(60, 0):
        np.testing.assert_allclose(
            core.learn(x, relevant, unknown=unknown),
            reference.learn(x, relevant, unknown=unknown),
            atol=1e-9,
        )
    np.testing.assert_allclose(core.diagnostics.expert_losses, reference.expert_losses, atol=1e-9)
    np.testing.assert_allclose(core.edges(), reference.edges(), atol=1e-9)
    for one, other in zip(mine, theirs, strict=True):
        told = [t for t in one.told if t[1] > 0]
        heard = [t for t in other.told if t[1] > 0]
        assert len(told) == len(heard)
        for (costs, weight), (reference_costs, reference_weight) in zip(told, heard, strict=True):
            np.testing.assert_allclose(costs, reference_costs, atol=1e-8)
            assert weight == pytest.approx(reference_weight, abs=1e-9)


def test_costs_are_sums_over_the_known_pairs_alone():
    """Ada.OLMR, the first learner, s^0 = 0: every known pair has the slope 1/2, by hand."""
    learner = Drifting(0)
    model = bl.AdaOLMR(N_LABELS, learners=[learner])
    for x, relevant, irrelevant, unknown in stream(40, 1):
        n = len(learner.told)
        model.learn(x, relevant, unknown=unknown)
        raw = np.zeros(N_LABELS)
        for good, bad in itertools.product(relevant, irrelevant):
            raw[good] -= 0.5 / (len(relevant) * len(irrelevant))
            raw[bad] += 0.5 / (len(relevant) * len(irrelevant))
        if not relevant or not irrelevant:
            assert all(weight == 0 for _, weight in learner.told[n:])
            continue
        costs, weight = learner.told[-1]
        np.testing.assert_allclose(costs * weight + raw.min(), raw, atol=1e-12)
        assert weight == pytest.approx(raw.max() - raw.min())


def test_expert_losses_are_means_over_the_known_pairs_alone():
    model = bl.OnlineBMR(N_LABELS, learners=[Drifting(0), Drifting(1)], edge=0.1)
    expected = 0.0
    for x, relevant, irrelevant, unknown in stream(40, 2):
        scores = model.learn(x, relevant, unknown=unknown)
        wrong = [
            float(scores[good] < scores[bad]) + 0.5 * float(scores[good] == scores[bad])
            for good, bad in itertools.product(relevant, irrelevant)
        ]
        expected += float(np.mean(wrong)) if wrong else 0.0
    assert model.suffered_loss == pytest.approx(expected)
