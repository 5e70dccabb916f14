"""Losses: their values against direct sums, their properties, and refusals."""

import json
import math

import numpy as np
import pytest

from boostline import losses
from boostline.losses import Exponential, GeneralLoss, Hinge, Logistic, PairwiseLoss, Rank


def test_values_are_the_papers_double_sums():
    rng = np.random.default_rng(0)
    formulas = {
        Rank(): lambda sl, sr: float(sl < sr) + 0.5 * (sl == sr),
        Hinge(): lambda sl, sr: max(0.0, 1 + sr - sl),
        Hinge(0.3): lambda sl, sr: max(0.0, 0.3 + sr - sl),
        Logistic(): lambda sl, sr: math.log(1 + math.exp(sr - sl)),
        Exponential(): lambda sl, sr: math.exp(sr - sl),
    }
    for _ in range(20):
        k = int(rng.integers(2, 7))
        relevant = rng.random(k) < 0.5
        relevant[:2] = [True, False]
        s = rng.integers(-3, 4, k) / 2
        pairs = [(x, y) for x in s[relevant] for y in s[~relevant]]
        for loss, formula in formulas.items():
            expected = sum(formula(x, y) for x, y in pairs) / len(pairs)
            assert loss.value(relevant, s) == pytest.approx(expected, rel=1e-12)


def test_no_pair_means_no_loss():
    for relevant in (np.zeros(3, bool), np.ones(3, bool)):
        for loss in (Rank(), Hinge(), GeneralLoss(lambda y, s: 1.0)):
            assert loss.value(relevant, np.zeros(3)) == 0.0


def test_unknown_labels_form_no_pair():
    relevant, irrelevant = np.array([True, False, False]), np.array([False, True, False])
    assert Rank().value(relevant, [0.0, -1.0, 5.0], irrelevant) == 0.0


@pytest.mark.parametrize("loss", [Hinge(), Hinge(1.7), Logistic(), Exponential(), Rank()])
def test_rank_loss_is_at_most_factor_times_the_loss(loss):
    d = np.append(np.linspace(-5, 5, 2001), [1e-12, -1e-12])
    assert (Rank().pair(d) <= loss.rank_factor * loss.pair(d) + 1e-12).all()


def test_hinge_without_margin_does_not_dominate_rank_loss():
    assert Hinge(0.0).rank_factor == math.inf


def test_properties_of_user_written_losses():
    cases = [
        (lambda d: np.maximum(1 + d, 0) ** 2, True, True),
        (lambda d: 1 / (1 + np.exp(-d)), True, False),
        (lambda d: np.clip(d, -1, 1), True, False),
        (lambda d: d**2, False, True),
        (np.sin, False, False),
        (lambda d: 1e12 * np.maximum(1 + d, 0), True, True),
    ]
    for function, proper, convex in cases:
        loss = PairwiseLoss(function)
        assert (loss.proper, loss.convex) == (proper, convex)


def test_properties_of_general_losses():
    def worst_pair(relevant, scores):
        return max(0.0, 1 + scores[~relevant].max() - scores[relevant].min())

    def backwards(relevant, scores):
        return scores[relevant].mean()

    assert (GeneralLoss(worst_pair).proper, GeneralLoss(worst_pair).convex) == (True, True)
    assert not GeneralLoss(backwards).proper
    batched = GeneralLoss(
        lambda y, s: np.maximum(0, 1 + s[:, ~y].max(1) - s[:, y].min(1)), vectorised=True
    )
    y, s = np.array([True, False, True]), np.array([0.5, 0.25, -1.0])
    assert batched.value(y, s) == GeneralLoss(worst_pair).value(y, s) == 2.25


def test_check_use_refuses_with_a_reason():
    losses.check_use(Rank(), single_label_votes=True)
    losses.check_use(Hinge(), single_label_votes=False)
    with pytest.raises(ValueError, match=r"'rank' is not convex.*single label"):
        losses.check_use(Rank(), single_label_votes=False)
    with pytest.raises(ValueError, match=r"'parabola' is not proper.*falls at d = -130"):
        losses.check_use(PairwiseLoss(lambda d: d**2, "parabola"), single_label_votes=True)
    with pytest.raises(ValueError, match=r"bends down at d = 0\.0"):
        losses.check_use(PairwiseLoss(lambda d: np.minimum(d, 0)), single_label_votes=False)


def test_bad_functions_are_refused_at_once():
    with pytest.raises(ValueError, match=r"not finite at d = -130\.0"), np.errstate(all="ignore"):
        PairwiseLoss(np.log)
    with pytest.raises(ValueError, match="vectorised"):
        PairwiseLoss(lambda d: 1.0)
    with pytest.raises(ValueError, match="not finite"):
        GeneralLoss(lambda y, s: math.nan)
    for margin in (-1, 2e6, math.inf, math.nan):
        with pytest.raises(ValueError, match=rf"margin is {margin}, but must be in"):
            Hinge(margin)


def test_configuration_round_trip_through_json():
    for loss in (Rank(), Hinge(0.25), Logistic(), Exponential()):
        again = losses.get(json.loads(json.dumps(loss.config())))
        assert again == loss and hash(again) == hash(loss)
    with pytest.raises(ValueError, match="'mine' was written by a user"):
        losses.get(PairwiseLoss(np.exp, "mine").config())
    with pytest.raises(ValueError, match="loss is 'hing', but must be one of rank, hinge"):
        losses.get("hing")
    assert Hinge(1.0) != Hinge(0.5)
