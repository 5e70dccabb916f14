"""A file, a pickle and a copy go the same way back: the same checks, the same class."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import boostline as bl
from boostline.saving import LoadError

X = np.random.default_rng(0).normal(size=(40, 3))


def model() -> bl.AdaOLMR:
    made = bl.AdaOLMR(3, learners=bl.learners.paper_trees(2))
    made.learn(X, X > 0.5)
    return made


def restored(change: Any) -> Any:
    """What a pickle becomes whose arrays were changed on the way."""
    function, (kind, config, learners, arrays, n_threads) = model().__reduce__()
    change(arrays)
    return function(kind, config, learners, arrays, n_threads)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda arrays: arrays.pop("expert_loss"), "the state has no array 'expert_loss'"),
        (
            lambda arrays: arrays.update({"learners.0.m": np.zeros(1)}),
            r"learner 0 has .* unexpected",
        ),
        (lambda arrays: arrays.update({"learners.2.label": np.zeros(1)}), "of learner 2, but"),
        (lambda arrays: arrays["learner_weights"].fill(3.0), "'learner_weights' has a value out"),
    ],
)
def test_a_pickle_is_checked_like_a_file(change, message):
    with pytest.raises(LoadError if "unexpected" in message else ValueError, match=message):
        restored(change)


def test_a_class_made_from_a_booster_does_not_take_its_place(tmp_path):
    class Mine(bl.LabelRanker):
        pass

    mine = Mine(3)
    mine.learn(X, X > 0.5)
    assert type(copy.deepcopy(mine)) is type(copy.copy(mine)) is Mine
    mine.save(tmp_path / "m.blm")
    assert type(bl.load(tmp_path / "m.blm")) is bl.LabelRanker
    assert type(pickle.loads(pickle.dumps(bl.LabelRanker(3)))) is bl.LabelRanker
