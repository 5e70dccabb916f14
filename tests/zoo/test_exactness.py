"""However a model's life is told, it has the same bits: in rows or blocks, on threads, stopped, copied, in any form.

Each life has plain rows, weighted ones with unknown labels, a new label and new features. The plainest way to tell it
is row by row; all others are compared with that.
"""

import copy
import functools
import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from model_zoo import ZOO, D, K, each_model, each_saved_model, rows
from scipy import sparse
from states import assert_same_model, assert_same_state

import boostline as bl
from boostline import _core

WEIGHTED, NEW_LABEL, NEW_FEATURES, END = 40, 90, 120, 150
#: A life is cut before the kernel's first fit at 32 rows and after it, where its 64 landmarks are complete, and later.
CUTS = (0, 1, 20, 32, 33, WEIGHTED, 63, 64, 65, NEW_LABEL, NEW_LABEL + 1, NEW_FEATURES, 121, END)
X, Y = rows(END, D + 2, K + 1)
_rng = np.random.default_rng(8)
WEIGHTS = np.where(np.arange(END) < WEIGHTED, 1.0, _rng.choice([0.0, 0.3, 1.0], size=END))
UNKNOWN = (np.arange(END) >= WEIGHTED)[:, None] & ~Y & (_rng.random(Y.shape) < 0.2)


def at_once(model, X, Y, **options):
    return model.learn(X, Y, **options)


def row_by_row(model, X, Y, weight, unknown):
    each = zip(X, Y, weight, unknown, strict=True)
    return np.array([model.learn(x, y, weight=w, unknown=u) for x, y, w, u in each])


def live(model, learn=at_once, stop=lambda model: model):
    """Tell a model its life: `learn` teaches it a block, and `stop` is where it may be stopped and started again."""
    scores = []
    for start, end in itertools.pairwise(CUTS):
        if start == NEW_LABEL:
            model.add_labels(1)
        if start == NEW_FEATURES:
            model.add_features(2)
        model = stop(model)
        d, k = (D if end <= NEW_FEATURES else D + 2), model.n_labels
        part = slice(start, end)
        options = {"weight": WEIGHTS[part], "unknown": UNKNOWN[part, :k]}
        scores.append(learn(model, X[part, :d], Y[part, :k], **options))
    return model, scores


@functools.cache
def plain(kind):
    """A model after its life row by row: its state and the scores on the way."""
    model, scores = live(kind.make(), row_by_row)
    return model.state(), scores


def assert_the_plain_life(kind, model, scores):
    state, expected = plain(kind)
    for start, found, want in zip(CUTS, scores, expected, strict=False):
        np.testing.assert_array_equal(found, want, f"from row {start}")
    assert_same_state(model.state(), state)


@each_model
def test_a_block_equals_the_loop_of_its_rows(kind):
    assert_the_plain_life(kind, *live(kind.make()))
    assert all(np.isfinite(scores).all() for scores in plain(kind)[1])


@each_model
def test_blocks_of_any_length_change_no_bit(kind):
    """A life without growth, longer than any block that is learned together; scores of blocks are those of rows."""
    X, Y = rows(330)

    def learned(length):
        model = kind.make()
        starts = range(0, len(X), length)
        found = [model.learn(X[i : i + length], Y[i : i + length]) for i in starts]
        return model, np.concatenate(found)

    twin, expected = learned(256)
    scores = [twin.score(x) for x in X[:80]]
    for length in (7, 1000):
        model, found = learned(length)
        np.testing.assert_array_equal(found, expected)
        assert_same_state(model.state(), twin.state())
        np.testing.assert_array_equal(model.score(X[:80]), scores)


@pytest.mark.parametrize(
    "name", ["ranker", "kernel", "linear", "ridge", "neighbours", "trees", "bmr"]
)
def test_vector_widths_change_no_bit(name):
    """The loops that are written in vectors are told to use narrower ones than the machine has."""
    kind = ZOO[name]
    widest = _core.testing.set_simd_level(-1)
    try:
        for width in range(widest):
            _core.testing.set_simd_level(width)
            assert_the_plain_life(kind, *live(kind.make()))
    finally:
        _core.testing.set_simd_level(widest)


