"""Bounds of models other than the paper's: a moving edge, other experts, the mixture, other surrogates and targets."""

import copy
import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import boostline as bl
from boostline.boosters._edge_search import LEVELS, PERIOD, EdgeSearch
from boostline.theory import History, adversary, bounds
from boostline.theory.binomial import binomial_tail


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


# At the end of a period, and between two looks. No edge on the grid is clipped for |Y| <= 2.
@pytest.mark.parametrize("rounds", [12 * PERIOD, 12 * PERIOD + 11])
def test_with_a_moving_edge_the_realised_bound_is_still_an_equality(rounds):
    model, used = auto_model(rounds)
    assert len(set(used)) > 2, "the edge must move for this to test anything"
    bound = bounds.bmr_realised(model)
    assert bound.total == pytest.approx(model.suffered_loss, rel=1e-9)
    assert bound.terms["potential"] == model.promised_loss


def test_with_a_moving_edge_what_is_stated_for_one_edge_is_refused():
    model, _ = auto_model(100, loss="hinge")
    for statement in (bounds.bmr_general, bounds.bmr_corollary):
        with pytest.raises(ValueError, match="bmr_realised holds for an edge that moves"):
            statement(model)
    found = bounds.report(model)
    assert [bound.name for bound in found] == ["OnlineBMR, realised edges (edge='auto')"]
    assert found[0].holds
    assert set(found.refused) == {"OnlineBMR, general theorem", "OnlineBMR, corollary"}
    assert "does not apply: the edge followed the learners" in str(found)


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


def test_following_the_realised_edge_leaves_the_moves_of_the_edge():
    """docs/theory.md: sum of gamma_t D_t - n_t is that of W_t (gamma_t - gamma_{t+1}), up to the grid."""
    rng = np.random.default_rng(1)
    D = rng.uniform(10, 20, 400)
    n = D * rng.uniform(0.02, 0.2, 400)
    search = EdgeSearch()
    used, exact, weight, gain = [], [search.edge], 0.0, 0.0
    for a, b in zip(n.cumsum(), D.cumsum(), strict=True):
        used.append(search.edge)
        search.look(a, b)
        decay = 0.5 ** (PERIOD / 500)
        before = b - (D.cumsum()[len(used) - 2] if len(used) > 1 else 0.0)
        weight = decay * weight + before
        gain = decay * gain + n[len(used) - 1]
        exact.append(gain / weight)
        # The grid's levels are a factor 1.4 apart.
        assert abs(math.log(search.edge / exact[-1])) <= 0.51 * math.log(LEVELS[1] / LEVELS[0])
    assert search.assumed == pytest.approx(float(np.dot(used, D)), rel=1e-12)
    gamma = np.array(exact)
    W = [0.0]
    for step in D:
        W.append(0.5 ** (PERIOD / 500) * W[-1] + step)
    moves = float(np.dot(W[1:], gamma[:-1] - gamma[1:]))
    assert float(np.dot(gamma[:-1], D) - n.sum()) == pytest.approx(moves, rel=1e-9)
    # and this stays bounded: it is not the sum of 400 errors of one sign
    assert abs(moves) < max(W) * np.ptp(gamma) + np.abs(np.diff(W)).sum() * gamma.max()


# ---- experts, restarts, limits ---------------------------------------------------------------


def test_only_the_drawn_expert_has_hedges_bound():
    X, Y = toy()
    for expert in ("weighted", "best", "last"):
        model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), expert=expert)
        model.learn(X, Y)
        found = bounds.report(model)
        assert [bound.name for bound in found] == ["Ada.OLMR, progress of the logistic loss"]
        assert found[0].holds
        assert len(found.refused) == 3
        with pytest.raises(ValueError, match=f"expert='{expert}'.*use expert='draw'"):
            bounds.hedge(model)


def test_a_restarted_booster_is_refused():
    X, Y = toy(50)
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), drift="restart")
    model.learn(X, Y)
    history = History.of(model)
    assert history.restarts == 0 and len(bounds.report(history)) == 4
    found = bounds.report(dataclasses.replace(history, restarts=2))
    assert not found and all("started anew 2 times" in why for why in found.refused.values())


def test_other_limits_of_the_weights():
    X, Y = toy(400)
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(6), weight_limit=1.0)
    model.learn(X, Y)
    with pytest.raises(ValueError, match=r"weight_limit is 1\.0, but"):
        bounds.ada_olmr(model)
    progress = bounds.logistic_progress(model)
    assert progress.holds
    assert progress.terms["regret of the weights"] == pytest.approx(6 * 3 * math.sqrt(400))
    alpha = np.linspace(-1, 1, 20_001)
    for gamma in np.linspace(0, 1, 21):
        direct = 1 - ((1 + gamma) / 2 * np.exp(-alpha) + (1 - gamma) / 2 * np.exp(alpha)).min()
        assert bounds.edge_gain(gamma, 1.0) == pytest.approx(direct, abs=1e-7)


