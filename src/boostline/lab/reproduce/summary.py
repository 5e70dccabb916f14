"""Means over seeds, the best edge, and what they are to be read beside."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.data import Dataset
from boostline.lab.reproduce import paper
from boostline.lab.reproduce.plan import ALGORITHMS, ORDERS, Settings


@dataclass(frozen=True)
class Cell:
    """All seeds of one algorithm (with one edge) on one data set in one order."""

    data: str
    algorithm: str
    edge: float | None
    order: str
    runs: list[dict[str, Any]] = field(repr=False)

    @property
    def losses(self) -> list[float]:
        """Mean rank loss over the test rows, one per seed."""
        return [run["rank_loss"] for run in self.runs]

    @property
    def mean(self) -> float:
        """Mean over seeds."""
        return statistics.fmean(self.losses)

    @property
    def sd(self) -> float | None:
        """Standard deviation over seeds (n - 1); None for one seed."""
        return statistics.stdev(self.losses) if len(self.runs) > 1 else None

    @property
    def seconds(self) -> float:
        """Mean processor time of a run."""
        return statistics.fmean(run["seconds"]["cpu"] for run in self.runs)

    def arrays(self, name: str) -> FloatArray:
        """Stack what the runs noted under a name: one row per seed."""
        return np.array([run[name] for run in self.runs], dtype=np.float64)

    def as_dict(self) -> dict[str, Any]:
        """Figures by name, ready for JSON."""
        return {
            "data": self.data,
            "algorithm": self.algorithm,
            "edge": self.edge,
            "order": self.order,
            "seeds": [run["task"]["seed"] for run in self.runs],
            "rank_loss": self.mean,
            "rank_loss_sd": self.sd,
            "rank_losses": self.losses,
            "cpu_seconds": self.seconds,
            "wall_seconds": statistics.fmean(run["seconds"]["wall"] for run in self.runs),
            "n_test": self.runs[0]["n_test"],
            "n_without_pairs": self.runs[0]["n_without_pairs"],
        }


@dataclass(frozen=True)
class Summary:
    """Everything a report tells.

    Attributes
    ----------
    settings
        How the boosters were made.
    data
        What each data set is like, by name (see `describe`).
    cells
        By (data, algorithm, edge, order).
    calls
        Uses of the command that made this.
    """

    settings: Settings
    data: dict[str, dict[str, Any]]
    cells: dict[tuple[str, str, float | None, str], Cell]
    calls: list[dict[str, Any]]

    @classmethod
    def of(
        cls,
        runs: Iterable[dict[str, Any]],
        data: dict[str, dict[str, Any]],
        settings: Settings,
        calls: list[dict[str, Any]],
        current: dict[str, str] | None = None,
    ) -> Summary:
        """Group runs. Of two data sets with one name, that of ``current`` (name -> fingerprint) counts."""
        marks = dict(current or {})
        grouped: dict[tuple[str, str, float | None, str], list[dict[str, Any]]] = {}
        for run in sorted(runs, key=lambda run: str(run["finished"]), reverse=True):
            task = run["task"]
            if marks.setdefault(task["data"], task["fingerprint"]) != task["fingerprint"]:
                continue  # of an older file with this name
            key = (task["data"], task["algorithm"], task["edge"], task["order"])
            grouped.setdefault(key, []).append(run)
        names = sorted({key[0] for key in grouped}, key=_place)
        cells = {}
        for key in sorted(grouped, key=lambda key: (_place(key[0]), *map(str, key[1:]))):
            ordered = sorted(grouped[key], key=lambda run: int(run["task"]["seed"]))
            cells[key] = Cell(*key, runs=ordered)
        return cls(settings, {name: data[marks[name]] for name in names}, cells, calls)

    def cell(self, data: str, algorithm: str, order: str) -> Cell | None:
        """Return the cell of an algorithm, for OnlineBMR that of its best edge."""
        found = self.over_edges(data, algorithm, order)
        return min(found, key=lambda cell: cell.mean) if found else None

    def over_edges(self, data: str, algorithm: str, order: str) -> list[Cell]:
        """Return the cells of an algorithm, by rising edge."""
        found = [
            cell
            for (one, other, _, its_order), cell in self.cells.items()
            if (one, other, its_order) == (data, algorithm, order)
        ]
        return sorted(found, key=lambda cell: cell.edge or 0.0)

    @property
    def orders(self) -> list[str]:
        """The orders that occur."""
        return [order for order in ORDERS if any(key[3] == order for key in self.cells)]

    def orders_of(self, data: str) -> list[str]:
        """Return the orders in which a booster was run on a data set."""
        found = {key[3] for key in self.cells if key[0] == data and key[1] in ALGORITHMS}
        return [order for order in ORDERS if order in found]

    @property
    def algorithms(self) -> list[str]:
        """The boosting algorithms that occur."""
        return [name for name in ALGORITHMS if any(key[1] == name for key in self.cells)]

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return sum(len(cell.runs) for cell in self.cells.values())

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all runs."""
        return sum(cell.seconds * len(cell.runs) for cell in self.cells.values())

    def machines(self) -> list[dict[str, Any]]:
        """Return the machines that did the runs."""
        found: dict[str, dict[str, Any]] = {}
        for cell in self.cells.values():
            for run in cell.runs:
                found.setdefault(repr(run["machine"]), run["machine"])
        return list(found.values())

    def days(self) -> list[str]:
        """Return the first and the last day of the runs, or the only one."""
        days = sorted({run["finished"][:10] for cell in self.cells.values() for run in cell.runs})
        return [days[0], days[-1]] if len(days) > 1 else days

    def measured_by_order(self) -> list[str]:
        """Return the data sets whose file-order figures measure the order of the rows.

        There the label counts, which see no feature, rank better than every booster.
        """
        found = []
        for name in self.data:
            baseline = self.cell(name, "decayed_counts", "file")
            ours = [self.cell(name, algorithm, "file") for algorithm in ALGORITHMS]
            boosters = [cell.mean for cell in ours if cell is not None]
            if baseline is not None and boosters and baseline.mean < min(boosters):
                found.append(name)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Everything but the runs' own arrays, ready for JSON."""
        best = [
            {"data": name, "order": order, "edge": cell.edge, "rank_loss": cell.mean}
            for name in self.data
            for order in self.orders
            if (cell := self.cell(name, "online_bmr", order)) is not None
        ]
        return {
            "settings": vars(self.settings),
            "data": list(self.data.values()),
            "paper": {
                "table2": {name: vars(row) for name, row in paper.DATA_SETS.items()},
                "table3": {name: vars(row) for name, row in paper.RESULTS.items()},
            },
            "results": [cell.as_dict() for cell in self.cells.values()],
            "best_edges": best,
            "order_not_learning": self.measured_by_order(),
            "machines": self.machines(),
            "days": self.days(),
            "cpu_seconds": self.cpu_seconds,
            "calls": self.calls,
        }