@pytest.mark.parametrize("k", [2, 3, 8, 9, 24, 101])
def test_vector_widths_change_no_cost(k):
    """Costs of rows with any number of relevant labels, with ties, and with labels that are unknown."""
    rng = np.random.default_rng(k)
    X = np.round(rng.normal(size=(60, 4)), 1)
    Y = rng.random((60, k)) < rng.choice([0.1, 0.5, 0.9], (60, 1))
    unknown = ~Y & (rng.random(Y.shape) < 0.3) & (np.arange(60) % 7 == 0)[:, None]
    widest = _core.testing.set_simd_level(-1)
    rounds = []
    try:
        for width in (0, widest):
            _core.testing.set_simd_level(width)
            for make in (bl.AdaOLMR, lambda k, **kw: bl.OnlineBMR(k, edge=0.1, **kw)):
                model = make(k, learners=bl.learners.paper_trees(12), seed=0)
                for x, y, u in zip(X, Y, unknown, strict=True):
                    model.learn(x, y, unknown=u)
                    rounds.append(_core.testing.last_round(model._native.core)["costs"].copy())
                rounds.append(model.score(X))
    finally:
        _core.testing.set_simd_level(widest)
    half = len(rounds) // 2
    for narrow, wide in zip(rounds[:half], rounds[half:], strict=True):
        np.testing.assert_array_equal(narrow, wide)


@each_model
def test_threads_change_no_bit(kind):
    def change_threads(model):
        model.n_threads = model.n_threads % 3 + 1
        return model

    assert_the_plain_life(kind, *live(kind.make(n_threads=3), stop=change_threads))


@each_saved_model
def test_load_and_go_on_is_never_having_stopped(kind, tmp_path):
    """Also the file: what is loaded and saved again has the same bytes."""
    first, again = tmp_path / "first.blm", tmp_path / "again.blm"

    def stop(model):
        if model.clock not in (0, 20, 33, 64, NEW_LABEL, 121):
            return model
        model.save(first)
        loaded = kind.load(first, n_threads=1 + model.clock % 2)
        assert type(loaded) is type(model) and loaded.clock == model.clock
        if model.clock in (33, NEW_LABEL):
            loaded.save(again)
            assert first.read_bytes() == again.read_bytes()
        return loaded

    assert_the_plain_life(kind, *live(kind.make(), stop=stop))


