"""Every kind of model, made small, for the checks in tests/zoo. A new one joins by a line in `ZOO`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from committees import committee
from numpy.typing import NDArray

import boostline as bl
from boostline.learners import (
    Centroids,
    HoeffdingTree,
    Kernel,
    Linear,
    Neighbours,
    Recency,
    Ridge,
    SparseLinear,
    SparseRanker,
    Tracker,
)
from boostline.losses import GeneralLoss, Hinge, PairwiseLoss

#: Labels and features of the models in the zoo, before they grow.
K, D = 4, 6


class Counts:
    """A learner written in Python: votes by how often labels were relevant. Its state has numbers of every kind."""

    def __init__(self, n_labels: int = K) -> None:
        self.counts = np.ones(n_labels)
        self.n_features = 0
        self.memory: dict[Any, Any] = {"best": -np.inf, 3: (1, "two", None, True)}
        self.last = np.float32(0.1)
        self.seen = 2**90

    def predict(self, x: Any) -> NDArray[np.float64]:
        return np.asarray(self.counts / self.counts.sum())

    def learn(self, x: Any, relevant: Any, costs: Any, weight: float) -> None:
        if weight == 0.0:
            return
        self.counts += weight * relevant * (1.0 - costs) * float(self.last)
        self.last = np.float32(self.last * np.float32(1.01))
        self.memory["best"] = max(self.memory["best"], float(costs.min()))
        self.seen += 1

    def grow_labels(self, n_labels: int) -> None:
        self.counts = np.append(self.counts, np.ones(n_labels - len(self.counts)))

    def grow_features(self, n_features: int) -> None:
        self.n_features = n_features

    def get_state(self) -> dict[str, Any]:
        return {name: _copied(value) for name, value in vars(self).items()}

    def set_state(self, state: dict[str, Any]) -> None:
        vars(self).update({name: _copied(value) for name, value in state.items()})


def _copied(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | dict) else value


def squared_hinge(d: NDArray[np.float64]) -> NDArray[np.float64]:
    """A convex loss of a user's own."""
    return np.asarray(np.maximum(1.0 + np.asarray(d), 0.0) ** 2)


