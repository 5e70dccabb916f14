"""Pictures of experiments, in colours that colour-blind people can tell apart (Okabe and Ito)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boostline.theory.experiment import Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["OKABE_ITO", "draw"]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-", "linewidth": 1.8},
    "dashed": {"linestyle": "--", "linewidth": 1.5},
    "dotted": {"linestyle": ":", "linewidth": 1.8},
    "points": {"linestyle": "", "marker": "o", "markersize": 5},
}


def draw(experiment: Experiment) -> Figure:
    """Draw one experiment; needs matplotlib.

    Examples
    --------
    >>> from boostline.theory.experiments import ALL
    >>> figure = draw(ALL["printed-bound"](True))
    >>> figure.axes[0].get_xlabel()
    'number of weak learners N'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'boostline[plot]'") from error
    # A Figure of its own, not pyplot's: no global state, no window, safe in threads.
    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    axes = figure.add_subplot()
    for curve in experiment.curves:
        axes.plot(
            curve.x,
            curve.y,
            color=OKABE_ITO[curve.colour % len(OKABE_ITO)],
            label=curve.label,
            **_STYLES[curve.style],
        )
    if "x" in experiment.log:
        axes.set_xscale("log")
    if "y" in experiment.log:
        axes.set_yscale("log")
        lowest = min(float(c.y[c.y > 0].min()) for c in experiment.curves if (c.y > 0).any())
        highest = max(float(c.y.max()) for c in experiment.curves)
        axes.set_ylim(max(lowest / 1.5, 1e-4), highest * 1.5)
    axes.set_title(experiment.title, fontsize=11, loc="left", wrap=True)
    axes.set_xlabel(experiment.x_label)
    axes.set_ylabel(experiment.y_label)
    axes.grid(True, alpha=0.25)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    return figure