@each_model
def test_a_copy_goes_on_and_leaves_the_original_as_it_is(kind):
    ways = itertools.cycle([copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
    originals = []

    def stop(model):
        originals.append((model, model.state()))
        return next(ways)(model)

    assert_the_plain_life(kind, *live(kind.make(), stop=stop))
    for model, before in originals:
        assert_same_state(model.state(), before, f"clock {model.clock}")


@each_model
def test_learn_returns_the_scores_given_before_and_scoring_changes_nothing(kind):
    def score_first(model, X, Y, **options):
        before = model.state()
        scores = model.score(X[0])
        votes = model.votes(X)
        assert votes.shape[::2] == (len(X), model.n_labels)
        np.testing.assert_allclose(votes.sum(axis=2), 1.0)
        np.testing.assert_array_equal(model.score(X)[0], scores)
        order = np.argsort(-scores, kind="stable")
        np.testing.assert_array_equal(model.rank(X[0]), order)
        assert_same_state(model.state(), before)
        learned = model.learn(X, Y, **options)
        np.testing.assert_array_equal(learned[0], scores)
        return learned

    assert_the_plain_life(kind, *live(kind.make(), score_first))


def sets_of(matrix):
    return [set(np.flatnonzero(row).tolist()) for row in matrix]


def with_gaps(array):
    return np.repeat(np.repeat(array, 2, axis=0), 2, axis=1)[::2, ::2]


def numbered(array):
    """A frame whose columns have numbers, in another order."""
    return pd.DataFrame(array)[np.arange(array.shape[1])[::-1]]


#: A form of rows, of relevant and of unknown labels each.
FORMS = {
    "lists": (np.ndarray.tolist, np.ndarray.tolist, sets_of),
    "float32": (np.float32, np.float32, np.int8),
    "fortran": (np.asfortranarray, np.asfortranarray, np.asfortranarray),
    "gaps": (with_gaps, with_gaps, with_gaps),
    "csr": (sparse.csr_array, sparse.csr_array, sparse.csr_array),
    "coo": (sparse.coo_matrix, sets_of, sparse.csc_matrix),
    "frames": (numbered, numbered, numbered),
}


@each_model
@pytest.mark.parametrize("first", [0, 3])
def test_forms_of_input_change_no_bit(kind, first):
    """One part of the life in each form, in turn."""
    forms = itertools.islice(itertools.cycle(FORMS.values()), first, None)

    def learn(model, X, Y, weight, unknown):
        of_rows, of_relevant, of_unknown = next(forms)
        return model.learn(
            of_rows(X), of_relevant(Y), weight=weight.tolist(), unknown=of_unknown(unknown)
        )

    assert_the_plain_life(kind, *live(kind.make(), learn))


@each_model
@pytest.mark.parametrize("library", [pd, pl])
def test_frames_with_names_change_no_bit(kind, library):
    features, labels = [f"x{i}" for i in range(D)], [f"y{i}" for i in range(K)]
    model, part = kind.make(), slice(0, NEW_LABEL)
    found = model.learn(
        library.DataFrame(dict(zip(features, X[part, :D].T, strict=True))),
        library.DataFrame(dict(zip(labels[::-1], Y[part, :K].T[::-1], strict=True)))[labels],
        weight=WEIGHTS[part],
        unknown=UNKNOWN[part, :K],
    )
    assert model.features == features and model.labels == labels
    until = CUTS.index(NEW_LABEL)
    np.testing.assert_array_equal(found, np.concatenate(plain(kind)[1][:until]))


@each_model
def test_many_features_of_which_a_row_has_few(kind, tmp_path):
    """Rows are kept another way then, and a committee leaves out members."""
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(80, 700)) * (rng.random((80, 700)) < 0.02)
    dense[11:40:5, 3] = np.nan
    csr = sparse.csr_matrix(dense)
    Y = np.nan_to_num(dense) @ rng.normal(size=(700, K)) > 1.0
    model, twin = kind.make(), kind.make()
    np.testing.assert_array_equal(model.learn(csr[:50], Y[:50]), twin.learn(dense[:50], Y[:50]))
    if kind.can_be_saved:
        model.save(tmp_path / "m.blm")
        model = kind.load(tmp_path / "m.blm")
    np.testing.assert_array_equal(model.learn(csr[50:], Y[50:]), twin.learn(dense[50:], Y[50:]))
    assert_same_model(model, twin)
    np.testing.assert_array_equal(model.score(dense), twin.score(csr))


@each_model
def test_a_model_that_has_not_learned_scores_and_stays_as_it_is(kind):
    """Rows of any width: the first one that is learned says how many features there are."""
    model = kind.make()
    before = model.state()
    for d in (D, D + 1):
        assert np.isfinite(model.score(np.ones((3, d)))).all()
    assert model.n_features is None and model.clock == 0
    assert_same_state(model.state(), before)


@pytest.mark.parametrize("name", ["ranker-trees", "ada", "bmr", "linear"])
def test_the_seed_decides_every_draw(name):
    one, same, other = (live(ZOO[name].make(seed=seed))[1][-1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any() or name == "linear"  # whose description has a seed of its own


def print_digests():
    """Of every model's life; run in processes of their own by the test below."""
    import hashlib

    for name, kind in ZOO.items():
        model, scores = live(kind.make())
        digest = hashlib.sha256(b"".join(part.tobytes() for part in scores))
        for array_name, array in sorted(model.state()["arrays"].items()):
            digest.update(array_name.encode() + array.tobytes())
        print(name, digest.hexdigest())


@pytest.mark.process
def test_every_cpu_gives_the_same_bits():
    """Which code the core's loader, NumPy and BLAS pick depends on the CPU; each can be told to see a lesser one."""
    glibc = "glibc.cpu.hwcaps="
    cpus = (
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
    )
    here = os.path.dirname(__file__)
    path = os.pathsep.join([here, os.path.join(here, "..", "helpers"), *sys.path])
    script = "import test_exactness; test_exactness.print_digests()"
    full, *lesser = (
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", script],
            env={**os.environ, "PYTHONPATH": path, **cpu},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for cpu in cpus
    )
    assert len(full) == len(ZOO)
    for lines in lesser:
        assert lines == full
