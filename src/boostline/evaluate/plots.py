"""Learning curves as a picture."""

from __future__ import annotations

import textwrap
from os import PathLike

from boostline.display.charts import panels, title
from boostline.display.colours import SERIES
from boostline.evaluate.runs import Run


def plot_runs(runs: dict[str, Run], path: str | PathLike[str], heading: str | None = None) -> None:
    """Draw one panel per metric: windowed means as lines, cumulative means dashed."""
    first = next(iter(runs.values()))
    metrics = list(first.curves)
    figure, grid = panels(len(metrics), 3.4)
    for metric, axes in zip(metrics, grid, strict=True):
        window = first.curves[metric].window
        for i, (name, run) in enumerate(runs.items()):
            curve = run.curves[metric]
            colour = SERIES[i % len(SERIES)]
            label = f"{name}: {run.metrics[metric]:.4f}"
            axes.plot(curve.n, curve.windowed, color=colour, linewidth=1.5, label=label)
            axes.plot(curve.n, curve.cumulative, color=colour, linewidth=1, linestyle="--")
        what = metric.replace("_", " ")
        title(axes, f"{what}: mean of the last {window:,} (line) and of all (dashed)")
        axes.set_xlabel("examples predicted")
        axes.set_ylabel(textwrap.fill(first.units[metric], 30))
        # Beside the panel, where it hides no curve.
        axes.legend(
            title="model: mean of all",
            frameon=False,
            alignment="left",
            loc="center left",
            bbox_to_anchor=(1, 0.5),
        )
    if heading:
        figure.suptitle(heading)
    figure.savefig(path, dpi=150)