def test_a_loss_that_does_not_split_into_pairs_is_refused_with_the_reason():
    loss = bl.losses.GeneralLoss(brute_one_error, name="one-error", n_labels=4)
    X, Y = toy(6)
    for edge in (0.1, "auto"):
        trees = bl.learners.paper_trees(2, single_label=True)
        model = bl.OnlineBMR(4, learners=trees, edge=edge, loss=loss)
        model.learn(X, Y)
        found = bounds.report(model)
        assert not found
        assert all("does not split into pairs" in why for why in found.refused.values())


# ---- the mixture -----------------------------------------------------------------------------


def test_hedge_of_the_mixture_is_over_the_prefixes_of_three_chains():
    X, Y = toy(120)
    model = bl.AdaOLMR(
        4, learners=bl.learners.paper_trees(5), combine="mixture", expert="draw", drift=None
    )
    model.learn(X[:1], Y[:1])
    start = History.of(model).hedge_losses
    total = np.zeros((3, 5))
    for x, y in zip(X[1:], Y[1:], strict=True):
        chains = model.state()["arrays"]["chain_weights"].reshape(3, 5)
        votes = model.votes(x)
        model.learn(x, y)
        if y.any() and not y.all():
            prefixes = np.cumsum(chains[:, :, None] * votes[None], axis=1)
            total += [[brute_rank_loss(y, s) for s in chain] for chain in prefixes]
    bound = bounds.hedge(model)
    best = (start + total.ravel()).min()
    ranked = (Y.any(axis=1) & ~Y.all(axis=1)).sum()
    expected = (best + math.log(15)) / (1 - 1 / math.e) + math.sqrt(ranked * math.log(20) / 2)
    assert bound.total == pytest.approx(expected, rel=1e-9)
    assert bound.name == "Ada.OLMR, Hedge over 15 experts"
    found = bounds.report(model)
    assert [b.name for b in found] == [bound.name]
    assert all("combine='mixture'" in why for why in found.refused.values())


def test_the_default_model_has_no_bound_and_says_why():
    X, Y = toy(30)
    model = bl.AdaOLMR(4)
    model.learn(X, Y)
    found = bounds.report(model)
    assert not found
    assert "expert='weighted'" in found.refused["Ada.OLMR, Hedge"]
    assert "combine='mixture'" in found.refused["Ada.OLMR, corrected theorem"]


# ---- another target, another surrogate -------------------------------------------------------


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


def test_bounds_on_one_error_need_the_one_error_suffered():
    X, Y = toy(150)
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), target="one_error", seed=3)
    scores = model.learn(X, Y)
    ranked = Y.any(axis=1) & ~Y.all(axis=1)
    suffered = sum(brute_one_error(y, s) for y, s in zip(Y[ranked], scores[ranked], strict=True))
    with pytest.raises(ValueError, match="give its sum over the rounds as suffered="):
        bounds.hedge(model)
    found = bounds.report(model, suffered=suffered)
    assert len(found) == 4 and all(bound.holds for bound in found)
    assert found[2].statement.startswith("one-error <=") and found[2].suffered == suffered
    history = History.of(model)
    most = 4 - Y[ranked].sum(axis=1).min()
    squares = (history.edges**2).sum()
    b = (4 * math.log(2) * ranked.sum() + 36 * 5 * math.sqrt(150)) / squares
    assert found[0].terms["B"] == pytest.approx(most * b)
    rank = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), seed=3)
    rank.learn(X, Y)
    with pytest.raises(ValueError, match="suffered is for target='one_error'"):
        bounds.hedge(rank, suffered=1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"target": "one_error"},
        {"surrogate": "univariate"},
        {"surrogate": "univariate", "target": "one_error"},
        {"combine": "mixture", "expert": "draw", "drift": None},
    ],
)
def test_200_streams_keep_hedges_bound(options):
    found = []
    for seed in range(200):
        X, Y = toy(100, seed=seed)
        model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(4), seed=seed, **options)
        scores = model.learn(X, Y)
        suffered = None
        if options.get("target") == "one_error":
            suffered = float(
                sum(
                    brute_one_error(y, s)
                    for y, s in zip(Y, scores, strict=True)
                    if y.any() and not y.all()
                )
            )
        found.append(bounds.hedge(model, delta=0.1, suffered=suffered))
    failures = sum(not bound.holds for bound in found)
    assert binomial_tail(failures, 200, 0.1) > 1e-3


def test_the_univariate_surrogate_has_hedges_bound_alone():
    X, Y = toy()
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5), surrogate="univariate")
    model.learn(X, Y)
    found = bounds.report(model)
    assert [bound.name for bound in found] == ["Ada.OLMR, Hedge"]
    assert len(found.refused) == 3
    assert all("surrogate='univariate'" in why for why in found.refused.values())


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