def describe(data: Dataset) -> dict[str, Any]:
    """Describe a data set: Table 2's columns, and how far its rows are sorted by their labels.

    ``repeats_file`` is the share of test rows whose label set is that of the row before;
    ``repeats_shuffled`` the expected share when the test rows are shuffled.

    Examples
    --------
    >>> Y = np.repeat(np.eye(2), 10, axis=0)
    >>> found = describe(Dataset(np.zeros((20, 1)), Y, n_train=0))
    >>> round(found["repeats_file"], 3), round(found["repeats_shuffled"], 3)
    (0.947, 0.474)
    """
    described = data.describe().as_dict()
    sets = [row.tobytes() for row in _packed(data)]
    first = max(1, data.n_train)  # a row without a row before it is not counted
    pairs = [sets[i] == sets[i - 1] for i in range(first, len(sets))]
    test = sets[data.n_train :]
    counts = np.unique(np.array([hash(one) for one in test], dtype=np.int64), return_counts=True)[1]
    alike = float((counts * (counts - 1)).sum() / max(1, len(test) * (len(test) - 1)))
    described["repeats_file"] = float(np.mean(pairs)) if pairs else 0.0
    described["repeats_shuffled"] = alike
    return described


def half_width(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Half the width of Student's 95 % confidence interval of the mean over the rows.

    Examples
    --------
    >>> half_width(np.array([[1.0], [2.0], [3.0]])).round(3).tolist()
    [2.484]
    """
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return np.zeros(values.shape[1:])
    error = values.std(axis=0, ddof=1) / math.sqrt(n)
    return np.asarray(error * t.ppf(0.975, n - 1))


def _packed(data: Dataset) -> np.ndarray[Any, np.dtype[np.uint8]]:
    Y: Any = data.Y if isinstance(data.Y, np.ndarray) else data.Y.toarray()
    return np.packbits(Y, axis=1)


def _place(name: str) -> tuple[int, str]:
    """Sort the paper's sets as in its tables, others behind them by name."""
    known = list(paper.DATA_SETS)
    return (known.index(name), "") if name in known else (len(known), name)
