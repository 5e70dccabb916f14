"""Bounds of models whose labels, importance and known labels change while they run (theory, E1 and E2)."""

import numpy as np
import pytest

import boostline as bl
from boostline.lab.theory import adversary, bounds
from boostline.lab.theory.binomial import binomial_tail


def growing_stream(seed):
    """The adversary's votes with 2 labels at first, and more after a third and two thirds of the rounds."""
    rng = np.random.default_rng(seed)
    sizes = np.cumsum([2, int(rng.integers(1, 5)), int(rng.integers(1, 9))])
    n, rounds = int(rng.integers(2, 12)), 60
    edges = rng.uniform(-0.05, 0.3, size=n)
    relevant = np.zeros((3 * rounds, sizes[-1]), dtype=bool)
    votes = np.zeros((3 * rounds, n), dtype=np.int8)
    for part, k in enumerate(sizes):
        rows = slice(part * rounds, (part + 1) * rounds)
        relevant[rows, :k] = adversary.draw_label_sets((rounds,), int(k), rng)
        votes[rows] = adversary.draw_votes(relevant[rows, :k], edges, rng)
    return relevant, votes, sizes, rounds, rng


def learned(make, seed):
    relevant, votes, sizes, rounds, rng = growing_stream(seed)
    learners = [adversary.SimulatedLearner(votes[:, i], 2) for i in range(votes.shape[1])]
    model = make(2, learners=learners)
    for part, k in enumerate(sizes):
        if part:
            model.add_labels(int(k - sizes[part - 1]))
        for t in range(part * rounds, (part + 1) * rounds):
            unknown = ~relevant[t, :k] & (rng.random(k) < (0.1 if seed % 2 else 0.0))
            weight = float(rng.choice([1.0, 0.3, 0.0])) if seed % 3 == 0 else 1.0
            model.learn([float(t)], relevant[t, :k], unknown=unknown, weight=weight)
    return model


def models(seed):
    for loss in ("rank", "hinge", "logistic", "exponential"):
        for edge in (0.1, 0.6, "auto"):
            yield (
                f"{loss} {edge}",
                lambda k, learners, e=edge, f=loss: bl.OnlineBMR(
                    k, learners=learners, edge=e, loss=f
                ),
            )
    for steps in ("paper", "adagrad"):
        yield (
            f"Ada.OLMR {steps}",
            lambda k, learners, s=steps: bl.AdaOLMR(k, learners=learners, steps=s, seed=seed),
        )
    yield (
        "LabelRanker",
        lambda k, learners: bl.LabelRanker(k, learners=learners, seed=seed),
    )


@pytest.mark.parametrize(
    "streams",
    [pytest.param(4, marks=pytest.mark.gate), pytest.param(200, marks=pytest.mark.slow)],
)
def test_every_bound_is_kept_when_labels_are_added(streams):
    kept: dict[str, list[bounds.Bound]] = {}
    for seed in range(streams):
        for name, make in models(seed):
            model = learned(make, seed)
            found = bounds.report(model, 0.05)
            assert len(found) >= 1, name
            for bound in found:
                assert bound.holds or bound.probability < 1, (seed, name, str(bound))
                kept.setdefault(bound.name, []).append(bound)
            if name.startswith("rank"):  # votes for single labels: an equality, whatever was cut
                total = bounds.bmr_realised(model).total
                assert total == pytest.approx(model.suffered_loss, rel=1e-9, abs=1e-9)
    for name, items in kept.items():
        failures = sum(not bound.holds for bound in items)
        allowed = max(1.0 - bound.probability for bound in items)
        assert binomial_tail(failures, len(items), allowed) > 1e-3, (name, failures)


def test_labels_added_later_do_not_change_what_was_promised():
    """k = 2, 300 rows, N = 20: a bound made with the last k fell from 65 to 26 and lower."""
    rng = np.random.default_rng(0)
    relevant = adversary.draw_label_sets((300,), 2, rng)
    stream = adversary.Stream(relevant, adversary.draw_votes(relevant, np.full(20, 0.1), rng))
    for loss in ("rank", "hinge"):
        model = bl.OnlineBMR(2, learners=stream.learners(), edge=0.1, loss=loss)
        model.learn(stream.X, stream.relevant)
        # The corollary's largest width of costs is that of the most labels, so it may rise.
        before = [bound.total for bound in bounds.report(model)[:2]]
        model.add_labels(38)
        after = bounds.report(model)
        assert [bound.total for bound in after[:2]] == before
        assert all(bound.holds for bound in after)


def test_the_learned_edge_with_a_known_excess_loss_keeps_its_bound():
    """The adversary's learners keep S by construction, with 2 labels and with 4."""
    game = adversary.Adversary(4, 0.1, 8, delta=0.005)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        few = adversary.draw_label_sets((100,), 2, rng)
        many = adversary.draw_label_sets((100,), 4, rng)
        votes = np.concatenate([adversary.draw_votes(y, np.full(8, 0.2), rng) for y in (few, many)])
        learners = [adversary.SimulatedLearner(votes[:, i], 2) for i in range(8)]
        model = bl.OnlineBMR(2, learners=learners, edge="auto", loss="rank")
        model.learn(np.arange(100.0)[:, None], few)
        model.add_labels(2)
        model.learn(np.arange(100.0, 200.0)[:, None], many)
        bound = bounds.bmr_auto(model, game.S, game.delta, game.edge)
        by_hand = float(
            model.diagnostics.edge_sums.potentials()[model.diagnostics.edge_sums.levels() <= 0.1][
                -1
            ]
        )
        assert bound.holds and bound.terms["its promise"] == by_hand


def test_a_known_excess_loss_needs_its_delta():
    stream = adversary.Adversary(2, 0.1, 4).stream(20, seed=0)
    model = bl.OnlineBMR(2, learners=stream.learners(), edge=0.1, loss="rank")
    model.learn(stream.X, stream.relevant)
    with pytest.raises(ValueError, match="delta is None, but must be that of OnlineWLC"):
        bounds.bmr_general(model, excess_loss=5.0)


class Spread:
    """It says that it votes for one label, and does not."""

    votes_single_label = True

    def predict(self, x):
        return [0.34, 0.34, 0.32]

    def learn(self, x, relevant, costs, weight):
        pass


def test_a_vote_for_several_labels_is_refused_from_a_learner_that_promised_one():
    model = bl.OnlineBMR(3, learners=[Spread() for _ in range(8)], edge=0.1, loss="rank")
    with pytest.raises(ValueError, match=r"largest vote of 0\.34.*votes_single_label is True"):
        model.learn([0.0], {2})
    assert model.clock == 0
