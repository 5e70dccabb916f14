"""Whatever learner is registered works with a limit of memory, explanations, merging and model files."""

import copy

import numpy as np
import pytest

import boostline as bl
from boostline import inspect, scale
from boostline.learners import Committee, Description, Kernel, Linear, OutputNeighbours
from boostline.learners.description import _KINDS

K, D, MAX_BYTES = 4, 5, 2**25
#: Kinds that need another learner beside them, or more rows than there are.
SPECIAL = {
    "kernel": Kernel(n_landmarks=40),
    "committee": Committee([Kernel(n_landmarks=40), Linear()]),
    "output_neighbours": Committee([Kernel(n_landmarks=40), OutputNeighbours()]),
}
RNG = np.random.default_rng(3)
X = RNG.normal(size=(900, D))
Y = X[:, :K] > 0.4


def learner_of(kind: str) -> Description:
    return SPECIAL.get(kind) or _KINDS[kind]()


@pytest.fixture(scope="module", params=sorted(set(_KINDS) - {"python"}))
def model(request: pytest.FixtureRequest) -> bl.LabelRanker:
    made = bl.LabelRanker(K, learners=learner_of(request.param), max_bytes=MAX_BYTES, seed=1)
    made.learn(X[:300], Y[:300])
    return made


def test_it_keeps_to_a_limit_of_memory(model):
    assert model.memory_usage() <= MAX_BYTES
    for member in model.members():
        assert 0 < member.description.most_bytes(K, D) <= MAX_BYTES


def test_its_arrays_begin_with_its_prefix(model):
    prefixes = tuple(member.prefix for member in model.members())
    assert len(set(prefixes)) == len(prefixes)
    of_learners = [name for name in model.state()["arrays"] if name.startswith("learners.")]
    assert of_learners and all(name.startswith(prefixes) for name in of_learners)


def test_its_explanation_adds_up_to_the_score(model):
    why = inspect.explain(model, X[400], 2)
    assert why.shares.sum() == pytest.approx(model.score(X[400])[2], abs=1e-9)


def test_it_can_be_merged(model):
    parts = [scale.partial(model, (X[i : i + 100], Y[i : i + 100])) for i in (300, 400, 500)]
    made = scale.finish(model, scale.merge(parts), (X[600:], Y[600:]))
    assert made.clock == 900 and made.memory_usage() <= MAX_BYTES
    assert np.isfinite(made.score(X)).all()


def test_a_file_restores_it(model, tmp_path):
    model.save(tmp_path / "m.blm")
    loaded = bl.load(tmp_path / "m.blm")
    np.testing.assert_array_equal(loaded.score(X), model.score(X))
    twin = copy.copy(model)
    for one in (loaded, twin):
        one.learn(X[300:500], Y[300:500])
    np.testing.assert_array_equal(loaded.score(X), twin.score(X))
