"""Loading and saving take little more memory than the model, and little time."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import boostline as bl

pytestmark = pytest.mark.process

CHILD = """
import json, os, sys, time
import numpy as np
import boostline as bl
bl.LabelRanker(2).learn([1.0, 2.0], {0})
def peak():
    # Not getrusage: its peak is that of the parent's memory if the child began as a fork.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
before = peak()
start = time.process_time()  # other jobs on the machine do not count
model = bl.load(sys.argv[1])
seconds = time.process_time() - start
loading = peak() - before
model.save(sys.argv[1] + ".again")
saving = peak() - before
print(json.dumps(dict(size=model.memory_usage(), loading=loading, saving=saving, seconds=seconds)))
"""
#: Peak, in sizes of the model: the model itself, and what is on its way.
MOST = 1.3


def trees():
    """100 trees on 20 labels and 30 features that have grown for a while."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30))
    Y = X @ rng.normal(size=(30, 20)) > 5.0
    model = bl.AdaOLMR(20, learners=bl.learners.paper_trees(100))
    model.learn(X, Y)
    return model


def default():
    """The default on 100 labels and as many features as make it large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 10_000))
    model = bl.LabelRanker(100)
    model.learn(X, X[:, :100] > 1.5)
    return model


@pytest.fixture(scope="module", params=[trees, default])
def large(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "m.blm"
    request.param().save(path)
    return path


def test_loading_and_saving_peak_at_little_more_than_the_model(large):
    if not os.path.exists("/proc/self/status"):
        pytest.skip("peak memory is read from /proc")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(large)], capture_output=True, text=True, check=True
    )
    measured = json.loads(done.stdout)
    assert measured["size"] > 10e6  # large enough for the page size not to matter
    assert 0.8 * measured["size"] < measured["loading"] <= MOST * measured["size"]
    assert measured["saving"] <= MOST * measured["size"]
    assert measured["seconds"] < 1.0
    assert (large.parent / "m.blm.again").read_bytes() == large.read_bytes()


def test_the_file_is_hardly_larger_than_the_model(large):
    # A file names the label of every weight of SparseLinear; in memory rows of weights that are full need no names.
    assert large.stat().st_size <= 1.1 * bl.load(large).memory_usage()
