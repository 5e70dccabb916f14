"""Random models, small enough to be quick, and rows for them: every learner, every option, every loss."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from committees import NAMES, committee
from numpy.typing import NDArray
from python_learners import Counting, CountingOne

import boostline as bl
from boostline import learners as bll
from boostline import losses

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Numbers that are allowed but that arithmetic does not expect. Not -0.0, which a sparse row cannot hold.
EXTREME = (1e100, -1e100, 1e90, 5e-324, -5e-324, 1e-160, 2.0**53)


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a model is made; `make` gives the same one every time."""

    seed: int
    python: bool = True

    def make(self) -> Any:
        """A new model."""
        return _model(np.random.default_rng(self.seed), self.python)

    def python_learners(self) -> list[Any]:
        """New objects for the model's learners written in Python, as `load` wants them."""
        model = self.make()
        return [d.learner for d in model.learners if d.kind == "python"]


def _model(rng: np.random.Generator, python: bool) -> Any:
    k = int(rng.integers(2, 6))
    if rng.random() < 0.03:
        k = int(rng.choice([70, 300]))  # of so many labels probabilities look at some only
    named = rng.random() < 0.3
    common: dict[str, Any] = {
        "seed": int(rng.integers(2**63)),
        "n_threads": int(rng.integers(1, 4)),
    }
    if named:
        common["labels"] = [f"label {i}" for i in range(k)]
    else:
        common["n_labels"] = k
    which = rng.random()
    if which < 0.3:
        return bl.LabelRanker(
            learners=_learners(rng, k if python else 0, single=False),
            drift=None if rng.random() < 0.5 else "restart",
            max_bytes=None if rng.random() < 0.8 else 100_000_000,
            **common,
        )
    if which < 0.6:
        return bl.AdaOLMR(
            learners=_learners(rng, k if python else 0, single=False),
            expert=str(rng.choice(["draw", "weighted", "best", "last"])),
            steps=str(rng.choice(["paper", "adagrad"])),
            **common,
        )
    single = rng.random() < 0.3
    edge = "auto" if rng.random() < 0.4 else float(rng.choice([0.001, 0.01, 0.1, 0.3, 1.0]))
    loss = _loss(rng, single)
    if isinstance(loss, losses.GeneralLoss):
        edge = 0.1
    return bl.OnlineBMR(
        learners=_learners(rng, k if python else 0, single), edge=edge, loss=loss, **common
    )


def _loss(rng: np.random.Generator, single: bool) -> Any:
    if single and rng.random() < 0.7:
        return "rank"
    choice = rng.integers(6)
    if choice == 0:
        return losses.Hinge(float(rng.choice([0.0, 0.5, 3.0])))
    if choice == 1:
        return "logistic"
    if choice == 2:
        return "exponential"
    if choice == 3 and rng.random() < 0.3:
        return losses.PairwiseLoss(squared_hinge, name="squared hinge")
    return "hinge"


def squared_hinge(d: FloatArray) -> FloatArray:
    """A convex loss of our own."""
    return np.asarray(np.maximum(1.0 + d, 0.0) ** 2)


def random_learners(rng: np.random.Generator) -> Any:
    """Some compiled learners."""
    return _learners(rng, 0, single=False)


def _learners(rng: np.random.Generator, k: int, single: bool) -> Any:
    """Some learners; with k > 0 also ones written in Python, for so many labels."""
    if not single and rng.random() < 0.05:
        return bll.auto_mix()
    return [_learner(rng, k, single) for _ in range(int(rng.integers(1, 4)))]


def _learner(rng: np.random.Generator, k: int, single: bool) -> Any:
    if k and rng.random() < 0.25:
        return bll.SingleLabel(CountingOne(k)) if single else Counting(k)
    if single or rng.random() < 0.35:
        if rng.random() < 0.5:
            return bll.paper_trees(int(rng.integers(1, 5)), single_label=single)
        return bll.HoeffdingTree(
            features=None if rng.random() < 0.7 else (0,),
            grace_period=float(rng.choice([1.0, 3.0, 20.0])),
            split_confidence=float(rng.choice([0.01, 0.9])),
            max_bytes=None if rng.random() < 0.7 else 20_000,
            single_label=single,
        )
    few = int(rng.integers(1, 12))
    return _scorer(rng, few) if rng.random() < 0.75 else _committee(rng, few)


def _scorer(rng: np.random.Generator, few: int) -> Any:
    choice = rng.integers(10)
    if choice == 0:
        hashed = int(rng.choice([0, 0, 1, 4, 64]))
        return bll.Linear(int(rng.integers(0, 4)), few, float(rng.choice([0.01, 0.3])), hashed)
    if choice == 1:
        return bll.Ridge(float(rng.choice([0.1, 3.0])), float(rng.choice([0.9, 1.0])))
    if choice == 2:
        return bll.Kernel(32, float(rng.choice([0.01, 0.3])))
    if choice == 3:
        return bll.Neighbours(int(rng.integers(1, 6)), few)
    if choice == 4:
        return bll.Recency(float(rng.choice([0.0, 0.5, 0.9, 1.0])))
    if choice in (5, 6):
        return bll.SparseLinear(
            C=float(rng.choice([0.01, 0.3, 100.0])),
            n_replays=int(rng.integers(0, 4)),
            memory=few,
            max_bytes=int(rng.choice([2**29, 1500, 6000])),
            emphasis=int(rng.choice([0, 4])),
        )
    if choice == 8:
        return bll.Tracker(float(rng.choice([0.01, 0.2, 1.0])))
    if choice == 7:
        return bll.Centroids(max_bytes=int(rng.choice([2**28, 1000])))
    return bll.SlidingWindow(_scorer_that_restarts(rng, few), length=int(rng.integers(1, 20)))


def _scorer_that_restarts(rng: np.random.Generator, few: int) -> Any:
    while isinstance(scorer := _scorer(rng, few), bll.SlidingWindow):
        continue
    return scorer


def _committee(rng: np.random.Generator, few: int) -> Any:
    while True:
        chosen = [name for name in NAMES if rng.random() < 0.6]
        enough = {"kernel", "linear"} & set(chosen)  # of those for any number of features
        few_features = int(rng.choice([2, 512])) if enough else 512
        try:
            assert chosen
            made = committee(*chosen, few_features=few_features, n_landmarks=32, memory=few)
            if rng.random() < 0.3:  # others beside them
                others = [_scorer(rng, few) for _ in range(int(rng.integers(1, 3)))]
                return bll.Committee([*made.members, *others], few_features)
            return made
        except (AssertionError, ValueError):  # members that do not go together
            continue


# Rows.


def random_rows(rng: np.random.Generator, n: int, d: int, extreme: float = 0.0) -> FloatArray:
    """Rows with every kind of number: zeros, constants, missing ones, and with `extreme` probability the worst."""
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3)
    X[rng.random(X.shape) < rng.choice([0.0, 0.3, 0.9])] = 0.0
    X[rng.random(X.shape) < rng.choice([0.0, 0.0, 0.2])] = np.nan
    if rng.random() < extreme and n:
        X[rng.integers(n), rng.integers(d)] = rng.choice(EXTREME)
    if rng.random() < 0.1:
        X[:, rng.integers(d)] = 1.0
    return np.asarray(X)


def random_labels(rng: np.random.Generator, n: int, k: int) -> BoolArray:
    """Indicators, empty and full ones among them."""
    Y = rng.random((n, k)) < rng.choice([0.2, 0.5, 0.8])
    if n and rng.random() < 0.2:
        Y[rng.integers(n)] = rng.random() < 0.5
    return np.asarray(Y)
