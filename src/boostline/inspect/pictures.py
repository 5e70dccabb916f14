"""Charts of a model; each is drawn for a width in inches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boostline.display.charts import WIDE, legend, panels, short
from boostline.display.colours import SERIES
from boostline.inspect.explanations import Explanation
from boostline.inspect.feature_rows import FeatureRow
from boostline.inspect.label_rows import LabelRow
from boostline.inspect.learner_rows import LearnerRow
from boostline.inspect.recorder import Recording

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, RED, GREEN = SERIES[:3]
GREY = SERIES[6]
# More bars than this cannot be read.
MOST_BARS = 25


def learning_curve(history: Recording, width: float = WIDE) -> Figure:
    """Rank loss along the stream."""
    figure, [axes] = panels(1, 3.6, width)
    axes.plot(history.clock, history.recent_loss, color=BLUE, label="since the point before")
    axes.plot(
        history.clock, history.mean_loss, color=RED, linestyle="--", label="mean of all so far"
    )
    axes.set(xlabel="rows learned", ylabel="rank loss (share of pairs)")
    axes.set_ylim(bottom=0)
    legend(figure)
    return figure


def weights_over_time(history: Recording, names: list[str], width: float = WIDE) -> Figure:
    """The learners' weights along the stream; the largest at the end are named."""
    figure, [axes] = panels(1, 4.0, width)
    last = np.argsort(-np.abs(history.weights[-1]), kind="stable")[:6]
    for i in range(history.weights.shape[1]):
        if i not in last:
            axes.plot(history.clock, history.weights[:, i], color=GREY, alpha=0.4, linewidth=0.6)
    for colour, i in zip(SERIES, last, strict=False):
        axes.plot(history.clock, history.weights[:, i], color=colour, label=f"{i} {names[i]}")
    axes.set(xlabel="rows learned", ylabel="weight")
    legend(figure)
    return figure


def learners_picture(rows: list[LearnerRow], width: float = WIDE) -> Figure:
    """Weights of all learners, in their order, and their edges if they have any."""
    values = {"weight": [row.weight for row in rows]}
    edges = [row.edge for row in rows if row.edge is not None]
    if edges:
        values["edge over random guessing"] = edges
    if len(rows) <= MOST_BARS:
        return _bars([f"{row.index} {row.name}" for row in rows], values, width)
    figure, grid = panels(len(values), 2.4, width)
    for axes, (title, heights) in zip(grid, values.items(), strict=True):
        axes.bar([row.index for row in rows], heights, color=BLUE)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(xlabel="learner", ylabel=title)
        axes.locator_params(axis="x", integer=True)
    return figure


def features_picture(rows: list[FeatureRow], width: float = WIDE) -> Figure:
    """The features that split most."""
    shown = rows[:MOST_BARS]
    shares = [100 * row.importance for row in shown]
    return _bars(
        [row.name for row in shown], {"importance (% of all trees')": shares}, width, GREEN
    )


def labels_picture(rows: list[LabelRow], width: float = WIDE) -> Figure:
    """The labels that are ranked worst."""
    shown = rows[:MOST_BARS]
    missed = [100 * row.missed for row in shown]
    title = "irrelevant labels above it when it is relevant (%)"
    figure = _bars([row.name for row in shown], {title: missed}, width, RED)
    figure.axes[0].set_xlim(0, 100)
    return figure


def explanation_picture(why: Explanation, width: float = WIDE) -> Figure:
    """What moves one label up or down."""
    shown = why.top(MOST_BARS)
    lifts = [float(why.lifts[i]) for i in shown]
    colours = [BLUE if lift >= 0 else RED for lift in lifts]
    title = "part of the score, less the average label's"
    return _bars([f"{i} {why.names[i]}" for i in shown], {title: lifts}, width, colours)


def _bars(
    names: Sequence[Any],
    values: dict[str, list[float]],
    width: float,
    colour: str | list[str] = BLUE,
) -> Figure:
    """Bars from left to right, the first on top, and a panel for each quantity."""
    figure, grid = panels(len(values), 0.9 + 0.25 * len(names), width, len(values), share=True)
    for axes, (title, lengths) in zip(grid, values.items(), strict=True):
        axes.barh(range(len(names)), lengths, color=colour)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlabel(title)
        axes.locator_params(axis="x", nbins=5)  # more would run into each other
        axes.grid(axis="y", visible=False)
        axes.set_yticks(range(len(names)), [short(name) for name in names])
    grid[0].invert_yaxis()
    return figure
