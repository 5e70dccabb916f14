"""Bounds of models other than the paper's: a moving edge, other experts, other losses."""

import copy
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

import boostline as bl
from boostline.lab.theory import adversary, bounds
from boostline.lab.theory.binomial import binomial_tail
from boostline.models.online_bmr import PERIOD


def toy(n=200, d=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :k] + 0.5 * rng.normal(size=(n, k)) > 0.4


def brute_one_error(relevant, scores):
    """The share of irrelevant labels among those tied at the top."""
    top = scores == scores.max()
    return (top & ~relevant).sum() / top.sum()


def brute_rank_loss(relevant, scores):
    gaps = scores[~relevant][:, None] - scores[relevant][None, :]
    return ((gaps > 0) + 0.5 * (gaps == 0)).mean()


# ---- the edge that follows the learners ------------------------------------------------------


def auto_model(rounds, loss="rank", k=3):
    stream = adversary.Adversary(k, 0.08, 12).stream(rounds, seed=0)
    model = bl.OnlineBMR(k, learners=stream.learners(), edge="auto", loss=loss)
    used = []
    for x, y in stream:
        used.append(model.edge)
        model.learn(x, y)
    return model, used


# At the end of a period, and between two looks.
@pytest.mark.parametrize("rounds", [12 * PERIOD, 12 * PERIOD + 11])
def test_with_a_moving_edge_the_realised_bound_is_still_an_equality(rounds):
    model, used = auto_model(rounds)
    assert len(set(used)) > 2, "the edge must move for this to test anything"
    bound = bounds.bmr_realised(model)
    assert bound.total == pytest.approx(model.suffered_loss, rel=1e-9)
    assert bound.terms["potential"] == model.diagnostics.promised_loss


def test_with_a_moving_edge_what_is_stated_for_one_edge_is_refused():
    model, _ = auto_model(100, loss="hinge")
    for statement in (bounds.bmr_general, bounds.bmr_corollary):
        with pytest.raises(ValueError, match="bmr_realised hold for an edge that moves"):
            statement(model)
    found = bounds.report(model)
    assert [bound.name for bound in found] == [
        "OnlineBMR, best edge in hindsight",
        "OnlineBMR, realised edges (edge='auto')",
    ]
    assert all(bound.holds for bound in found)
    assert set(found.refused) == {"OnlineBMR, general theorem", "OnlineBMR, corollary"}
    assert "does not apply: the edge was learned" in str(found)


def test_the_certificate_survives_copies_and_general_votes():
    X, Y = toy(330)
    model = bl.OnlineBMR(4, learners=bl.learners.paper_trees(10), edge="auto")
    model.learn(X[:140], Y[:140])
    twin = copy.deepcopy(model)
    for one in (model, twin):
        one.learn(X[140:], Y[140:])
    bound = bounds.bmr_realised(twin)
    assert bound.holds
    assert bound.total == bounds.bmr_realised(model).total


# ---- experts, restarts, limits ---------------------------------------------------------------


def test_only_the_drawn_expert_has_hedges_bound():
    X, Y = toy()
    for expert in ("weighted", "best", "last"):
        model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), expert=expert)
        model.learn(X, Y)
        found = bounds.report(model)
        assert [bound.name for bound in found] == [
            "Ada.OLMR, best expert",
            "Ada.OLMR, progress of the logistic loss",
        ]
        assert all(bound.holds for bound in found)
        assert len(found.refused) == 3
        with pytest.raises(ValueError, match=f"expert='{expert}'.*use expert='draw'"):
            bounds.hedge(model)


