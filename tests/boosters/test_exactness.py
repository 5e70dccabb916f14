"""Same seed, same bits: blocks, threads, copies, pickles; scoring changes nothing."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import boostline as bl

MODELS = {
    "ada": lambda **kw: bl.AdaOLMR(5, learners=bl.learners.paper_trees(12), seed=3, **kw),
    "ada-weighted": lambda **kw: bl.AdaOLMR(
        5, learners=bl.learners.paper_trees(12), seed=3, expert="weighted", **kw
    ),
    "bmr": lambda **kw: bl.OnlineBMR(
        5, learners=bl.learners.paper_trees(12), edge=0.1, seed=3, **kw
    ),
    "bmr-rank": lambda **kw: bl.OnlineBMR(
        5,
        learners=bl.learners.paper_trees(12, single_label=True),
        edge=0.1,
        loss="rank",
        seed=3,
        **kw,
    ),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def same_state(a, b):
    a, b = a.state(), b.state()
    assert a["config"] == b["config"]
    assert a["arrays"].keys() == b["arrays"].keys()
    for name, array in a["arrays"].items():
        np.testing.assert_array_equal(array, b["arrays"][name], err_msg=name)
    return True


@each_model
def test_a_block_equals_the_loop_of_single_calls(make, stream):
    X, Y = stream
    one, block = make(), make()
    expected = np.array([one.learn(x, y) for x, y in zip(X, Y, strict=True)])
    np.testing.assert_array_equal(block.learn(X, Y), expected)
    assert same_state(one, block)


@each_model
def test_threads_change_no_bit(make, stream):
    X, Y = stream
    one, three = make(), make(n_threads=3)
    np.testing.assert_array_equal(one.learn(X, Y), three.learn(X, Y))
    assert same_state(one, three)


@each_model
def test_learn_returns_the_scores_given_before_and_scoring_is_pure(make, stream):
    X, Y = stream
    model = make()
    model.learn(X[:200], Y[:200])
    for x, y in zip(X[200:230], Y[200:230], strict=True):
        before = model.state()
        first, again, in_block = model.score(x), model.score(x), model.score(X[190:210])
        np.testing.assert_array_equal(first, again)
        after = model.state()
        assert all((before["arrays"][n] == after["arrays"][n]).all() for n in before["arrays"])
        np.testing.assert_array_equal(first, model.learn(x, y))
        assert in_block.shape == (20, 5)


@each_model
@pytest.mark.parametrize("way", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_identically(make, way, stream):
    X, Y = stream
    model = make()
    model.learn(X[:150], Y[:150])
    twin = way(model)
    assert same_state(model, twin)
    np.testing.assert_array_equal(model.learn(X[150:], Y[150:]), twin.learn(X[150:], Y[150:]))
    assert same_state(model, twin)


@each_model
def test_input_types_are_equivalent(make, stream):
    X, Y = stream
    X = X.astype(np.float32).astype(np.float64)
    X[X < 0] = 0.0
    expected = make().learn(X, Y)
    fortran = np.asfortranarray(X)
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for features in (
        X.astype(np.float32),
        fortran,
        strided,
        sparse.csr_array(X),
        sparse.coo_matrix(X),
    ):
        np.testing.assert_array_equal(make().learn(features, Y), expected)
    for labels in (
        Y.astype(int),
        Y.astype(float),
        sparse.csr_array(Y),
        [set(np.flatnonzero(y).tolist()) for y in Y],
        [y.tolist() for y in Y],
        np.asfortranarray(Y),
    ):
        np.testing.assert_array_equal(make().learn(X, labels), expected)


def test_unlearned_models_score_and_copy():
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(5))
    np.testing.assert_array_equal(model.score([1.0, 2.0]), np.zeros(4))
    assert model.n_features is None and model.clock == 0
    np.testing.assert_array_equal(copy.deepcopy(model).score([1.0, 2.0, 3.0]), np.zeros(4))
    assert model.learner_weights.tolist() == [0.0] * 5
    assert model.edges().tolist() == [0.0] * 5


def test_seed_decides_everything(stream):
    X, Y = stream
    make = lambda seed: bl.AdaOLMR(5, learners=bl.learners.paper_trees(12), seed=seed)  # noqa: E731
    a, b, c = make(1).learn(X, Y), make(1).learn(X, Y), make(2).learn(X, Y)
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


@pytest.mark.process
def test_every_cpu_gives_the_same_bits():
    """Which code the core's loader, NumPy and BLAS pick depends on the CPU; each can be told to see a lesser one."""
    script = (
        "import numpy as np, boostline as bl, hashlib\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.normal(size=(400, 30)); Y = X[:, :12] + .3 * rng.normal(size=(400, 12)) > .7\n"
        "trees = bl.learners.paper_trees(20)\n"
        "for m in (bl.AdaOLMR(12, learners=trees), bl.OnlineBMR(12, learners=trees, edge=.05),\n"
        "          bl.OnlineBMR(12, learners=trees, edge=.05, loss='exponential'),\n"
        "          bl.OnlineBMR(12, learners=trees, edge='auto')):\n"
        "    digest = hashlib.sha256(m.learn(X, Y).tobytes())\n"
        "    for name, array in sorted(m.state()['arrays'].items()):\n"
        "        digest.update(name.encode() + array.tobytes())\n"
        "    print(digest.hexdigest())\n"
    )
    outputs = set()
    glibc = "glibc.cpu.hwcaps="
    for lesser in (
        {},
        {
            "GLIBC_TUNABLES": glibc + "-AVX512F,-AVX512DQ,-AVX512BW,-AVX512VL,-AVX512CD",
            "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_SKX AVX512F",
            "OPENBLAS_CORETYPE": "Haswell",
        },
        {
            "GLIBC_TUNABLES": glibc + "-AVX2,-FMA,-AVX512F",
            "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX2 FMA3 AVX512_SKX AVX512F",
            "OPENBLAS_CORETYPE": "Prescott",
        },
    ):
        result = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script],
            env={**os.environ, **lesser},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(result.stdout)
    assert len(outputs) == 1
