"""The tables of a model, and all of them on one self-contained HTML page with charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from boostline.display.charts import WIDE, legend, panels, short
from boostline.display.colours import SERIES
from boostline.display.html import chart, page
from boostline.display.tables import NONE, Table, share
from boostline.inspect import learner_rows
from boostline.inspect.explanations import Explanation
from boostline.inspect.label_rows import ENOUGH_ROWS, LabelRow, worst_first
from boostline.inspect.recorder import Recording
from boostline.inspect.summaries import summary_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, RED = SERIES[:2]
GREY = SERIES[6]
# Longer tables and more bars are not read; `boostline inspect --json` has all rows.
_MOST_ROWS = 25


def html_report(
    model: Any,
    *,
    title: str = "A boostline model",
    features: Sequence[str] | None = None,
    history: Recording | None = None,
    labels: list[LabelRow] | None = None,
    why: Explanation | None = None,
) -> str:
    """Return one HTML page with tables and pictures, which needs no other files. Requires matplotlib.

    Parameters
    ----------
    model
        A booster, or a `boostline.text.TextRanker`.
    title
        Heading of the page.
    features
        Names of the features.
    history
        Of a `Recorder`: adds the learning curve and the weights over time.
    labels
        Of `labels`: adds the labels that are ranked badly.
    why
        Of `explain`: adds one row's explanation.

    Examples
    --------
    >>> import boostline as bl
    >>> page = html_report(bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(2)))
    >>> page.startswith("<!doctype html>"), "<h2>Learners</h2>" in page
    (True, True)
    """
    booster = model.booster
    learners = learner_rows.learners(booster)
    names = [row.name for row in learners]
    parts = [f"<h1>{escape(title)}</h1>", Table(["", ""], summary_in_words(model)).html()]
    if history is not None and len(history) > 1:
        parts += [
            "<h2>Learning</h2>",
            chart(
                partial(_learning_curve, history),
                "Learning curve",
                "Rank loss of the scores given before each row was learned; 0 is perfect, 0.5 is guessing.",
            ),
        ]
        if len(learners) > 1:
            parts.append(
                chart(
                    partial(_weights_over_time, history, names),
                    "Learners' weights",
                    "The six with the largest weights at the end; grey: all others.",
                )
            )
    if why is not None:
        parts += [
            f"<h2>Why {escape(str(why.name))}</h2>",
            f"<p>Score {why.score:.4f}, place {why.rank} of {model.n_labels}.</p>",
            *_what_spoke(why),
        ]
        if len(learners) > 1:
            parts.append(
                chart(
                    partial(_explanation_picture, why),
                    "What moves it",
                    "What each learner adds to this label's score, compared with the average label.",
                )
            )
    parts.append("<h2>Learners</h2>")
    if len(learners) > 1:
        parts.append(chart(partial(_learners_picture, learners), "Learners"))
    parts.append(learner_table(learners).html(_MOST_ROWS))
    splits = [row for row in learner_rows.feature_splits(booster, features) if row.splits]
    if splits:
        parts += ["<h2>Features</h2>", feature_table(splits).html(_MOST_ROWS)]
    if labels is not None and any(row.relevant for row in labels):
        parts += ["<h2>Labels</h2>", label_table(labels).html(_MOST_ROWS)]
    return page(title, parts)


def _what_spoke(why: Explanation) -> list[str]:
    """The features or words that made a score, and the rows of the past."""
    parts = []
    if why.text is not None:
        parts.append(f'<p class="words">{why.html()}</p>')
    if why.features:
        parts.append(part_table(why).html(_MOST_ROWS))
    if why.rows:
        parts.append(past_table(why).html(_MOST_ROWS))
    return parts


def part_table(why: Explanation, title: str = "") -> Table:
    """The features or words that made a score."""
    what = "feature" if why.text is None else "word"
    return Table(
        [what, "for (+) or against (-)"],
        [[str(part), f"{100 * part.part:+.1f} %"] for part in why.features],
        title,
        f"The {what}'s share of all that speaks for {why.name} or against it"
        + (", by the linear learners." if why.linear else ": the change of the score without it."),
    )


def past_table(why: Explanation, title: str = "") -> Table:
    """The past rows that speak for a label or against it."""
    return Table(
        ["row learned", "learner", "for (+) or against (-)"],
        [[f"{row.row:,}", why.names[row.vote], f"{100 * row.part:+.1f} %"] for row in why.rows],
        title,
        "The share of the row in the scores of the learners with a memory. Rows without a pair to rank do not count.",
    )


def learner_table(rows: list[learner_rows.LearnerRow], title: str = "") -> Table:
    """The learners, the most important first, with the columns that apply to this model."""
    ordered = sorted(rows, key=lambda row: (-row.importance, row.index))
    columns = ["learner", "kind", "weight"]
    cells = [[str(row.index), row.name, f"{row.weight:z.4f}"] for row in ordered]
    notes = []

    def add(column: str, values: Iterable[str]) -> None:
        columns.append(column)
        for line, value in zip(cells, values, strict=True):
            line.append(value)

    losses = [f"{row.expert_loss:.4f}" for row in ordered]
    if any(row.edge is None for row in rows):  # a mixture: its weights are shares
        add("rank loss alone", losses)
        notes.append("Weight: the learner's share in the scores.")
    else:
        add("edge", [f"{row.edge:z.4f}" for row in ordered])
        notes.append("Edge: advantage over random guessing, from -1 to 1.")
        if any(row.listened != 1.0 for row in rows):
            add("followed", [share(row.listened) for row in ordered])
            notes.append(
                "Followed: probability that the expert that is followed contains the learner."
            )
        add("importance", [share(row.importance) for row in ordered])
        add("rank loss up to it", losses)
        notes.append(
            "Importance: its share in all votes. Rank loss up to it: of the learners up to this one."
        )
    if any(row.nodes is not None for row in rows):
        for column, sizes in (
            ("nodes", [row.nodes for row in ordered]),
            ("depth", [row.depth for row in ordered]),
        ):
            add(column, [NONE if size is None else f"{size:,}" for size in sizes])
    return Table(columns, cells, title, " ".join(notes))


def feature_table(rows: list[learner_rows.FeatureRow], title: str = "") -> Table:
    """The features on which trees split."""
    return Table(
        ["feature", "importance", "splits", "trees"],
        [
            [
                row.name,
                share(row.importance),
                *(f"{n:,}" for n in (row.splits, row.trees)),
            ]
            for row in rows
        ],
        title,
        "Importance: each tree's, divided equally among its splits.",
    )


def with_enough_rows(rows: list[LabelRow]) -> list[LabelRow]:
    """The labels with enough relevant rows to be judged, the worst first."""
    return [row for row in worst_first(rows) if row.relevant >= ENOUGH_ROWS]


def label_table(rows: list[LabelRow], title: str = "") -> Table:
    """How well the labels are ranked, the worst first, without those that have too few relevant rows."""
    shown = with_enough_rows(rows)
    left_out = len(rows) - len(shown)
    note = (
        "Missed: irrelevant labels above it when it is relevant. False alarms: relevant labels below it when it is "
        "irrelevant. Both are 0 % at best, 50 % by chance. Mean position: when it is relevant, "
        f"of {len(rows):,}."
    )
    if left_out:
        note += f" Not shown: {left_out:,} labels with fewer than {ENOUGH_ROWS} relevant rows."
    return Table(
        ["label", "relevant rows", "missed", "false alarms", "mean position"],
        [
            [
                str(row.name),
                f"{row.relevant:,}",
                share(row.missed),
                share(row.false_alarms),
                NONE if np.isnan(row.rank) else f"{row.rank:.2f}",
            ]
            for row in shown
        ],
        title,
        note,
    )


def _learning_curve(history: Recording, width: float = WIDE) -> Figure:
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


def _weights_over_time(history: Recording, names: list[str], width: float = WIDE) -> Figure:
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


def _learners_picture(rows: list[learner_rows.LearnerRow], width: float = WIDE) -> Figure:
    """Weights of all learners, in their order, and their edges if they have any."""
    values = {"weight": [row.weight for row in rows]}
    edges = [row.edge for row in rows if row.edge is not None]
    if edges:
        values["edge over random guessing"] = edges
    if len(rows) <= _MOST_ROWS:
        return _bars([f"{row.index} {row.name}" for row in rows], values, width)
    figure, grid = panels(len(values), 2.4, width)
    for axes, (title, heights) in zip(grid, values.items(), strict=True):
        axes.bar([row.index for row in rows], heights, color=BLUE)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set(xlabel="learner", ylabel=title)
        axes.locator_params(axis="x", integer=True)
    return figure


def _explanation_picture(why: Explanation, width: float = WIDE) -> Figure:
    """What moves one label up or down."""
    shown = why.top(_MOST_ROWS)
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
