"""Every bound of the paper's boosters and of LabelRanker on 200 streams of the adversary (6 in the gate)."""

import pytest

import boostline as bl
from boostline.lab.theory import adversary, bounds
from boostline.lab.theory.binomial import binomial_tail

GAMES = [(2, 0.1, 10), (3, 0.08, 8), (5, 0.1, 6)]  # labels, edge, learners


def bounds_of(seed):
    """All that is printed for OnlineBMR (learned and known edge, two losses), Ada.OLMR (both steps), LabelRanker."""
    k, edge, n = GAMES[seed % len(GAMES)]
    game = adversary.Adversary(k, edge, n, delta=0.005)
    stream = game.stream(200, seed)

    def learned(model):
        model.learn(stream.X, stream.relevant)
        return model

    for loss in ("rank", "hinge"):
        model = learned(bl.OnlineBMR(k, learners=stream.learners(), edge="auto", loss=loss))
        yield from bounds.report(model, game.delta, game.S, game.edge)
        yield bounds.bmr_auto(model)
        model = learned(bl.OnlineBMR(k, learners=stream.learners(), edge=edge, loss=loss))
        yield from bounds.report(model, game.delta, game.S)
    for steps in ("paper", "adagrad"):
        model = learned(bl.AdaOLMR(k, learners=stream.learners(), steps=steps, seed=seed))
        yield from bounds.report(model, 0.05)
    yield from bounds.report(learned(bl.LabelRanker(k, learners=stream.learners(), seed=seed)))


@pytest.mark.parametrize(
    "streams",
    [pytest.param(6, marks=pytest.mark.gate), pytest.param(200, marks=pytest.mark.slow)],
)
def test_every_bound_is_kept_as_often_as_it_says(streams):
    kept: dict[str, list[bounds.Bound]] = {}
    for seed in range(streams):
        for bound in bounds_of(seed):
            kept.setdefault(bound.name, []).append(bound)
    assert len(kept) == 14
    for name, items in kept.items():
        failures = sum(not bound.holds for bound in items)
        allowed = max(1.0 - bound.probability for bound in items)
        assert binomial_tail(failures, len(items), allowed) > 1e-3, (name, failures)
