"""Several threads at one model: growth beside learning, whole states, threads that cannot be started."""

import os
import resource
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from forked import in_child

import boostline as bl

K = 4
MODELS = {
    "trees": lambda **kw: bl.AdaOLMR(K, learners=bl.learners.paper_trees(8), seed=2, **kw),
    "auto": lambda **kw: bl.AdaOLMR(K, seed=2, **kw),
    "bmr": lambda **kw: bl.OnlineBMR(
        K, learners=bl.learners.paper_trees(8), edge="auto", seed=2, **kw
    ),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def stream(n, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :K] > 0.4


@contextmanager
def beside(*tasks):
    """Run the tasks, again and again, while the block runs; what they raise fails the test."""
    done, errors = threading.Event(), []

    def repeat(task):
        try:
            while not done.is_set():
                task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not errors, errors


@each_model
def test_labels_may_come_while_others_learn(make):
    """No row is lost, and none is learned by a model of the old size."""
    X, _ = stream(20)
    sets = [{int(i) % K} for i in range(20)]
    model, n_blocks = make(n_threads=2), []

    def learn():
        model.learn(X, sets)
        n_blocks.append(1)

    learn()
    with beside(learn, learn, lambda: model.score(X[0])):
        for n in range(5):
            model.add_labels(1)
            model.learn(X[0], {K + n})
    assert model.n_labels == K + 5
    assert model.clock == 20 * len(n_blocks) + 5
    assert model.score(X).shape == (20, K + 5)
    assert np.isfinite(model.score(X)).all()


def test_features_may_come_while_others_learn():
    """A row of the old width is learned before or refused after, as if the calls had come one after the other."""
    X, Y = stream(20)
    model, n_learned = MODELS["auto"](), []

    def learn():
        x = np.zeros((20, model.n_features or 6))
        x[:, :6] = X
        try:
            model.learn(x, Y)
        except ValueError as error:
            assert "features, but" in str(error)
        else:
            n_learned.append(20)

    learn()
    with beside(learn, learn):
        for _ in range(5):
            model.add_features(1)
    assert model.n_features == 11
    assert model.clock == sum(n_learned)


def test_ranking_beside_growth_has_a_name_for_every_label():
    X, Y = stream(50)
    model = bl.AdaOLMR(labels=["a", "b", "c", "d"], learners=bl.learners.paper_trees(4))
    model.learn(X, Y)
    with beside(lambda: model.rank(X), lambda: model.rank(X[0])):
        for n in range(100):
            model.add_labels([f"new {n}"])


@each_model
def test_first_rows_of_two_threads_go_into_one_model(make):
    X, Y = stream(20)
    for _ in range(5):
        model, together = make(), threading.Barrier(3)

        def learn(model=model, together=together):
            together.wait()
            model.learn(X, Y)

        threads = [threading.Thread(target=learn) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert model.clock == 60


@each_model
def test_what_is_saved_beside_learning_is_a_state_between_two_calls(make):
    X, Y = stream(300)
    model = make()
    known = []
    for i in range(0, 300, 10):
        model.learn(X[i : i + 10], Y[i : i + 10])
        known.append(model.state()["arrays"])
    model, states = make(), []
    model.learn(X[:10], Y[:10])
    with beside(lambda: states.append(model.state()["arrays"])):
        for i in range(10, 300, 10):
            n = len(states)
            model.learn(X[i : i + 10], Y[i : i + 10])
            while len(states) == n:
                time.sleep(0.0001)
    assert len({int(state["clock"][0]) for state in states}) > 3
    for state in states:
        expected = known[int(state["clock"][0]) // 10 - 1]
        assert state.keys() == expected.keys()
        for name, array in state.items():
            np.testing.assert_array_equal(array, expected[name], err_msg=name)


@pytest.mark.process
@pytest.mark.process
def test_threads_that_cannot_be_started_are_an_error_and_change_nothing():
    def learn_without_room_for_stacks():
        X, Y = stream(20)
        model = MODELS["trees"]()
        model.learn(X, Y)
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (held + 2**28, resource.RLIM_INFINITY))
        model.n_threads = 1000
        with pytest.raises(RuntimeError, match=r"n_threads is 1000, but only \d+ threads can run"):
            model.learn(X, Y)
        assert model.clock == 20
        model.n_threads = 2
        model.learn(X, Y)
        assert model.clock == 40

    in_child(learn_without_room_for_stacks)
