"""All there is to see of a model on one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import Any

import numpy as np

from boostline.contract.text_models import booster_of
from boostline.display.html import chart, page
from boostline.display.tables import NONE, Table, share
from boostline.inspect import feature_rows, learner_rows, pictures
from boostline.inspect.explanations import Explanation
from boostline.inspect.label_rows import ENOUGH_ROWS, LabelRow, worst_first
from boostline.inspect.recorder import Recording
from boostline.inspect.summaries import summary_in_words
from boostline.inspect.texts import TextExplanation

# Longer tables are not read; `boostline inspect --json` has all rows.
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
        Of `label_table`: adds the labels that are ranked badly.
    why
        Of `explain`: adds one row's explanation.

    Examples
    --------
    >>> import boostline as bl
    >>> page = html_report(bl.AdaOLMR(n_labels=2, learners=bl.learners.paper_trees(2)))
    >>> page.startswith("<!doctype html>"), "<h2>Learners</h2>" in page
    (True, True)
    """
    booster = booster_of(model)
    learners = learner_rows.learners(booster)
    names = [row.name for row in learners]
    parts = [f"<h1>{escape(title)}</h1>", Table(["", ""], summary_in_words(model)).html()]
    if history is not None and len(history) > 1:
        parts += [
            "<h2>Learning</h2>",
            chart(
                partial(pictures.learning_curve, history),
                "Learning curve",
                "Rank loss of the scores given before each row was learned; 0 is perfect, 0.5 is guessing.",
            ),
        ]
        if len(learners) > 1:
            parts.append(
                chart(
                    partial(pictures.weights_over_time, history, names),
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
                    partial(pictures.explanation_picture, why),
                    "What moves it",
                    "What each learner adds to this label's score, compared with the average label.",
                )
            )
    parts.append("<h2>Learners</h2>")
    if len(learners) > 1:
        parts.append(chart(partial(pictures.learners_picture, learners), "Learners"))
    parts.append(learner_table(learners).html(_MOST_ROWS))
    splits = [row for row in feature_rows.feature_splits(booster, features) if row.splits]
    if splits:
        parts.append("<h2>Features</h2>")
        if len(splits) > 1:
            title = _most("Features that split", splits)
            parts.append(chart(partial(pictures.features_picture, splits), title))
        parts.append(feature_table(splits).html(_MOST_ROWS))
    if labels is not None and any(row.relevant for row in labels):
        parts.append("<h2>Labels</h2>")
        enough = with_enough_rows(labels)
        if len(enough) > 1:
            title = _most("Labels ranked worst", enough)
            parts.append(chart(partial(pictures.labels_picture, enough), title))
        parts.append(label_table(labels).html(_MOST_ROWS))
    return page(title, parts)


def _what_spoke(why: Explanation) -> list[str]:
    """The features or words that made a score, and the rows of the past."""
    parts = []
    if isinstance(why, TextExplanation):
        parts.append(f'<p class="words">{why.html()}</p>')
    if why.features:
        parts.append(part_table(why).html(_MOST_ROWS))
    if why.rows:
        parts.append(past_table(why).html(_MOST_ROWS))
    return parts


def part_table(why: Explanation, title: str = "") -> Table:
    """The features or words that made a score."""
    what = "word" if isinstance(why, TextExplanation) else "feature"
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
        "The share of the row in all that the learners with a memory say. Rows without a pair to rank do not count.",
    )


def learner_table(rows: list[learner_rows.LearnerRow], title: str = "") -> Table:
    """The learners, the most important first, with the columns that say something of this model."""
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


def feature_table(rows: list[feature_rows.FeatureRow], title: str = "") -> Table:
    """The features on which trees split."""
    return Table(
        ["feature", "importance", "splits", "at the root", "trees", "trees that may look at it"],
        [
            [
                row.name,
                share(row.importance),
                *(f"{n:,}" for n in (row.splits, row.roots, row.trees, row.available)),
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


def _most(title: str, rows: Sequence[Any]) -> str:
    most = pictures.MOST_BARS
    return title if len(rows) <= most else f"{title}, {most} of {len(rows):,}"
