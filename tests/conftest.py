"""Fixtures that every area uses."""

import os
import signal

import numpy as np
import pytest


def pytest_configure():
    """A shell's background jobs ignore Ctrl-C, and so would we and the commands that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder():
    """The folder with the paper's data sets; tests that need it are skipped without it."""
    folder = os.environ.get("BOOSTLINE_DATA")
    if not folder or not os.path.isdir(folder):
        pytest.skip("BOOSTLINE_DATA does not point to the data sets (see docs/data.md)")
    return folder


@pytest.fixture
def stream():
    """A small multi-label problem that features decide: (X, Y)."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6))
    Y = X @ rng.normal(size=(6, 5)) + rng.normal(scale=0.5, size=(300, 5)) > 0.8
    return X, Y