def one_error(relevant: NDArray[np.bool_], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """A loss of a user's own that does not split into pairs."""
    return np.where(relevant[np.argmax(scores, axis=1)], 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Kind:
    """A booster with its learners and settings; `make` gives a new model every time."""

    booster: Callable[..., Any]
    #: Descriptions, and classes of learners written in Python, of which each model gets objects of its own.
    learners: tuple[Any, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self, **options: Any) -> Any:
        """A new model; without learners it has the booster's default."""
        if self.learners:
            options["learners"] = [one() if isinstance(one, type) else one for one in self.learners]
        return self.booster(K, **{"seed": 3, **self.settings, **options})

    def load(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """The model of a file that one of this kind has saved."""
        python = [one() for one in self.learners if isinstance(one, type)]
        return bl.load(path, learners=python, **options)

    @property
    def is_in_python(self) -> bool:
        """Whether some of the learners are."""
        return any(isinstance(one, type) for one in self.learners)

    @property
    def can_be_saved(self) -> bool:
        """A loss of a user's own is a function, which no file can hold."""
        return not isinstance(self.settings.get("loss"), PairwiseLoss | GeneralLoss)


def ranker(*learners: Any, **settings: Any) -> Kind:
    return Kind(bl.LabelRanker, learners, settings)


def ada(*learners: Any, **settings: Any) -> Kind:
    return Kind(bl.AdaOLMR, learners, settings)


def bmr(*learners: Any, edge: Any = 0.1, **settings: Any) -> Kind:
    return Kind(bl.OnlineBMR, learners, {"edge": edge, **settings})


TREES = bl.learners.paper_trees(6)
#: Trees that try to split, and split, all the time.
SPLITTING = (HoeffdingTree(grace_period=2.0, tie_threshold=0.8),) * 3
SINGLE = (HoeffdingTree(grace_period=2.0, tie_threshold=0.8, single_label=True),) * 3

ZOO: dict[str, Kind] = {
    # Boosters.
    "ranker": ranker(),
    "ranker-trees": ranker(TREES),
    "ranker-never-restarts": ranker(TREES, drift=None),
    "ranker-capped": ranker(SparseLinear(), Centroids(), Kernel(64), TREES, max_bytes=2_000_000),
    "ada": ada(TREES),
    "ada-weighted": ada(TREES, expert="weighted"),
    "ada-best": ada(*SPLITTING, expert="best"),
    "ada-last": ada(TREES, expert="last"),
    "ada-adagrad": ada(TREES, steps="adagrad"),
    "ada-large-seed": ada(TREES, seed=2**64 - 1),
    "bmr": bmr(TREES),
    "bmr-edge-auto": bmr(*SPLITTING, edge="auto"),
    "bmr-logistic": bmr(TREES, edge="auto", loss="logistic"),
    "bmr-exponential": bmr(TREES, loss="exponential"),
    "bmr-margin": bmr(TREES, loss=Hinge(0.5)),
    "bmr-rank": bmr(*SINGLE, loss="rank"),
    "bmr-own-loss": bmr(*SINGLE, loss=PairwiseLoss(squared_hinge)),
    "bmr-general-loss": bmr(*SINGLE, loss=GeneralLoss(one_error, vectorised=True)),
    # Learners.
    "trees": ada(
        HoeffdingTree(grace_period=5.0),
        HoeffdingTree(features=2, single_label=True),
        HoeffdingTree(features=(1, 3), grace_period=3.0),
        HoeffdingTree(features=(0, 2, 4), max_bytes=6000, grace_period=2.0, tie_threshold=0.8),
    ),
    "linear": ranker(Linear(n_replays=4, memory=50, seed=2**63 + 5)),
    "linear-no-replay": ranker(Linear(n_replays=0, learning_rate=0.1)),
    "linear-hashed": ranker(Linear(n_replays=2, memory=50, n_hashed=8)),
    "centroids": ranker(Centroids()),
    "centroids-forgets": ranker(Centroids(max_bytes=1000)),
    "sparse-linear": ranker(SparseLinear(n_replays=3, memory=50)),
    "sparse-linear-forgets": ranker(SparseLinear(C=3.0, memory=20, max_bytes=1400)),
    "sparse-ranker": ranker(SparseRanker(n_replays=3, memory=50, n_neighbours=5)),
    "sparse-ranker-forgets": ranker(SparseRanker(memory=20, max_bytes=1600)),
    "tracker": ranker(Tracker()),
    "tracker-fast": ranker(Tracker(step=1.0)),
    "ridge": ranker(Ridge()),
    "ridge-forgetting": ranker(Ridge(ridge=1e-3, forgetting=0.98)),
    "kernel": ranker(Kernel(n_landmarks=64)),
    "kernel-growing": ranker(Kernel(ridge=0.05)),
    "neighbours": ranker(Neighbours(n_neighbours=7, memory=60)),
    "recency": ranker(Recency(0.9)),
    "recency-of-all": ranker(Recency(1.0)),
    "recency-of-the-last": ranker(Recency(0.0)),
    "committee": ranker(committee(memory=60, n_replays=3, n_neighbours=7, seed=3)),
    "committee-few-features": ranker(committee(few_features=2, memory=60)),
    "committee-some": ranker(committee("kernel", "output_neighbours", n_landmarks=64)),
    "python": ada(Counts, HoeffdingTree(), Counts, bl.learners.paper_trees(2)),
    "python-first": bmr(Counts),
    # Learners of all kinds under each booster.
    "ranker-of-all": ranker(Kernel(64), HoeffdingTree(), Counts, committee(), Recency()),
    "ada-of-all": ada(Linear(), Kernel(64), Ridge(), Neighbours(), Recency(), HoeffdingTree()),
    "bmr-of-all": bmr(Linear(), Kernel(64), Ridge(), Neighbours(), Recency(), edge="auto"),
}  # fmt: skip

each_model = pytest.mark.parametrize("kind", ZOO.values(), ids=ZOO)
each_saved_model = pytest.mark.parametrize(
    "kind",
    [kind for kind in ZOO.values() if kind.can_be_saved],
    ids=[name for name, kind in ZOO.items() if kind.can_be_saved],
)


def rows(n: int, d: int = D, k: int = K, seed: int = 0) -> tuple[Any, Any]:
    """Rows with zeros, missing and large values, whose numbers float32 holds; some have no label or all of them."""
    rng = np.random.default_rng([seed, d])
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 30, size=d) + rng.normal(size=d) * 5
    Y = (X[:, :k] - X[:, :k].mean(axis=0)) / X[:, :k].std(axis=0) > 0.6
    Y |= rng.random((n, k)) < 0.1
    Y[11::40], Y[23::40] = False, True
    X[rng.random((n, d)) < 0.3] = 0.0
    X[rng.random((n, d)) < 0.03] = np.nan
    return X.astype(np.float32).astype(np.float64), Y
