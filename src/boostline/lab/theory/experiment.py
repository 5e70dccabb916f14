"""What an experiment is: curves to draw, a table, and statements that were checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boostline.array_types import BoolArray, FloatArray
from boostline.losses import Rank


class PlotLine(NamedTuple):
    """One line of a picture; ``colour`` numbers the colours, equal numbers belong together.

    ``error`` is half the length of an error bar at each point, where points come from a simulation.
    """

    label: str
    x: FloatArray
    y: FloatArray
    colour: int
    style: str  # "line", "dashed", "dotted" or "points"
    error: FloatArray | None = None


class Check(NamedTuple):
    """A statement, whether it held, and the figure that decided it."""

    statement: str
    holds: bool
    measured: str


@dataclass(frozen=True)
class Experiment:
    """Result of one experiment.

    Attributes
    ----------
    key : str
        Short name, also of the picture's file.
    title, text, x_label, y_label : str
    log : str
        Which axes are logarithmic: "", "x", "y" or "xy".
    columns, rows
        The table below the picture.
    """

    key: str
    title: str
    text: str
    x_label: str
    y_label: str
    log: str
    curves: list[PlotLine]
    checks: list[Check]
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "key": self.key,
            "title": self.title,
            "checks": [check._asdict() for check in self.checks],
            "columns": self.columns,
            "rows": self.rows,
            "curves": [
                {
                    "label": curve.label,
                    "x": curve.x.tolist(),
                    "y": curve.y.tolist(),
                    "error": None if curve.error is None else curve.error.tolist(),
                }
                for curve in self.curves
            ],
        }


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """Least-squares slope of y against x.

    Examples
    --------
    >>> round(slope([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]), 9)
    2.0
    """
    return float(np.polyfit(np.asarray(x, dtype=float), np.asarray(y, dtype=float), 1)[0])


def rank_losses(scores: FloatArray, relevant: BoolArray) -> FloatArray:
    """Rank loss of every row, (T, k) scores against (T, k) label sets with a pair.

    Examples
    --------
    >>> rank_losses(np.array([[1.0, 0.0]]), np.array([[False, True]]))
    array([1.])
    """
    pairs = relevant[:, :, None] & ~relevant[:, None, :]
    d = scores[:, None, :] - scores[:, :, None]
    return np.asarray((Rank().pair(d) * pairs).sum(axis=(1, 2)) / pairs.sum(axis=(1, 2)))
