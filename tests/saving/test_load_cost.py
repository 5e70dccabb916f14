"""Loading takes little more memory than the model, and little time."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import boostline as bl

CHILD = """
import json, sys, time
import numpy as np
import boostline as bl
bl.AdaOLMR(2, learners=bl.learners.paper_trees(2)).learn([1.0, 2.0], {0})
def peak():
    # Not getrusage: its peak is that of the parent's memory if the child began as a fork.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
before = peak()
start = time.process_time()  # other jobs on the machine do not count
model = bl.load(sys.argv[1])
seconds = time.process_time() - start
print(json.dumps({"extra": peak() - before, "seconds": seconds, "size": model.memory_usage()}))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """100 trees on 20 labels and 30 features that have grown for a while."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30))
    Y = X @ rng.normal(size=(30, 20)) > 5.0
    model = bl.AdaOLMR(20, learners=bl.learners.paper_trees(100))
    model.learn(X, Y)
    path = tmp_path_factory.mktemp("large") / "m.blm"
    model.save(path)
    return path


def test_a_model_of_100_trees_loads_in_one_and_a_half_times_its_size(large):
    if not os.path.exists("/proc/self/status"):
        pytest.skip("peak memory is read from /proc")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(large)], capture_output=True, text=True, check=True
    )
    measured = json.loads(done.stdout)
    assert measured["size"] > 10e6  # large enough for the page size not to matter
    assert 0.8 * measured["size"] < measured["extra"] <= 1.5 * measured["size"]
    assert measured["seconds"] < 1.0


def test_the_file_is_no_larger_than_the_model(large):
    assert large.stat().st_size <= bl.load(large).memory_usage()
