"""The split search of the core against a plain one, and its coarse screen against the exact search."""

import numpy as np
import pytest
from scipy import special

from boostline import _core


def random_leaf(rng, n_labels, n_covariates, n_rows, missing):
    """Statistics (weight, mean, m2, min, max) of each label from real rows, some of them constant or unseen."""
    blocks = []
    for _ in range(n_labels):
        x = rng.normal(
            rng.normal(0, 1.5, n_covariates),
            rng.gamma(1, 1, n_covariates),
            (rng.integers(1, n_rows), n_covariates),
        )
        x[:, rng.random(n_covariates) < 0.1] = 1.0  # a covariate with one value
        x = np.round(x, rng.integers(0, 3))  # so that values and thresholds tie
        w = rng.gamma(1, 1, len(x))[:, None] * np.where(rng.random(x.shape) < missing, 0.0, 1.0)
        total = w.sum(0)
        seen = total > 0
        mean = np.divide((w * x).sum(0), total, out=np.zeros(n_covariates), where=seen)
        m2 = (w * (x - mean) ** 2).sum(0)
        low = np.where(w > 0, x, np.inf).min(0)
        high = np.where(w > 0, x, -np.inf).max(0)
        blocks.append(np.stack([total, mean, m2, low, high]))
    return np.stack(blocks)


def plain_gains(stats):
    """Gain of every covariate at its best threshold, by the definition: entropy before less entropy after."""

    def entropy(masses):
        return (special.entr(masses / masses.sum()) / np.log(2)).sum() if masses.sum() > 0 else 0.0

    best = np.full(stats.shape[2], -1.0)
    most = stats[:, 0].sum(0).max()
    for f in range(stats.shape[2]):
        w, mean, m2, low, high = stats[:, :, f].T
        total = w.sum()
        if total == 0 or low.min() == high.max():
            continue
        for j in range(1, 11):
            t = low.min() + (high.max() - low.min()) * j / 11
            sd = np.sqrt(np.maximum(m2 / np.where(w > 0, w, 1), 1e-12))
            left = w * np.where(
                t >= high, 1.0, np.where(t < low, 0.0, special.ndtr((t - mean) / sd))
            )
            right = w - left
            if min(left.sum(), right.sum()) <= 0.01 * total:
                continue
            after = (left.sum() * entropy(left) + right.sum() * entropy(right)) / total
            best[f] = max(best[f], (entropy(w) - after) * total / most)
    return best


@pytest.mark.gate
@pytest.mark.parametrize("n_covariates", [1, 2, 7, 8, 9, 13, 16, 20, 31])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_best_split_and_coarse_screen(n_covariates, missing):
    rng = np.random.default_rng(n_covariates)
    closest = np.inf
    for _ in range(60):
        n_labels = int(rng.integers(2, 40))
        stats = random_leaf(rng, n_labels, n_covariates, int(rng.integers(2, 40)), missing)
        covariate, _, gain, lead, coarse = _core.testing.split_leads(stats.ravel(), n_covariates)
        gains = plain_gains(stats)
        if gains.max() < 0:
            assert covariate == -1
            continue
        assert gain == pytest.approx(max(gains.max(), 0.0), abs=1e-8)
        assert gains[covariate] == pytest.approx(gains.max(), abs=1e-8)
        others = np.delete(gains, covariate)
        assert lead == pytest.approx(gain - max(0.0, others.max(initial=0.0)), abs=1e-8)
        assert coarse >= lead  # the screen never hides a split
        closest = min(closest, coarse - lead)
    assert closest < 0.01  # and it is no idle bound


