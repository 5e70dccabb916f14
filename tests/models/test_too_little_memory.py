"""A model that does not fit into memory says so before it takes it, and what to do."""

import re
import resource
from pathlib import Path

import numpy as np
import pytest
from faults import grant_allocations
from scipy import sparse

import boostline as bl
from boostline.models import native
from boostline.saving import limits

K, D = 1000, 2**20  # tags, and the columns of HashingVectorizer() as it comes


@pytest.fixture
def row():
    return sparse.csr_array(([1.0], ([0], [7])), shape=(1, D))


@pytest.fixture
def little_memory():
    """Of this process: a quarter of a gigabyte more than it has."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, before[1]))
    yield used + 2**28
    resource.setrlimit(resource.RLIMIT_AS, before)


def refused(model, row):
    with pytest.raises(MemoryError) as caught:
        model.learn(row, [{3}])
    return str(caught.value)


def test_the_error_says_what_is_needed_and_what_to_do(row, little_memory):
    message = refused(bl.LabelRanker(K, learners=[bl.learners.Linear()]), row)
    assert "x has 1,048,576 features and the model has 1,000 labels" in message
    # 8 bytes for each feature and label: a weight and the sum of its squared gradients
    named = re.search(r"need at least ([0-9.]+) GB \(Linear the most\)", message)
    # It is told with one decimal.
    assert named and abs(float(named[1]) - 8 * K * D / 1e9) <= 0.05
    for help in ("HashingVectorizer(n_features=", "fewer labels", "n_hashed=", "paper_trees"):
        assert help in message


def test_what_fails_although_the_machine_had_enough_says_the_same(row, little_memory, monkeypatch):
    monkeypatch.setattr(native, "machine_bytes", lambda: 2**60)
    model = bl.LabelRanker(K, learners=[bl.learners.Linear()])
    assert "use fewer features" in refused(model, row)
    few = np.zeros(4)
    few[0] = 1.0
    assert np.isfinite(model.learn(few, {3})).all()  # the model is as new


def test_scoring_before_the_first_example_is_refused_alike(row, little_memory):
    with pytest.raises(MemoryError, match="use fewer features"):
        bl.LabelRanker(K, learners=[bl.learners.Linear()]).score(row)


def test_the_default_needs_no_more_than_it_sees(row, little_memory):
    """Which members take part is a matter of sizes: none that has a weight for every feature and label."""
    model = bl.LabelRanker(K)
    assert model.learn(row, [{3}]).shape == (1, K)
    assert model.memory_usage() < 5e6


def test_the_advice_works(row, little_memory):
    learners = [bl.learners.Linear(n_hashed=2**10)]
    assert bl.AdaOLMR(K, learners=learners).learn(row, [{3}]).shape == (1, K)
    assert bl.AdaOLMR(K, learners=bl.learners.paper_trees(5)).learn(row, [{3}]).shape == (1, K)


def test_the_memory_of_a_limited_process_is_its_limit(little_memory):
    assert limits.machine_bytes() <= little_memory


GROWTH = {
    "labels": (lambda model, n: model.add_labels(n), "9 labels and 5 features"),
    "features": (lambda model, n: model.add_features(n), "4 labels and 10 features"),
}
each_growth = pytest.mark.parametrize(("grow", "size"), GROWTH.values(), ids=GROWTH)


def grown_up():
    model = bl.LabelRanker(4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    model.learn(X, X[:, :4] > 0)
    return model


def fingerprint(model):
    state = model.state()
    return state["config"], {name: array.tobytes() for name, array in state["arrays"].items()}


@pytest.mark.gate
@each_growth
def test_growth_without_memory_says_what_for_and_changes_nothing(grow, size):
    model = grown_up()
    before = fingerprint(model)
    for n in range(10_000):
        grant_allocations(n)
        try:
            grow(model, 5)
            break
        except MemoryError as error:
            assert f"there is no memory for a model with {size}: growing needs at least" in str(
                error
            )
            assert "the model is as it was" in str(error)
        finally:
            grant_allocations(-1)
        assert fingerprint(model) == before
    assert n > 20


@each_growth
def test_growth_beyond_the_machine_is_refused_before_it_is_tried(grow, size, monkeypatch):
    model = grown_up()
    monkeypatch.setattr(native, "machine_bytes", lambda: 2 * model.memory_usage() - 1)
    with pytest.raises(MemoryError, match=size):
        grow(model, 5)
    assert (model.n_labels, model.n_features) == (4, 5)
