"""Several threads at one model: every call sees it before or after another, never between."""

import os
import resource
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from forked import in_child
from model_zoo import ZOO, D, K, each_model, rows
from states import assert_same_state

import boostline as bl


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
def test_labels_and_features_may_come_while_others_learn_and_score(kind):
    """No row is lost; one of the old width is learned before or refused after."""
    X, _ = rows(5)
    sets = [{i % K} for i in range(5)]
    model, n_learned = kind.make(n_threads=2), []

    def as_wide_as_the_model():
        x = np.zeros((5, model.n_features or D))
        x[:, :D] = X
        return x

    def learn():
        try:
            model.learn(as_wide_as_the_model(), sets)
        except ValueError as error:
            assert "features, but" in str(error)
        else:
            n_learned.append(5)

    def score():
        try:
            assert np.isfinite(model.score(as_wide_as_the_model())).all()
            assert sorted(model.rank(as_wide_as_the_model())[0])[:K] == list(range(K))
        except ValueError as error:
            assert "features, but" in str(error)

    learn()
    with beside(learn, score):
        for n in range(3):
            model.add_labels(1)
            model.add_features(1)
            x = np.zeros(model.n_features)
            model.learn(x, {K + n})
    assert (model.n_labels, model.n_features) == (K + 3, D + 3)
    assert model.clock == sum(n_learned) + 3


@each_model
def test_first_rows_of_several_threads_go_into_one_model(kind):
    X, Y = rows(5)
    model, together = kind.make(), threading.Barrier(3)

    def learn():
        together.wait()
        model.learn(X, Y)

    threads = [threading.Thread(target=learn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.clock == 15


@each_model
def test_states_and_scores_seen_beside_learning_are_of_a_moment_between_two_calls(kind):
    X, Y = rows(80)
    probe = X[:3]
    blocks = [slice(i, i + 10) for i in range(0, 80, 10)]
    states, scores = {}, set()
    twin = kind.make()
    for block in blocks:
        twin.learn(X[block], Y[block])
        states[twin.clock] = twin.state()
        scores.add(twin.score(probe).tobytes())
    model, seen, scored = kind.make(), [], []
    model.learn(X[:10], Y[:10])
    with beside(
        lambda: seen.append(model.state()), lambda: scored.append(model.score(probe).tobytes())
    ):
        for block in blocks[1:]:
            n = len(seen)
            model.learn(X[block], Y[block])
            while len(seen) == n:
                time.sleep(0.0001)
    assert len({int(state["arrays"]["clock"][0]) for state in seen}) > 3
    for state in seen[-50:]:
        assert_same_state(state, states[int(state["arrays"]["clock"][0])])
    assert set(scored) <= scores


def test_ranking_beside_growth_has_a_name_for_every_label():
    X, Y = rows(50)
    model = bl.AdaOLMR(labels=["a", "b", "c", "d"], learners=bl.learners.paper_trees(4))
    model.learn(X, Y)
    with beside(lambda: model.rank(X), lambda: model.rank(X[0])):
        for n in range(100):
            model.add_labels([f"new {n}"])


class Curious:
    """Its votes are uniform; asked for them, it calls its own model."""

    def __init__(self, call):
        self.call, self.model = call, None

    def predict(self, x):
        if self.model is not None:
            self.call(self.model)
        return np.full(K, 1 / K)

    def learn(self, x, relevant, costs, weight):
        pass


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.state(),
        lambda model: model.learn(np.ones(D), {0}),
        lambda model: model.add_features(1),
        lambda model: setattr(model, "n_threads", 2),
    ],
    ids=["state", "learn", "add_features", "n_threads"],
)
def test_a_learner_that_is_asked_for_votes_may_not_wait_for_its_models_turn(call):
    """Whoever learns beside it would wait for the votes, and have the turn."""
    learner = Curious(call)
    model = bl.AdaOLMR(K, learners=[learner])
    model.learn(*rows(5))
    learner.model = model
    with pytest.raises(RuntimeError, match="a weak learner may not change the model"):
        model.score(np.ones(D))
    learner.model = None
    assert model.score(np.ones(D)).shape == (K,)


@pytest.mark.parametrize("bad", [0, -1, 1.5, 2**20])
def test_bad_numbers_of_threads(bad):
    model = bl.LabelRanker(K)
    with pytest.raises((TypeError, ValueError), match="n_threads is"):
        model.n_threads = bad


@pytest.mark.process
def test_threads_that_cannot_be_started_are_an_error_and_change_nothing():
    def learn_without_room_for_stacks():
        X, Y = rows(20)
        model = ZOO["ada"].make()
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
