"""Predictions of every format as distributions over the labels (Section 2.1 of the paper).

The functions encode one prediction. The classes wrap a learner whose ``predict`` gives that format, so that
learners of different formats sit in one booster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import FloatArray


def encode_label(label: int, n_labels: int) -> FloatArray:
    """Turn a single label into votes: all votes for this label.

    Examples
    --------
    >>> encode_label(1, 3)
    array([0., 1., 0.])
    """
    votes = np.zeros(n_labels)
    votes[_checked(label, n_labels)] = 1.0
    return votes


def encode_set(labels: Iterable[int], n_labels: int) -> FloatArray:
    """Turn a set of labels into votes: equal votes for its labels; uniform if the set is empty.

    Examples
    --------
    >>> encode_set({0, 2}, 3)
    array([0.5, 0. , 0.5])
    """
    chosen = sorted({_checked(label, n_labels) for label in labels})
    if not chosen:
        return np.full(n_labels, 1.0 / n_labels)
    votes = np.zeros(n_labels)
    votes[chosen] = 1.0 / len(chosen)
    return votes


def encode_binary(answer: float, group: int | Iterable[int], n_labels: int) -> FloatArray:
    """Turn yes or no for a label or a group into votes: yes is spread over the group, no over the other labels.

    ``answer`` may be a bool or the probability of yes.

    Examples
    --------
    >>> encode_binary(False, 0, 3)
    array([0. , 0.5, 0.5])
    >>> encode_binary(0.75, {0, 1}, 4)
    array([0.375, 0.375, 0.125, 0.125])
    """
    members = {group} if isinstance(group, int | np.integer) else set(group)
    inside = encode_set(members, n_labels)
    outside = encode_set(set(range(n_labels)) - {int(m) for m in members}, n_labels)
    yes = float(answer)
    if not 0.0 <= yes <= 1.0:
        raise ValueError(f"the answer is {answer!r}, but must be a bool or a probability")
    return yes * inside + (1.0 - yes) * outside


def encode_scores(scores: ArrayLike, n_labels: int) -> FloatArray:
    """Turn scores into votes: in proportion, with negative scores as 0; uniform if all are 0.

    Examples
    --------
    >>> encode_scores([3.0, -1.0, 1.0], 3)
    array([0.75, 0.  , 0.25])
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.shape != (n_labels,):
        raise ValueError(f"the scores have shape {array.shape}, but must have ({n_labels},)")
    if not np.isfinite(array).all():
        raise ValueError("the scores have a value that is not finite")
    positive = np.maximum(array, 0.0)
    largest = positive.max()
    if largest == 0.0:
        return np.full(n_labels, 1.0 / n_labels)
    positive = positive / largest  # so that the sum cannot overflow
    return np.asarray(positive / positive.sum())


def _checked(label: Any, n_labels: int) -> int:
    if isinstance(label, bool | np.bool_) or not isinstance(label, int | np.integer):
        raise TypeError(f"the label is {label!r}, but must be a whole number below {n_labels}")
    if not 0 <= int(label) < n_labels:
        raise ValueError(f"the label is {int(label)}, but n_labels is {n_labels}")
    return int(label)


class _Encoded:
    """A learner of another format, made one that votes; learning and saving go through unchanged."""

    votes_single_label = False

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def learn(self, x: Any, relevant: Any, costs: Any, weight: float) -> None:
        self.learner.learn(x, relevant, costs, weight)

    def _encode(self, prediction: Any, n_labels: int) -> FloatArray:
        raise NotImplementedError

    def predict(self, x: Any, n_labels: int) -> FloatArray:
        return self._encode(self.learner.predict(x), n_labels)

    def __getattr__(self, name: str) -> Any:
        if (
            name in ("get_state", "set_state", "grow_labels", "grow_features")
            and "learner" in self.__dict__
        ):
            return getattr(self.learner, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.learner!r})"


class SingleLabel(_Encoded):
    """Wrap a learner whose ``predict`` returns one label."""

    votes_single_label = True

    def _encode(self, prediction: Any, n_labels: int) -> FloatArray:
        return encode_label(prediction, n_labels)


class LabelSet(_Encoded):
    """Wrap a learner whose ``predict`` returns a set of labels."""

    def _encode(self, prediction: Any, n_labels: int) -> FloatArray:
        return encode_set(prediction, n_labels)


class Binary(_Encoded):
    """Wrap a learner whose ``predict`` says whether a label, or one of a group of labels, is relevant."""

    def __init__(self, learner: Any, group: int | Iterable[int]) -> None:
        super().__init__(learner)
        self.group = group if isinstance(group, int | np.integer) else tuple(group)

    def _encode(self, prediction: Any, n_labels: int) -> FloatArray:
        return encode_binary(prediction, self.group, n_labels)


class Scores(_Encoded):
    """Wrap a learner whose ``predict`` returns a score for every label."""

    def _encode(self, prediction: Any, n_labels: int) -> FloatArray:
        return encode_scores(prediction, n_labels)
