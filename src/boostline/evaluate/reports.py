"""What every result of an evaluation can show: one table with a line per model, in several forms."""

from __future__ import annotations

import math
import statistics
import textwrap
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from boostline.display.charts import panels, title
from boostline.display.colours import SERIES
from boostline.display.tables import NONE, Table, share, to_csv

if TYPE_CHECKING:
    from boostline.evaluate.runs import Run

#: Metrics that tables call by another name.
_TITLES = {"micro_f1": "micro-F1", "macro_f1": "macro-F1"}


class Report:
    """A result with one table; subclasses say which runs belong to a line."""

    #: What there is to know of the table.
    note = ""

    def _lines(self) -> Iterator[tuple[dict[str, str], list[Run]]]:
        """For each line what it is of, such as model and order, and its runs."""
        raise NotImplementedError

    def as_table(self) -> Table:
        """Return the table: means over the runs of a line, and their standard deviations."""
        lines = list(self._lines())
        metrics = dict.fromkeys(name for _, runs in lines for run in runs for name in run.metrics)
        metrics.pop("ece", None)  # it is among the metrics of a run
        # An order that all lines have in common is not worth a column.
        varying = [
            key for key in lines[0][0] if key == "model" or len({of[key] for of, _ in lines}) > 1
        ]
        cells = [
            [of[key] for key in varying]
            + [_cell([run.metrics[one] for run in runs if one in run.metrics]) for one in metrics]
            + [_cell([run.seconds.cpu for run in runs], 2), _microseconds(runs)]
            for of, runs in lines
        ]
        titles = [_TITLES.get(one, one.replace("_", " ")) for one in metrics]
        columns = [*varying, *(one.replace("precision@", "P@") for one in titles)]
        return Table([*columns, "CPU s", "µs per row"], cells, note=self.note)

    def table(self) -> str:
        """Return the table as text."""
        table = self.as_table()
        return table.text() + (f"\n{table.note}" if table.note else "")

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return self.as_table().markdown()

    def latex(self) -> str:
        """Return the table in LaTeX (package booktabs)."""
        return self.as_table().latex()

    def csv(self) -> str:
        """Return all runs as CSV, unrounded: a line per run, a column per metric."""
        return records_csv(self._records())

    def html(self) -> str:
        """Return the table in HTML; notebooks show it."""
        return self.as_table().html()

    _repr_html_ = html

    @property
    def first_runs(self) -> dict[str, Run]:
        """The first run of each line, by what the line is of."""
        return {", ".join(of.values()): runs[0] for of, runs in self._lines() if runs}

    def plot(self, path: str | PathLike[str], title: str | None = None) -> None:
        """Draw the learning curves of the first runs into a file (PNG, SVG or PDF by its ending); needs matplotlib."""
        draw_curves(self.first_runs, path, title)

    def frame(self) -> Any:
        """Return all runs as a pandas frame: a row per run, a column per metric."""
        import pandas as pd

        return pd.DataFrame(self._records())

    def _records(self) -> list[dict[str, Any]]:
        return [
            {**of, "seed": run.seed, **run.metrics, "cpu_seconds": run.seconds.cpu, "rows": run.n}
            for of, runs in self._lines()
            for run in runs
        ]


def draw_curves(
    runs: dict[str, Run], path: str | PathLike[str], heading: str | None = None
) -> None:
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


def records_csv(records: Sequence[dict[str, Any]]) -> str:
    """Write CSV of records; what some of them do not have is an empty field."""
    header = list(dict.fromkeys(name for one in records for name in one))
    return to_csv(header, [[one.get(name) for name in header] for one in records])


def label_report(run: Run, most: int | None = None) -> Table:
    """Precision, recall and F1 of each label, the most frequent first."""
    rows = sorted(run.by_label(), key=lambda row: -row["relevant"])
    cells = [
        [
            str(row["label"]),
            f"{row['relevant']:,}",
            f"{row['named']:,}",
            *(
                NONE if row[one] is None else share(row[one])
                for one in ("precision", "recall", "f1")
            ),
        ]
        for row in rows[:most]
    ]
    note = "Named: probability above half of the micro-F1 so far, as predict does."
    if len(cells) < len(rows):
        note += f" {len(rows) - len(cells):,} labels that are less frequent are left out."
    columns = ["label", "relevant", "named", "precision", "recall", "F1"]
    return Table(columns, cells, f"{run.model}, by label", note)


def _cell(values: Sequence[float], digits: int = 4) -> str:
    if not values or math.isnan(mean := statistics.fmean(values)):
        return NONE
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean:.{digits}f}{spread}"


def _microseconds(runs: Sequence[Run]) -> str:
    calls = sum(max(run.n, run.n_learned) for run in runs)
    return f"{1e6 * sum(run.seconds.cpu for run in runs) / calls:,.0f}" if calls else NONE
