"""What is to be run: data sets x algorithms x edges x seeds x orders, as independent tasks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from boostline.contract.numbers import whole_number
from boostline.data import Dataset
from boostline.lab.reproduce.paper import edges_for

ALGORITHMS = {"ada_olmr": "Ada.OLMR", "online_bmr": "OnlineBMR"}
ORDERS = ("file", "shuffled")
#: Rankers that look at no feature, by the decay of their label counts.
BASELINES = {"decayed_counts": 0.5, "label_frequency": 1.0}


@dataclass(frozen=True)
class Settings:
    """How the boosters are made; one folder of results has one of these.

    Parameters
    ----------
    trees, covariates
        Number of the paper's trees, and covariates that each is given.
    loss
        What OnlineBMR's potentials are built upon.
    expert
        Which expert Ada.OLMR follows; ``"draw"`` is the paper's.
    """

    trees: int = 100
    covariates: int = 20
    loss: str = "hinge"
    expert: str = "draw"

    def __post_init__(self) -> None:
        whole_number(self.trees, "trees", 1)
        whole_number(self.covariates, "covariates", 1)

    def __str__(self) -> str:
        return (
            f"{self.trees} trees on {self.covariates} covariates each, {self.loss} potentials, "
            f"Ada.OLMR's expert: {self.expert}"
        )


@dataclass(frozen=True)
class Task:
    """One run: a model with one seed passes once over one data set in one order."""

    data: str
    fingerprint: str
    algorithm: str
    edge: float | None
    order: str
    seed: int
    settings: Settings

    @property
    def key(self) -> str:
        """Name of the run's file; it says what was run, and its last part all settings."""
        edge = "" if self.edge is None else f"-edge{self.edge:g}"
        digest = _digest(json.dumps(asdict(self), sort_keys=True).encode())[:8]
        return f"{_plain(self.data)}-{self.algorithm}{edge}-{self.order}-seed{self.seed}-{digest}"


def plan(
    data: Sequence[Dataset],
    *,
    settings: Settings,
    algorithms: Sequence[str] = tuple(ALGORITHMS),
    edges: Sequence[float] | None = None,
    orders: Sequence[str] = ORDERS,
    seeds: Sequence[int] = tuple(range(10)),
) -> list[Task]:
    """List the tasks; a task of each kind comes before the second of any, the longest first.

    So a run that is stopped half-way has half of the seeds of everything.

    Examples
    --------
    >>> toy = Dataset(np.eye(3), np.eye(3), n_train=2, name="toy")
    >>> tasks = plan([toy], settings=Settings(trees=5), seeds=[0], orders=["file"], edges=[0.1])
    >>> [task.algorithm for task in tasks]
    ['ada_olmr', 'online_bmr', 'decayed_counts', 'label_frequency']
    """
    _check(algorithms, ALGORITHMS, "algorithms")
    _check(orders, ORDERS, "orders")
    if len(seeds) == 0 or len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise ValueError(f"seeds is {list(seeds)}, but must be distinct whole numbers, at least 0")
    for given in edges or ():
        if not 0 < given <= 1:
            raise ValueError(f"edges has {given:g}, but edges must be above 0 and at most 1")
    names = [one.name for one in data]
    if len(set(names)) != len(names):
        raise ValueError(f"data has the same name twice: {', '.join(names)}")
    timed: list[tuple[int, float, int, Task]] = []
    for one in data:
        mark = fingerprint(one)
        cost = expected_cost(one)
        wanted: list[tuple[str, float | None]] = []
        for algorithm in algorithms:
            if algorithm == "online_bmr":
                chosen = edges_for(one.n_labels) if edges is None else edges
                wanted += [(algorithm, float(one_edge)) for one_edge in dict.fromkeys(chosen)]
            else:
                wanted.append((algorithm, None))
        for order in orders:
            for round_, seed in enumerate(seeds):
                for algorithm, edge in wanted:
                    task = Task(one.name, mark, algorithm, edge, order, seed, settings)
                    timed.append((round_, -cost, len(timed), task))
                if order == "file" and round_ > 0:
                    continue  # counting is not random: one pass in file order says it all
                for algorithm in BASELINES:
                    task = Task(one.name, mark, algorithm, None, order, seed, settings)
                    timed.append((round_, 0.0, len(timed), task))
    return [task for *_, task in sorted(timed, key=lambda entry: entry[:3])]


def expected_cost(data: Dataset) -> float:
    """Guess the work of a run in arbitrary units, for the time left: each label is learned by each tree."""
    return float(len(data) + data.Y.sum())


def fingerprint(data: Dataset) -> str:
    """Return a short checksum of all rows, so that results of other rows are never taken for these.

    Examples
    --------
    >>> a = Dataset(np.eye(3), np.eye(3), n_train=2)
    >>> b = Dataset(np.eye(3), np.eye(3), n_train=1)
    >>> fingerprint(a) == fingerprint(a), fingerprint(a) == fingerprint(b)
    (True, False)
    """
    parts: list[bytes] = [repr((data.X.shape, data.Y.shape, data.n_train)).encode()]
    for matrix in (data.X, data.Y):
        if isinstance(matrix, np.ndarray):
            parts.append(np.ascontiguousarray(matrix).data.tobytes())
        else:
            ordered = matrix.sorted_indices()
            parts += [
                np.asarray(ordered.indptr, dtype=np.int64).tobytes(),
                np.asarray(ordered.indices, dtype=np.int64).tobytes(),
                np.ascontiguousarray(ordered.data).tobytes(),
            ]
    return _digest(*parts)[:12]


def _digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()


def _plain(name: str) -> str:
    """Make a name fit for a file; the digest keeps names apart that become alike."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)[:60] or "data"


def _check(given: Sequence[Any], allowed: Any, name: str) -> None:
    if len(given) == 0:
        raise ValueError(f"{name} is empty; choose from {', '.join(allowed)}")
    for one in given:
        if one not in allowed:
            raise ValueError(f"{name} has {one!r}, but must be one of {', '.join(allowed)}")
    if len(set(given)) != len(given):
        raise ValueError(f"{name} has a value twice: {', '.join(given)}")
