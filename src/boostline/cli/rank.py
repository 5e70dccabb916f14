"""``boostline rank``: the labels of new rows, best first."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.display.tables import Table
from boostline.display.terminal import note, print_json, print_table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rank")(rank)


def rank(
    model: o.ModelArgument,
    data: Annotated[
        str,
        typer.Argument(
            help="Rows to rank: a file, - for standard input, or a named data set (its test rows). Columns are "
            "matched by name; additional ones are ignored.",
            show_default=False,
        ),
    ],
    top: Annotated[int, typer.Option(help="Number of labels per row; 0 for all.", min=0)] = 5,
    scores: Annotated[bool, typer.Option("--scores", help="Show the scores as well.")] = False,
    format: o.FormatOption = None,
    drop: o.DropOption = None,
    delimiter: o.DelimiterOption = None,
    encoding: o.EncodingOption = None,
    zero_based: o.ZeroBasedOption = None,
    unseen: o.UnseenOption = o.Unseen.missing,
    block: o.BlockOption = 256,
    threads: o.ThreadsOption = 1,
    json: o.JsonOption = False,
) -> None:
    """Rank the labels of every row of a file. The model does not change.

    With --json, one JSON object per row: {"row": 1, "labels": [...], "scores": [...]}.
    """
    import numpy as np

    from boostline.cli.columns import Columns, label_names
    from boostline.cli.row_sources import Input, rows_to_score
    from boostline.data import Unseen

    loaded, record = load_model(model, threads)
    given = Input(data, None, format, drop, None, delimiter, encoding, zero_based)
    counted = Unseen() if unseen is o.Unseen.missing else None
    rows = rows_to_score(given, block, Columns.of(loaded, record), counted)
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
            print_table(Table(head, cells))
        first += len(order)
    if first == 1:
        raise ValueError(f"{given.name} has no rows")
    report(counted, given)


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


def report(unseen: Any, given: Any) -> None:
    """Tell how often there was what the model has never seen."""
    if unseen is not None and unseen.total:
        values = "1 value" if unseen.total == 1 else f"{unseen.total:,} values"
        note(f"{given.name} has {values} that the model has never seen, taken as missing: {unseen}")
