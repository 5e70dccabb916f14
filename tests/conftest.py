"""Fixtures that every area uses."""

import os
import signal
import sys
from typing import Any

import numpy as np
import pytest

STARTS_A_PROCESS = {
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "subprocess.Popen",
}


def refuse_processes(event: str, arguments: Any) -> None:
    """An audit hook of the quick tier, which is for every save: starting Python anew takes as long as ten tests."""
    if event in STARTS_A_PROCESS and os.environ.get("PYTEST_CURRENT_TEST"):
        if event == "subprocess.Popen" and arguments[0] == "fc-list":
            return  # matplotlib looks for fonts, once on a new machine
        raise RuntimeError("this test starts a process: mark it with @pytest.mark.process")


def pytest_configure(config: pytest.Config) -> None:
    """A shell's background jobs ignore Ctrl-C, and so would we and the commands that tests start."""
    if "not process" in config.option.markexpr:
        sys.addaudithook(refuse_processes)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start processes come first: the longest of all, begun last, would keep one worker alone at the end."""
    long = {item.path for item in items if item.get_closest_marker("process")}
    items.sort(key=lambda item: item.path not in long)


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
