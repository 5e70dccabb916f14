"""All there is to see of a model on one self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from boostline.display.html import image, page
from boostline.inspect import feature_rows, learner_rows, pictures
from boostline.inspect.explanations import Explanation
from boostline.inspect.label_rows import LabelRow, worst_first
from boostline.inspect.recorder import Recording
from boostline.inspect.summaries import summary
from boostline.inspect.trees import trees_of

_MOST_ROWS = 500


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
        A booster.
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
    trees = trees_of(model)
    learners = learner_rows.rows_of(model, trees)
    names = [row.name for row in learners]
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        _table(["", ""], [[key, show(value)] for key, value in summary(model).items()]),
    ]
    if history is not None and len(history) > 1:
        parts += ["<h2>Learning</h2>", image(pictures.learning_curve(history), "learning curve")]
        parts += [image(pictures.weights_over_time(history, names), "learners' weights over time")]
    if why is not None:
        parts += [f"<h2>Why {html.escape(str(why.name))}</h2>"]
        parts += [f"<p>Score {why.score:.4f}, place {why.rank} of {model.n_labels}.</p>"]
        parts += [image(pictures.explanation_picture(why), "shares of the score")]
    parts += [
        "<h2>Learners</h2>",
        image(pictures.learners_picture(learners), "edges and weights of the learners"),
        _learner_table(learners),
    ]
    splits = feature_rows.rows_of(model, trees, features)
    if any(row.splits for row in splits):
        parts += ["<h2>Features</h2>", image(pictures.features_picture(splits), "features")]
        parts += [_feature_table([row for row in splits if row.splits])]
    if labels is not None and any(row.relevant for row in labels):
        ordered = worst_first(labels)
        parts += ["<h2>Labels</h2>", image(pictures.labels_picture(ordered), "labels")]
        parts += [_label_table(ordered)]
    return page(title, parts)


def show(value: Any) -> str:
    """A figure for people.

    Examples
    --------
    >>> show(0.123456), show({"nodes": 3}), show(None)
    ('0.1235', 'nodes 3', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4f}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {show(item)}" for key, item in value.items()) or "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _learner_table(rows: list[learner_rows.LearnerRow]) -> str:
    head = ["learner", "kind", "weight", "edge", "listened", "importance", "expert's loss", "nodes"]
    head.append("depth")
    ordered = sorted(rows, key=lambda row: (-row.importance, row.index))
    return _table(
        head,
        [
            [
                show(row.index),
                row.name,
                *map(show, (row.weight, row.edge, row.listened, row.importance, row.expert_loss)),
                show(row.nodes),
                show(row.depth),
            ]
            for row in ordered
        ],
    )


def _feature_table(rows: list[feature_rows.FeatureRow]) -> str:
    head = ["feature", "importance", "splits", "roots", "trees", "trees that may look at it"]
    return _table(
        head,
        [
            [
                row.name,
                *map(show, (row.importance, row.splits, row.roots, row.trees, row.available)),
            ]
            for row in rows
        ],
    )


def _label_table(rows: list[LabelRow]) -> str:
    head = ["label", "relevant in rows", "missed", "intruded", "mean place"]
    note = (
        '<p class="note">missed: share of the irrelevant labels above it when it is relevant; intruded: share of the '
        "relevant labels that it is above when it is irrelevant; both 0 at best, 0.5 by chance.</p>"
    )
    return note + _table(
        head,
        [
            [str(row.name), *map(show, (row.relevant, row.missed, row.intruded, row.rank))]
            for row in rows
        ],
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    first = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:_MOST_ROWS]
    )
    left_out = len(rows) - _MOST_ROWS
    note = f'<p class="note">{left_out:,} more rows are left out.</p>' if left_out > 0 else ""
    return f"<table><tr>{first}</tr>\n{body}</table>{note}"
