"""After a drift alarm a fresh model is tried beside the old one: what is served, and what is left of either."""

import numpy as np
import pytest
from scipy import sparse
from states import assert_same_model

import boostline as bl
from boostline import _core
from boostline.lab import reference

LEARNERS = [
    bl.learners.Committee([bl.learners.Ridge(), bl.learners.Tracker()]),
    bl.learners.Recency(0.9),
]


def changed(seed=3, n=900, at=500, k=4):
    """Linear truth that is inverted at one moment."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    Z = X @ rng.normal(size=(6, k))
    Z[at:] *= -1
    return X, Z > 1.0


def wrong(Y, at, n, seed=0):
    """The same labels, but n rows with those of other rows."""
    told = Y.copy()
    told[at : at + n] = Y[np.random.default_rng(seed).permutation(at)[:n]]
    return told


def rank_loss(Y, scores, rows):
    return np.nanmean(bl.metrics.RankLoss().rows(Y[rows], scores[rows]))


def make(**settings):
    return bl.LabelRanker(4, learners=LEARNERS, seed=0, **settings)


@pytest.mark.parametrize("case", ["change", "wrong rows"])
def test_a_model_is_two_models_and_a_verdict(case):
    """The rule of boostline.lab.reference, played with two models that know nothing of drift."""
    X, Y = changed()
    if case == "wrong rows":
        X, Y = changed(at=900)
        Y = wrong(Y, 500, 60)
    model, served = make(), make(drift=None)
    other, trial, alarm, seen = None, None, reference.DriftAlarm(), []
    since = {id(served): 0}
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        scores = served.learn(x, y)
        np.testing.assert_array_equal(model.learn(x, y), scores)
        if not y.any() or y.all():
            if other is not None:
                other.learn(x, y)
            continue
        if other is None:
            if alarm.learn(reference.rank_loss(scores, y, ~y)):
                other, trial = make(drift=None), reference.Trial()
                since[id(other)] = t + 1
                seen.append("alarm")
            continue
        counts = 1.0 + Y[since[id(served)] : t][
            [0 < row.sum() < 4 for row in Y[since[id(served)] : t]]
        ].sum(axis=0)
        pair = scores[y], other.learn(x, y)[y]
        old, newcomer = pair[::-1] if trial.newcomer_serves else pair
        c = min(1.0, 1 / np.log1p((~y).sum() / y.sum()))
        was_serving = trial.newcomer_serves
        verdict = trial.learn(old, newcomer, (counts / counts.sum())[y], c)
        if verdict == "newcomer serves" or (verdict == "newcomer goes" and was_serving):
            served, other = other, served
        if verdict.endswith("goes"):
            other, alarm = None, reference.DriftAlarm()
        seen += [verdict] if verdict else []
    assert seen[:2] == ["alarm", "newcomer serves" if case == "change" else "newcomer goes"]


def test_an_adopted_model_counts_as_a_restart():
    X, Y = changed(n=3000)
    model = make()
    model.learn(X[:800], Y[:800])
    assert model.n_restarts == 0 and model.trial.newcomer_serves and model.trial.evidence > 0
    model.learn(X[800:], Y[800:])
    assert model.n_restarts == 1 and model.trial is None


@pytest.mark.parametrize("n", [50, 150])
def test_wrong_rows_do_not_destroy_a_model(n):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 10))
    Y = X @ rng.normal(size=(10, 6)) + 0.3 * rng.normal(size=(4000, 6)) > 1.5
    told = wrong(Y, 2000, n)
    watching, careless = (bl.LabelRanker(6, seed=0, drift=drift) for drift in ("restart", None))
    after, without = watching.learn(X, told), careless.learn(X, told)
    for rows in (slice(2000 + n, 2500 + n), slice(2500 + n, 4000)):
        assert rank_loss(Y, after, rows) <= 1.02 * rank_loss(Y, without, rows)
    assert watching.n_restarts == 0 and watching.trial is None


def test_weights_do_not_run_after_noise():
    """Bursts of shuffled labels, judged by the labels as they were: members that were right keep their weight."""
    rng = np.random.default_rng(0)
    n, k = 6000, 8
    X = rng.normal(size=(n, 12))
    Z = X @ rng.normal(size=(12, k)) / np.sqrt(12)
    Y = Z + 0.2 * rng.normal(size=Z.shape) > 0.8
    told = Y.copy()
    for start in (2000, 3500, 5000):
        rows = np.arange(start, start + 400)
        told[rows] = Y[rng.permutation(rows)]
    scores = bl.LabelRanker(k, seed=0).learn(X, told)
    assert rank_loss(Y, scores, slice(2000, n)) <= 0.035


def states_of_a_trial():
    """Rows after which the newcomer does not serve yet, and rows after which it does."""
    X, Y = changed()
    model, rows = make(), {}
    for t in range(900):
        model.learn(X[t], Y[t])
        if model.trial is not None:
            rows.setdefault(model.trial.newcomer_serves, t + 20)
    return X, Y, rows


@pytest.mark.parametrize("newcomer_serves", [False, True])
def test_a_model_saved_in_a_trial_goes_on_as_if_it_had_not_been(tmp_path, newcomer_serves):
    X, Y, rows = states_of_a_trial()
    n = rows[newcomer_serves]
    model = make()
    model.learn(X[:n], Y[:n])
    assert model.trial.newcomer_serves == newcomer_serves
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    assert loaded.trial == model.trial
    for one in (model, loaded):
        one.learn(X[n:], Y[n:])
    assert_same_model(model, loaded)
    np.testing.assert_array_equal(model.probabilities(X), loaded.probabilities(X))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("size", [7, 450])
def test_blocks_and_threads_change_no_bit_of_a_trial(size, n_threads):
    X, Y = changed(n=3000)
    rows, blocks = make(), make(n_threads=n_threads)
    expected = np.array([rows.learn(x, y) for x, y in zip(X, Y, strict=True)])
    found = [blocks.learn(X[at : at + size], Y[at : at + size]) for at in range(0, len(X), size)]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert rows.n_restarts == 1
    assert_same_model(rows, blocks)


def test_labels_and_features_are_added_in_a_trial():
    X, Y, rows = states_of_a_trial()
    model = make()
    model.learn(X[: rows[False]], Y[: rows[False]])
    model.add_labels(1)
    model.add_features(1)
    X, Y = (np.hstack([part, np.zeros((900, 1), part.dtype)]) for part in (X, Y))
    model.learn(X[rows[False] :], Y[rows[False] :])
    assert model.trial.newcomer_serves


def test_a_trial_keeps_to_the_cap_of_memory():
    rng = np.random.default_rng(0)
    n, d, k, cap = 2000, 20_000, 30, 12_000_000
    topic = rng.integers(k, size=n)
    special = 300 * topic[:, None] + rng.integers(300, size=(n, 20))
    words = np.where(rng.random((n, 20)) < 0.5, special, rng.integers(9000, d, size=(n, 20)))
    entries = np.ones(words.size), (np.repeat(np.arange(n), 20), words.ravel())
    X = sparse.csr_array(entries, shape=(n, d))
    X.sum_duplicates()
    Y = np.zeros((n, k), bool)
    Y[np.arange(n), topic] = True
    Y[1500:] = np.roll(Y[1500:], 7, axis=1)
    model = bl.LabelRanker(k, learners=bl.learners.SparseLinear(), max_bytes=cap)
    most = with_trial = 0
    for at in range(0, n, 50):
        model.learn(X[at : at + 50], Y[at : at + 50])
        most = max(most, model.memory_usage())
        with_trial += model.trial is not None
    assert with_trial > 3 and 0.5 * cap < most <= cap


def test_without_memory_a_trial_ends_and_the_old_model_stays():
    X, Y, rows = states_of_a_trial()
    n = rows[False]
    model = make()
    model.learn(X[:n], Y[:n])
    for allowed in range(200):
        _core.testing.grant_allocations(allowed)
        try:
            model.learn(X[n], Y[n])
            break
        except MemoryError:
            pass
        finally:
            _core.testing.grant_allocations(-1)
    assert model.clock == n + 1 and model.n_restarts == 0


def test_with_learners_written_in_python_nothing_is_tried():
    class Uniform:
        def predict(self, x):
            return np.full(4, 0.25)

        def learn(self, x, relevant, costs, weight):
            pass

    X, Y = changed()
    with pytest.warns(UserWarning):
        model = bl.LabelRanker(4, learners=[bl.learners.Ridge(), Uniform()])
    model.learn(X, Y)
    assert model.trial is None and model.n_restarts == 0
