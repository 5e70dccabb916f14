"""Experiments of `boostline lab theory`: slopes, statements, the report."""

import functools
import json

import numpy as np
import pytest

from boostline.lab.theory import experiments, optimality, report
from boostline.lab.theory.adversary import uniform_vote_loss
from boostline.lab.theory.experiment import rank_losses, slope


@functools.cache
def at_quick_size(name):
    """Several tests look at one."""
    return experiments.ALL[name](True)


def assert_all_hold(experiment):
    broken = [check for check in experiment.checks if not check.holds]
    assert not broken, broken


@pytest.mark.gate
@pytest.mark.parametrize("name", list(experiments.ALL))
def test_every_statement_holds_at_quick_sizes(name):
    experiment = at_quick_size(name)
    assert_all_hold(experiment)
    assert experiment.key == name
    assert all(len(row) == len(experiment.columns) for row in experiment.rows)
    assert all(np.isfinite(curve.y).all() for curve in experiment.curves)


def test_learners_needed_grow_like_one_over_gamma_squared():
    gammas = np.array([0.03, 0.05, 0.08])
    needed = [optimality._learners_needed(3, 2 * g, 0.01) for g in gammas]
    assert slope(np.log(gammas), np.log(needed)) == pytest.approx(-2, abs=0.05)
    for gamma, n in zip(gammas, needed, strict=True):
        assert uniform_vote_loss(3, 2 * gamma, n) <= 0.01 < uniform_vote_loss(3, 2 * gamma, n - 1)


def test_learners_needed_grow_like_the_logarithm_with_cramers_constant():
    epsilons = np.array([1e-6, 1e-9, 1e-12])
    needed = [optimality._learners_needed(2, 0.2, e) for e in epsilons]
    # k = 2: P(majority wrong) ~ (4 p q)^(N/2), p q = (1 - .04) / 4
    constant = -2 / np.log(1 - 0.2**2)
    found = np.diff(needed) / np.diff(np.log(1 / epsilons))
    assert found == pytest.approx(constant, rel=0.06)
    assert abs(found[1] - constant) < abs(found[0] - constant)


@pytest.mark.gate
def test_samples_needed_grow_like_s_over_epsilon_gamma():
    experiment = at_quick_size("samples-needed")
    simulated = next(curve for curve in experiment.curves if "simulated" in curve.label)
    assert slope(np.log(simulated.x), np.log(simulated.y)) == pytest.approx(1, abs=0.08)


def test_samples_needed_is_the_last_crossing():
    losses = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # averages 0, .5, .33, .25, .2, .17
    assert optimality._samples_needed(losses, 0.3) == 4
    assert optimality._samples_needed(losses, 0.6) == 1
    assert np.isnan(optimality._samples_needed(losses, 0.1))


def test_rank_losses_agree_with_the_loss_object():
    from boostline.losses import Rank

    rng = np.random.default_rng(0)
    relevant = np.stack([rng.permutation([True, True, False, False, False]) for _ in range(20)])
    scores = rng.integers(0, 3, (20, 5)).astype(float)
    expected = [Rank().value(y, s) for y, s in zip(relevant, scores, strict=True)]
    assert np.allclose(rank_losses(scores, relevant), expected)


@pytest.mark.gate
def test_the_report_is_one_page_with_its_pictures_inside(tmp_path):
    pytest.importorskip("matplotlib")
    seen = []
    names = ["printed-bound", "learners-needed"]
    made = report.run(tmp_path / "new", quick=True, only=names, progress=lambda *a: seen.append(a))
    text = made.page.read_text(encoding="utf-8")
    assert made.holds and made.finished
    assert text.count("<picture>") == 2
    assert "http://" not in text and "https://" not in text  # nothing is fetched
    assert seen == [("printed-bound", 0, 2), ("learners-needed", 1, 2), ("done", 2, 2)]
    record = json.loads((tmp_path / "new" / "theory.json").read_text(encoding="utf-8"))
    assert [e["key"] for e in record["experiments"]] == names
    assert all(c["holds"] for e in record["experiments"] for c in e["checks"])


def test_ctrl_c_keeps_what_was_done(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")

    def stopped(quick):
        raise KeyboardInterrupt

    monkeypatch.setitem(experiments.ALL, "learners-needed", stopped)
    made = report.run(tmp_path, quick=True, only=["printed-bound", "learners-needed"])
    assert not made.finished
    assert [e.key for e in made.experiments] == ["printed-bound"]
    assert "stopped before the end" in made.page.read_text(encoding="utf-8")


def test_unknown_experiments_are_refused(tmp_path):
    with pytest.raises(ValueError, match="only has 'loss', but the experiments are"):
        report.run(tmp_path, only=["loss"])


@pytest.mark.slow
def test_all_experiments_take_less_than_three_minutes(tmp_path):
    pytest.importorskip("matplotlib")
    made = report.run(tmp_path)
    assert made.holds
    assert sum(made.seconds.values()) < 180
