"""exp, log2, the normal distribution and Philox of the core against SciPy and NumPy."""

import numpy as np
import pytest
from scipy import special

from boostline import _core


def test_exp_is_right_to_a_few_units_in_the_last_place():
    x = np.concatenate([np.linspace(-707, 707, 100_001), np.linspace(-1, 1, 10_001)])
    assert np.abs(_core.testing.exp(x) / np.exp(x) - 1).max() < 4 * np.finfo(float).eps


def test_exp_is_clamped_instead_of_overflowing():
    assert np.isfinite(_core.testing.exp(np.array([-1e4, 1e4]))).all()


def test_log2_is_right_to_two_units_in_the_last_place():
    x = np.exp(np.linspace(-600, 600, 100_001))
    expected = np.log2(x)
    assert (
        np.abs(_core.testing.log2(x) - expected) <= 2 * np.spacing(np.abs(expected)) + 1e-16
    ).all()


def test_normal_cdf_and_entropy_of_a_split():
    z = np.linspace(-11.9, 11.9, 50_001)
    p = special.ndtr(z)
    assert np.abs(_core.testing.normal_cdf(z) - p).max() < 1e-15
    q = special.ndtr(-z)
    entropy = (special.entr(p) + special.entr(q)) / np.log(2)
    assert np.abs(_core.testing.normal_split_entropy(z) - entropy).max() < 3e-14


def test_far_tails_stay_positive():
    assert (_core.testing.normal_cdf(np.array([-12.0, -50.0, -1e9])) > 0).all()


@pytest.mark.parametrize("key", [0, 7, 2**63 + 11, 2**64 - 1])
@pytest.mark.parametrize("counter", [0, 1, 5, 2**40])
def test_draws_are_numpys(key, counter):
    generator = np.random.Generator(np.random.Philox(counter=counter, key=key))
    assert _core.testing.philox_uniform(key, counter) == generator.random()
