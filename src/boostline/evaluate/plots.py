"""Learning curves as a picture."""

from __future__ import annotations

import textwrap
from os import PathLike

from boostline.evaluate.runs import Run

# Okabe and Ito's colours, which people with any colour vision tell apart. Yellow comes last: it is
# hard to see on white.
OKABE_ITO = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#F0E442",
)


def plot_runs(runs: dict[str, Run], path: str | PathLike[str], title: str | None = None) -> None:
    """Draw one panel per metric: windowed means as lines, cumulative means dashed."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install 'boostline[plot]'") from error

    first = next(iter(runs.values()))
    metrics = list(first.metrics)
    # A Figure of its own, without pyplot: no window, no global state.
    figure = Figure(figsize=(8, 1 + 3 * len(metrics)), layout="constrained")
    panels = figure.subplots(len(metrics), 1, squeeze=False)[:, 0]
    for metric, axes in zip(metrics, panels, strict=True):
        window = first.curves[metric].window
        for i, (name, run) in enumerate(runs.items()):
            curve = run.curves[metric]
            colour = OKABE_ITO[i % len(OKABE_ITO)]
            label = f"{name}: {run.metrics[metric]:.4f}"
            axes.plot(curve.n, curve.windowed, color=colour, linewidth=1.5, label=label)
            axes.plot(curve.n, curve.cumulative, color=colour, linewidth=1, linestyle="--")
        axes.set_title(f"{metric}: mean of the last {window:,} (line) and of all (dashed)")
        axes.set_xlabel("examples predicted")
        axes.set_ylabel(textwrap.fill(first.units[metric], 30))
        axes.grid(alpha=0.3)
        axes.legend(title="model: mean of all", frameon=False)
    if title:
        figure.suptitle(title)
    figure.savefig(path, dpi=150)