def test_a_loss_that_does_not_split_into_pairs_is_refused_with_the_reason():
    loss = bl.losses.GeneralLoss(brute_one_error, name="one-error", n_labels=4)
    X, Y = toy(6)
    trees = bl.learners.paper_trees(2, single_label=True)
    model = bl.OnlineBMR(4, learners=trees, edge=0.1, loss=loss)
    model.learn(X, Y)
    found = bounds.report(model)
    assert not found
    assert all("does not split into pairs" in why for why in found.refused.values())
    with pytest.raises(ValueError, match=r"edge is 'auto', but must be a number.*into pairs"):
        bl.OnlineBMR(4, learners=trees, edge="auto", loss=loss)


# ---- the recommended model -------------------------------------------------------------------


def test_the_recommended_model_has_a_bound_of_its_own():
    X, Y = toy(30)
    model = bl.LabelRanker(4)
    model.learn(X, Y)
    (found,) = bounds.report(model)
    assert found.holds and "LabelRanker" in found.name
    with pytest.raises(ValueError, match=r"Ada\.OLMR's: use label_ranker"):
        bounds.hedge(model)
    with pytest.raises(ValueError, match="this bound is LabelRanker's"):
        bounds.label_ranker(bl.AdaOLMR(4, learners=bl.learners.paper_trees(2)))


# ---- other surrogates: why the paper's is used, and what a consistent one would be --------------


def test_one_error_is_at_most_the_irrelevant_labels_times_rank_loss():
    """All label sets and all scores from {0, 1, 2}, ties and all, up to k = 4."""
    for k in (2, 3, 4):
        for bits in itertools.product([False, True], repeat=k):
            y = np.array(bits)
            if not y.any() or y.all():
                continue
            for scores in itertools.product(range(3), repeat=k):
                s = np.array(scores, float)
                assert brute_one_error(y, s) <= (~y).sum() * brute_rank_loss(y, s) + 1e-12


def test_200_streams_keep_hedges_bound():
    found = []
    for seed in range(200):
        X, Y = toy(100, seed=seed)
        model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(4), seed=seed)
        model.learn(X, Y)
        found.append(bounds.hedge(model, delta=0.1))
    failures = sum(not bound.holds for bound in found)
    assert binomial_tail(failures, 200, 0.1) > 1e-3


@pytest.mark.gate
def test_the_centred_univariate_loss_is_consistent_where_the_pairwise_one_is_not():
    """Minimisers of the conditional risk, for random laws of the label set of one example.

    The best order is by Delta_l = E[w_Y; l in Y] (Dembczynski et al. 2012).
    """
    k = 3
    sets = [np.array(y, bool) for y in itertools.product([0, 1], repeat=k) if 0 < sum(y) < k]
    weights = [1 / (y.sum() * (~y).sum()) for y in sets]

    def pairwise(s, p):
        return sum(
            q * w * np.log1p(np.exp(s[~y][:, None] - s[y][None])).sum()
            for q, w, y in zip(p, weights, sets, strict=True)
        )

    def univariate(s, p):
        f = s - s.mean()
        return sum(
            q * w * (np.log1p(np.exp(-f[y])).sum() + np.log1p(np.exp(f[~y])).sum())
            for q, w, y in zip(p, weights, sets, strict=True)
        )

    rng = np.random.default_rng(0)
    wrong = {pairwise: 0, univariate: 0}
    for p in rng.dirichlet(np.full(len(sets), 0.5), size=120):
        delta = sum(q * w * y for q, w, y in zip(p, weights, sets, strict=True))
        order = np.argsort(delta)
        if np.diff(delta[order]).min() < 0.01:
            continue
        # By brute force: no order has a smaller rank loss.
        risks = {
            best: sum(
                q * brute_rank_loss(y, np.argsort(best).astype(float))
                for q, y in zip(p, sets, strict=True)
            )
            for best in itertools.permutations(range(k))
        }
        assert risks[tuple(order)] == pytest.approx(min(risks.values()))
        for risk in wrong:
            found = minimize(risk, np.zeros(k), args=(p,)).x
            wrong[risk] += (np.argsort(found) != order).any()
    assert wrong[univariate] == 0
    assert wrong[pairwise] > 0
