"""Charts of the runs, with units and confidence bands; each is drawn for a width in inches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boostline.array_types import FloatArray
from boostline.display.charts import WIDE, legend, panels, title
from boostline.display.colours import COLOURS
from boostline.lab.reproduce import paper
from boostline.lab.reproduce.plan import ALGORITHMS
from boostline.lab.reproduce.summary import Cell, Summary, half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {"ada_olmr": COLOURS["blue"][0], "online_bmr": COLOURS["vermillion"][0]}
_BASELINE, _PAPER, _BATCH, _GREY = (
    COLOURS[name][0] for name in ("green", "ink", "purple", "muted")
)
# Where both orders share a panel, the shuffled one is lighter and dashed.
_SHUFFLED_COLOURS = {"ada_olmr": COLOURS["sky"][0], "online_bmr": COLOURS["orange"][0]}
_LINES: dict[str, Any] = {"file": "-", "shuffled": (0, (5, 2))}
_MARKS = {"file": "o", "shuffled": "D"}
_ORDER_TITLES = {"file": "rows in file order", "shuffled": "rows shuffled"}
# With fewer seeds Student's interval is wider than the picture.
_SEEDS_FOR_CONFIDENCE = 5
BAND = (
    "Bands: 95 % confidence of the mean over seeds, or their range "
    f"if there are fewer than {_SEEDS_FOR_CONFIDENCE}."
)
BARS = BAND.replace("Bands", "Bars")
# A learning curve shows means over this share of all rows.
_WINDOW = 0.1


def overview(summary: Summary, width: float = WIDE) -> Figure:
    """All rank losses at a glance: a panel per data set."""
    names = [name for name in summary.data if _bars(summary, name)]
    most = max(len(_bars(summary, name)) for name in names)
    figure, grid = panels(len(names), 0.9 + 0.3 * most, width, across=2)
    for name, axes in zip(names, grid, strict=True):
        bars = _bars(summary, name)
        for place, bar in enumerate(reversed(bars)):
            _draw_bar(axes, bar, place)
        axes.set_yticks(range(len(bars)), [bar.label for bar in reversed(bars)], fontsize=9)
        axes.set_ylim(-0.7, len(bars) - 0.3)
        axes.set_xlim(0, 1.2 * max(bar.high for bar in bars))  # with room for the last figure
        title(axes, name)
        axes.set_xlabel("rank loss, mean over test rows")
        axes.grid(axis="y", visible=False)
    return figure


def learning_curves(summary: Summary, name: str, width: float = WIDE) -> Figure:
    """Loss along the rows, each predicted before it is learned; a panel per order."""
    orders = summary.orders_of(name)
    figure, grid = panels(len(orders), 3.8, width, across=2, share=True)
    n_train = summary.data[name]["n_train"]
    for order, axes in zip(orders, grid, strict=True):
        for algorithm in summary.algorithms:
            cell = summary.cell(name, algorithm, order)
            if cell is not None:
                n, values = _windowed(cell)
                _line(axes, n, values, _label(cell), _COLOURS[algorithm])
        _beside(axes, summary, name, order, batch=True)
        axes.axvline(n_train, color=_GREY, linewidth=1)
        axes.annotate(
            "test rows ▸",
            (n_train, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -4),
            textcoords="offset points",
            va="top",
            fontsize=9,
            color=_GREY,
        )
        title(axes, _ORDER_TITLES[order])
        axes.set_xlabel("rows seen (train, then test)")
    figure.supylabel(f"rank loss, mean over the last {_WINDOW:.0%} of all rows", fontsize=10)
    legend(figure)
    return figure


def loss_by_learners(summary: Summary, name: str, width: float = WIDE) -> Figure:
    """Loss over the test rows if only the first i learners voted; a panel per order."""
    orders = summary.orders_of(name)
    figure, grid = panels(len(orders), 3.8, width, across=2, share=True)
    most, bottom, top = 1, 1.0, 0.0
    for order, axes in zip(orders, grid, strict=True):
        for algorithm in summary.algorithms:
            cell = summary.cell(name, algorithm, order)
            if cell is not None:
                values = cell.arrays("expert_losses")
                most = max(most, values.shape[1])
                # A first tree that went astray would press all that follows flat.
                later = values[:, min(1, values.shape[1] - 1) :]
                top = max(top, float(_band(later)[1].max()))
                bottom = min(bottom, float(values.mean(axis=0).min()))
                i = np.arange(1, values.shape[1] + 1)
                _line(axes, i, values, _label(cell), _COLOURS[algorithm])
    for order in orders:
        bottom = min(bottom, *(value for _, value, _ in _others(summary, name, order)), 1.0)
    grid[0].set_ylim(0.9 * bottom, 1.05 * top)
    for order, axes in zip(orders, grid, strict=True):
        _beside(axes, summary, name, order)
        title(axes, _ORDER_TITLES[order])
        axes.set_xscale("log")
        shown = [i for i in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if i <= most]
        axes.set_xticks(shown, [str(i) for i in shown])
        axes.minorticks_off()
        axes.set_xlabel("learners that vote, i (log scale)")
    figure.supylabel("rank loss, mean over test rows", fontsize=10)
    legend(figure)
    return figure


def learners(summary: Summary, name: str, width: float = WIDE) -> Figure:
    """What boosting made of the learners: their weights, the experts' weights, their edges."""
    orders = summary.orders_of(name)
    figure, grid = panels(3, 3.6, width, across=3)
    weights, all_edges = (-2.0, 2.0), (-1.0, 1.0)  # where they can lie
    for order in orders:
        style = _LINES[order]
        for algorithm in summary.algorithms:
            cell = summary.cell(name, algorithm, order)
            if cell is None:
                continue
            colour = (_COLOURS if order == "file" else _SHUFFLED_COLOURS)[algorithm]
            edges = cell.arrays("edges")
            i = np.arange(1, edges.shape[1] + 1)
            label = f"{ALGORITHMS[algorithm]}, {order}"
            if algorithm == "ada_olmr":
                _line(grid[0], i, cell.arrays("learner_weights"), label, colour, style, weights)
                _line(grid[1], i, cell.arrays("expert_weights"), label, colour, style)
            _line(grid[2], i, edges, _label(cell, order), colour, style, all_edges)
    title(grid[0], "weights αⁱ at the end")
    grid[0].set_ylabel("weight of learner i")
    title(grid[1], "experts at the end")
    grid[1].set_ylabel("probability of following expert i")
    title(grid[2], "edges γᵢ over the whole run")
    grid[2].set_ylabel("edge over random guessing")
    grid[2].axhline(0, color=_GREY, linewidth=0.8)
    for axes, what in zip(grid, ("learner i", "expert i", "learner i"), strict=True):
        axes.set_xlabel(what)
        axes.locator_params(axis="x", integer=True)
    legend(figure)
    return figure


