"""Charts of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boostline.display.charts import WIDE, legend, panels
from boostline.display.colours import SERIES
from boostline.lab.theory.experiment import Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-", "linewidth": 1.8},
    "dashed": {"linestyle": "--", "linewidth": 1.5},
    "dotted": {"linestyle": ":", "linewidth": 1.8},
    "points": {"linestyle": "", "marker": "o", "markersize": 5},
}


def draw(experiment: Experiment, width: float = WIDE) -> Figure:
    """Draw one experiment; needs matplotlib.

    Examples
    --------
    >>> from boostline.lab.theory.experiments import ALL
    >>> figure = draw(ALL["printed-bound"](True))
    >>> figure.axes[0].get_xlabel()
    'number of weak learners N'
    """
    figure, [axes] = panels(1, 5.0, width)
    for curve in experiment.curves:
        axes.errorbar(
            curve.x,
            curve.y,
            yerr=curve.error,
            capsize=2.5,
            elinewidth=1.0,
            color=SERIES[curve.colour % len(SERIES)],
            label=curve.label,
            **_STYLES[curve.style],
        )
    if "x" in experiment.log:
        axes.set_xscale("log", subs=[2, 5])  # more labels would run into each other
        low, high = axes.get_xlim()
        if high < 30 * low:  # too few powers of ten to read it by
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("{x:g}")
    if "y" in experiment.log:
        axes.set_yscale("log")
        lowest = min(float(c.y[c.y > 0].min()) for c in experiment.curves if (c.y > 0).any())
        highest = max(float(c.y.max()) for c in experiment.curves)
        axes.set_ylim(max(lowest / 1.5, 1e-4), highest * 1.5)
    axes.set(xlabel=experiment.x_label, ylabel=experiment.y_label)
    legend(figure)
    return figure
