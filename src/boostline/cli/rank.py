"""``boostline rank``: the labels of new rows, best first."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.display.terminal import print_json, print_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rank")(rank)


def rank(
    model: o.ModelArgument,
    data: Annotated[
        str,
        typer.Argument(
            help="Rows to rank: a file, or - for standard input. Columns are found by name; others are left out.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option(help="So many labels a row; 0: all.", min=0)] = 5,
    scores: Annotated[bool, typer.Option("--scores", help="Show the scores as well.")] = False,
    format: o.FormatOption = None,
    drop: o.DropOption = None,
    delimiter: o.DelimiterOption = None,
    block: o.BlockOption = 256,
    threads: o.ThreadsOption = 1,
    json: o.JsonOption = False,
) -> None:
    """Rank the labels for every row of a file; the model is not changed.

    With --json one JSON object a row, as soon as its block is read: {"row": 1, "labels": [...], "scores": [...]}.
    """
    import numpy as np

    from boostline.cli.row_sources import Input

    loaded, record = load_model(model, threads)
    given = Input(data, None, format, drop, None, delimiter)
    rows = rows_for(loaded, record, given, block)
    names = label_names(loaded)
    count = loaded.n_labels if top == 0 else min(top, loaded.n_labels)
    first = 1
    for X, _ in rows:
        given_scores = np.atleast_2d(loaded.score(X))
        order = np.argsort(-given_scores, axis=1, kind="stable")[:, :count]
        best = np.take_along_axis(given_scores, order, axis=1)
        if json:
            for i, (labels, values) in enumerate(zip(order.tolist(), best.tolist(), strict=True)):
                found = [names[label] for label in labels]
                print_json({"row": first + i, "labels": found, "scores": values})
        else:
            cells = [
                [str(first + i), *_cells(labels, values, names, scores)]
                for i, (labels, values) in enumerate(
                    zip(order.tolist(), best.tolist(), strict=True)
                )
            ]
            head = ["row", *(str(place) for place in range(1, count + 1))]
            print_table(head, cells, left=count + 1)
        first += len(order)
    if first == 1:
        raise ValueError(f"{given.name} has no rows")


def _cells(labels: list[int], values: list[float], names: list[Any], scores: bool) -> list[str]:
    if not scores:
        return [str(names[label]) for label in labels]
    return [f"{names[label]} {value:.4f}" for label, value in zip(labels, values, strict=True)]


def load_model(path: Any, threads: int = 1) -> tuple[Any, dict[str, Any]]:
    """A model, and what `boostline train` saved with it (empty if something else saved it)."""
    from boostline.saving import load_with_extra

    model, extra = load_with_extra(path, n_threads=threads)
    record = extra.get("train") if isinstance(extra, dict) else None
    return model, record if isinstance(record, dict) else {}


def rows_for(model: Any, record: dict[str, Any], given: Any, block: int) -> Any:
    """Rows in the order of the model's features."""
    from boostline.cli.row_sources import Input, to_rank

    categories = Input("-", categories=record.get("categories")).parsed_categories()
    names = [str(name) for name in label_names(model)]
    rows = to_rank(given, block, record.get("features"), names, categories)
    if model.n_features not in (None, len(rows.features)):
        raise ValueError(
            f"{given.name} has {len(rows.features)} features, but the model has learned with {model.n_features}"
        )
    return rows


def label_names(model: Any) -> list[Any]:
    """Names of the labels; their numbers if they have none."""
    return list(range(model.n_labels)) if model.labels is None else list(model.labels)