def several_edges(summary: Summary, name: str) -> bool:
    """Whether OnlineBMR was told more than one edge."""
    orders = summary.orders_of(name)
    return any(len(summary.over_edges(name, "online_bmr", order)) > 1 for order in orders)


def loss_by_edge(summary: Summary, name: str, width: float = WIDE) -> Figure:
    """OnlineBMR's loss against the edge that it is told."""
    orders = summary.orders_of(name)
    figure, grid = panels(len(orders), 3.8, width, across=2, share=True)
    for order, axes in zip(orders, grid, strict=True):
        cells = summary.over_edges(name, "online_bmr", order)
        axes.errorbar(
            [cell.edge or 0.0 for cell in cells],
            [cell.mean for cell in cells],
            yerr=np.array([_errors(cell) for cell in cells]).T,
            color=_COLOURS["online_bmr"],
            marker="o",
            capsize=4,
            label="OnlineBMR",
        )
        ada = summary.cell(name, "ada_olmr", order)
        if ada is not None:
            low, high = _band(np.array(ada.losses))
            axes.axhline(ada.mean, color=_COLOURS["ada_olmr"], label="Ada.OLMR (needs no edge)")
            axes.axhspan(float(low), float(high), color=_COLOURS["ada_olmr"], alpha=0.15)
        printed = paper.RESULTS.get(name)
        if printed is not None and printed.online_bmr is not None:
            axes.axhline(
                printed.online_bmr, color=_PAPER, linestyle=":", label="best OnlineBMR, paper"
            )
        axes.set_xscale("log")
        shown = [cell.edge for cell in cells if cell.edge is not None]
        axes.set_xticks(shown, [f"{edge:g}" for edge in shown])
        axes.minorticks_off()
        title(axes, _ORDER_TITLES[order])
        axes.set_xlabel("edge that OnlineBMR is told (log scale)")
    figure.supylabel("rank loss, mean over test rows", fontsize=10)
    legend(figure)
    return figure