@pytest.mark.gate
@pytest.mark.parametrize("n_covariates", [1, 7, 13, 20, 31])
@pytest.mark.parametrize("missing, shift", [(0.0, 0.0), (0.3, 0.0), (0.0, 300.0), (0.0, 1e6)])
def test_what_some_labels_show_is_so(n_covariates, missing, shift):
    """Labels of very different weights, so that a first look leaves light ones out; bounds next to the lead.

    Values far from 0 have fewer digits in single precision.
    """
    rng = np.random.default_rng(n_covariates)
    n_ruled_out = 0
    for _ in range(60):
        stats = random_leaf(rng, int(rng.integers(2, 60)), n_covariates, 30, missing)
        stats[:, [0, 2]] *= 10.0 ** -rng.uniform(0, 4, (len(stats), 1, 1))
        stats[:, [1, 3, 4]] += shift
        *_, lead, _ = _core.testing.split_leads(stats.ravel(), n_covariates)
        for bound in (lead - 1e-9, lead + 0.01, lead + 0.05, lead + 0.3):
            ruled_out = _core.testing.is_split_ruled_out(stats.ravel(), n_covariates, bound)
            assert not (ruled_out and lead > bound)
            n_ruled_out += ruled_out
    assert n_ruled_out > 100  # of 240


def test_coarse_screen_stands_heavy_and_light_leaves():
    rng = np.random.default_rng(5)
    for scale in (1e-6, 1e3, 1e9, 1e20):
        for _ in range(20):
            stats = random_leaf(rng, 12, 20, 30, 0.1)
            stats[:, [0, 2]] *= scale
            *_, lead, coarse = _core.testing.split_leads(stats.ravel(), 20)
            assert lead <= coarse < lead + 0.3


@pytest.mark.parametrize("unit", [1e-150, 1e-9, 1e9, 1e90, 1e120])
def test_coarse_screen_stands_any_unit_of_a_covariate(unit):
    """One covariate decides, in a unit that is very small or very large; the others say nothing."""
    weight = np.random.default_rng(6).gamma(2, 1, 12)[:, None, None]
    stats = np.tile(np.array([1.0, 0.0, 1.0, -2.0, 2.0])[:, None], (12, 1, 20))
    mean = np.arange(12) % 2
    stats[:, 1:, 7] = np.stack([mean, np.full(12, 0.01), mean - 0.3, mean + 0.3], 1) * unit
    stats[:, 2, 7] *= unit
    stats[:, [0, 2]] *= weight
    covariate, *_, lead, coarse = _core.testing.split_leads(stats.ravel(), 20)
    assert covariate == 7
    assert 0.5 < lead <= coarse


@pytest.mark.parametrize("spread", [1e-7, 1e-3, 0.02, 0.5])
def test_coarse_screen_stands_values_next_to_thresholds(spread):
    """Covariates run from 0 to 11, so that the thresholds are 1 to 10; labels begin, end or crowd there."""
    rng = np.random.default_rng(7)
    for off in (0.0, 1e-12, -1e-12, 1e-7, -1e-7, 1e-5, -3e-5, 0.05, -0.11):
        stats = np.zeros((14, 5, 9))
        stats[:, 0] = rng.gamma(2, 1, (14, 1))
        stats[:, 1] = rng.integers(1, 11, (14, 9)) + off
        stats[:, 2] = stats[:, 0] * spread**2
        side = rng.choice([0.0, spread], (2, 14, 9))
        stats[:, 3], stats[:, 4] = stats[:, 1] - side[0], stats[:, 1] + side[1]
        stats[0, 1:, :] = np.array([5.5, 0.0, 0.0, 11.0])[:, None]
        stats[0, 2] = stats[0, 0] * 9.0
        *_, lead, coarse = _core.testing.split_leads(stats.ravel(), 9)
        assert lead <= coarse < lead + 0.02


@pytest.mark.parametrize(
    ("n_labels", "weight"), [(50_000, 0.7), (200_000, 0.7), (40, 1e-35), (40, 1e35)]
)
def test_where_single_precision_does_not_do_the_screen_lets_everything_through(n_labels, weight):
    """Many labels of one value each, a few of them on the other side of one of the covariates."""
    stats = np.zeros((n_labels, 5, 8))
    stats[:, 0] = weight
    stats[: max(2, n_labels * 3 // 200), 1, 3] = 1.0
    stats[:, 3] = stats[:, 4] = stats[:, 1]
    *_, lead, coarse = _core.testing.split_leads(stats.ravel(), 8)
    assert 0 < lead <= coarse
