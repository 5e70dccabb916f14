"""Processes forked after threads, beside threads and out of learners: nothing hangs, models are whole or refused."""

import copy
import multiprocessing
import os
import threading

import numpy as np
import pytest
from forked import in_child

import boostline as bl

pytestmark = pytest.mark.process

K = 4
MODELS = {
    "trees": lambda **kw: bl.AdaOLMR(K, learners=bl.learners.paper_trees(8), seed=2, **kw),
    "auto": lambda **kw: bl.AdaOLMR(K, seed=2, **kw),
    "bmr": lambda **kw: bl.OnlineBMR(
        K, learners=bl.learners.paper_trees(8), edge=0.1, seed=2, **kw
    ),
    "edge search": lambda **kw: bl.OnlineBMR(
        K, learners=bl.learners.paper_trees(8), edge="auto", seed=2, **kw
    ),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def stream(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :K] > 0.4


def assert_same_state(a, b):
    a, b = a.state()["arrays"], b.state()["arrays"]
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_array_equal(array, b[name], err_msg=name)


class Uniform:
    """Votes for all labels alike, and calls `task` when it learns."""

    def __init__(self, task):
        self.task = task

    def predict(self, x):
        return np.full(K, 1 / K)

    def learn(self, x, relevant, costs, weight):
        self.task()

    def __deepcopy__(self, memo):
        return self


@each_model
def test_a_child_learns_with_threads_as_its_parent_would(make):
    X, Y = stream(200)
    expected = make()
    expected.learn(X, Y)
    model = make(n_threads=2)
    model.learn(X[:100], Y[:100])

    def go_on():
        model.learn(X[100:150], Y[100:150])
        model.n_threads = 3
        model.learn(X[150:], Y[150:])
        assert_same_state(model, expected)

    in_child(go_on)
    in_child(lambda: in_child(go_on))
    go_on()  # and the parent's threads are still there


def test_a_child_drops_the_model_and_changes_its_threads():
    X, Y = stream(50)
    models = [MODELS["trees"](n_threads=2) for _ in range(2)]
    for model in models:
        model.learn(X, Y)

    def drop():
        models.pop()
        models[0].n_threads = 1
        models[0].learn(X, Y)
        models.clear()

    in_child(drop)


inherited = {}


def learn_inherited(block):
    return inherited["model"].learn(*block)


def test_multiprocessing_with_fork_returns():
    X, Y = stream(50)
    inherited["model"] = MODELS["trees"](n_threads=2)
    inherited["model"].learn(X, Y)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        scores = pool.map_async(learn_inherited, [stream(50, seed=1)]).get(timeout=30)
    np.testing.assert_array_equal(scores[0], learn_inherited(stream(50, seed=1)))


def whole_or_refused(check):
    """`check`, unless another thread was changing the model at the fork: then an error says so."""
    try:
        check()
    except RuntimeError as error:
        assert "when this process was forked" in str(error)


@each_model
def test_beside_a_thread_that_learns_a_child_has_whole_calls_or_an_error(make):
    X, Y = stream(3000)
    model = make(n_threads=2)
    model.learn(X[0], Y[0])

    def check():
        n = model.clock
        assert np.isfinite(model.score(X[0])).all()
        whole = make()
        whole.learn(X[:n], Y[:n])
        assert_same_state(model, whole)
        model.n_threads = 1
        model.learn(X[:5], Y[:5])
        assert model.clock == n + 5

    def go_on():
        for i in range(1, 3000, 100):
            model.learn(X[i : i + 100], Y[i : i + 100])

    learner = threading.Thread(target=go_on)
    learner.start()
    n_forks = 0
    while learner.is_alive():
        in_child(lambda: whole_or_refused(check))
        n_forks += 1
    learner.join()
    assert n_forks > 0
    assert model.clock == 3000


def test_beside_a_thread_that_copies_trees_a_child_gets_memory_for_its_own():
    X, Y = stream(400)
    model = MODELS["trees"]()
    model.learn(X, Y)
    copies = threading.Event()

    def go_on_copying():
        while not copies.is_set():
            model._native.core.clone()

    copier = threading.Thread(target=go_on_copying)
    copier.start()
    try:
        for _ in range(30):
            in_child(lambda: assert_same_state(model, copy.deepcopy(model)))
    finally:
        copies.set()
        copier.join()


def test_a_child_of_a_learner_ends_its_row_there():
    """The thread that teaches forks: it goes on in both processes."""
    X, Y = stream(20)
    pids = []
    model = bl.AdaOLMR(
        K, learners=[Uniform(lambda: pids.append(os.fork())), bl.learners.HoeffdingTree()]
    )
    model.learn(X[0], Y[0])
    if pids[0] == 0:
        code = 1
        try:
            assert model.clock == 1
            assert model.score(X).shape == (20, K)
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pids[0], 0)[1] == 0
    assert model.clock == 1


def test_a_fork_does_not_wait_for_python_learners():
    """One that waits for the thread that forks would wait for ever."""
    X, Y = stream(20)
    inside, go_on = threading.Event(), threading.Event()

    def wait():
        inside.set()
        assert go_on.wait(30)

    uniform = Uniform(lambda: None)
    model = bl.AdaOLMR(K, learners=[uniform, bl.learners.HoeffdingTree()])
    model.learn(X[0], Y[0])
    uniform.task = wait
    learner = threading.Thread(target=lambda: model.learn(X[0], Y[0]))
    learner.start()
    assert inside.wait(30)

    def check():
        for use in (model.score, model.rank, lambda x: model.learn(x, {0})):
            with pytest.raises(RuntimeError, match="when this process was forked"):
                use(X[0])
        other = bl.AdaOLMR(K)
        other.learn(X, Y)  # the other models work
        assert other.clock == 20

    in_child(check)
    go_on.set()
    learner.join()
    assert model.clock == 2


def test_a_child_made_while_labels_come_knows_how_many_there_are():
    X, Y = stream(300, d=40)
    model = bl.AdaOLMR(labels=["a", "b", "c", "d"])
    model.learn(X, Y)

    def check():
        scores = model.learn(X[0], {"a"})
        assert model.n_labels == len(scores) == len(model.labels)
        assert len(model.rank(X[0])) == len(scores)

    def grow():
        for i in range(20):
            model.add_labels([f"{i}"])

    grower = threading.Thread(target=grow)
    grower.start()
    while grower.is_alive():
        in_child(lambda: whole_or_refused(check))
    grower.join()
    assert model.n_labels == 24