def _line(
    axes: Axes,
    x: Any,
    values: FloatArray,
    label: str,
    colour: str,
    style: Any = "-",
    within: tuple[float, float] = (0.0, 1.0),
) -> None:
    """Draw the mean over the rows with its confidence band, which stays within what can be."""
    low, high = _band(values)
    axes.plot(x, values.mean(axis=0), color=colour, linestyle=style, linewidth=1.7, label=label)
    if len(values) > 1:
        low, high = np.clip(low, *within), np.clip(high, *within)
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def _band(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where the mean over the rows may lie: a confidence interval, or the range of a few."""
    if len(values) < _SEEDS_FOR_CONFIDENCE:
        return values.min(axis=0), values.max(axis=0)
    mean, half = values.mean(axis=0), half_width(values)
    return mean - half, mean + half


def _others(
    summary: Summary, name: str, order: str, batch: bool = False
) -> list[tuple[str, float, str]]:
    """Return what a result is to be read beside: label, rank loss, colour."""
    printed = paper.RESULTS.get(name)
    counts = summary.cell(name, "decayed_counts", order)
    found: list[tuple[str, float, str]] = []
    if printed is not None:
        found.append(("Ada.OLMR, paper (test rows)", printed.ada_olmr, _PAPER))
        if batch and printed.batch is not None:
            found.append(("best batch boosting, paper", printed.batch, _BATCH))
    if counts is not None:
        found.append(("decayed counts (no feature)", counts.mean, _BASELINE))
    return found


def _beside(axes: Axes, summary: Summary, name: str, order: str, batch: bool = False) -> None:
    """Draw what a result is to be read beside, where it does not squeeze the curves."""
    high = axes.get_ylim()[1]
    for label, value, colour in _others(summary, name, order, batch):
        if value > high:  # in words rather than as a line far above
            axes.plot([], [], " ", label=f"{label}, {order}: {value:.3f} ↑")
        else:
            axes.axhline(value, color=colour, linestyle=":", linewidth=1.5, label=label)


def _label(cell: Cell, order: str | None = None) -> str:
    parts = [ALGORITHMS[cell.algorithm]]
    if order is not None:
        parts.append(order)
    if cell.edge is not None:
        parts.append(f"edge {cell.edge:g}" if order else f"best edge {cell.edge:g}")
    return ", ".join(parts)


def _windowed(cell: Cell) -> tuple[FloatArray, FloatArray]:
    """Return mean losses over a window that moves along the rows: where it ends, and one row per seed."""
    n = np.array(cell.runs[0]["curve"]["n"], dtype=np.float64)
    sums = np.array([run["curve"]["cumulative_loss"] for run in cell.runs])
    n_zero, sums_zero = np.concatenate(([0.0], n)), np.pad(sums, ((0, 0), (1, 0)))
    start = np.maximum(n - _WINDOW * n[-1], 0.0)
    before = np.array([np.interp(start, n_zero, row) for row in sums_zero])
    ripe = n >= 0.02 * n[-1]  # the mean of a handful of rows says nothing
    return n[ripe], ((sums - before) / (n - start))[:, ripe]


def _errors(cell: Cell) -> tuple[float, float]:
    """Return how far down and up from the mean a bar goes."""
    low, high = _band(np.array(cell.losses))
    # Rounding can put the mean of equal figures a little beside them.
    return max(0.0, cell.mean - float(low)), max(0.0, float(high) - cell.mean)


class _Bar(NamedTuple):
    """A row of the overview's panel."""

    label: str
    value: float
    low: float
    high: float
    colour: str
    mark: str
    filled: bool


def _printed(label: str, value: float, colour: str, mark: str = "o") -> _Bar:
    return _Bar(label, value, value, value, colour, mark, False)


def _measured(label: str, cell: Cell, colour: str) -> _Bar:
    down, up = _errors(cell)
    mark = _MARKS[cell.order]
    return _Bar(label, cell.mean, cell.mean - down, cell.mean + up, colour, mark, True)


def _draw_bar(axes: Axes, bar: _Bar, place: int) -> None:
    axes.plot([0, bar.value], [place, place], color=bar.colour, linewidth=1, alpha=0.35)
    axes.errorbar(
        bar.value,
        place,
        xerr=[[bar.value - bar.low], [bar.high - bar.value]],
        color=bar.colour,
        marker=bar.mark,
        markerfacecolor=bar.colour if bar.filled else "white",
        markersize=6,
        capsize=3,
        linestyle="",
    )
    axes.annotate(
        f"{bar.value:.4f}".lstrip("0"),
        (bar.high, place),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
    )


def _bars(summary: Summary, name: str) -> list[_Bar]:
    bars: list[_Bar] = []
    printed = paper.RESULTS.get(name)
    if printed is not None and printed.batch is not None:
        bars.append(_printed("batch boosting, paper", printed.batch, _BATCH, "s"))
    for algorithm in summary.algorithms:
        colour, who = _COLOURS[algorithm], ALGORITHMS[algorithm]
        value = printed.loss(algorithm) if printed is not None else None
        if value is not None:
            bars.append(_printed(f"{who}, paper", value, colour))
        for order in summary.orders:
            cell = summary.cell(name, algorithm, order)
            if cell is not None:
                bars.append(_measured(f"{who}, ours, {order}", cell, colour))
    if not bars:
        return bars
    for order in summary.orders:
        cell = summary.cell(name, "decayed_counts", order)
        if cell is not None:
            bars.append(_measured(f"decayed counts, {order}", cell, _BASELINE))
    return bars
