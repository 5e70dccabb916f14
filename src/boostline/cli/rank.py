"""``boostline rank``: the labels of new rows, best first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.contract.text_models import is_text_model
from boostline.data.inputs import Input
from boostline.data.unseen import Unseen
from boostline.display.tables import NONE, Table
from boostline.display.terminal import note, print_json, print_table

# Features that --why names.
_MOST_REASONS = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("rank")(rank)


@o.spread("labels", "separator", "categories")
def rank(
    model: o.ModelArgument,
    data: Annotated[
        list[str],
        typer.Argument(
            help="Rows to rank: a file, - for standard input, or a named data set (its test rows). Columns are "
            "matched by name; additional ones are ignored. With --out, any number of files.",
            show_default=False,
        ),
    ],
    given: Input,
    top: Annotated[int, typer.Option(help="Number of labels per row; 0 for all.", min=0)] = 5,
    scores: Annotated[bool, typer.Option("--scores", help="Show the scores as well.")] = False,
    why: Annotated[
        bool,
        typer.Option("--why", help="Name the features or words that speak for the first label."),
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Show how likely each label is to be relevant."),
    ] = False,
    unseen: o.UnseenOption = o.Unseen.missing,
    block: o.BlockOption = 256,
    threads: o.ThreadsOption = 1,
    jobs: o.JobsOption = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results, one Parquet file for each file. Files that are there already are skipped.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="With --out: a column to copy, such as an id. Can be repeated."),
    ] = None,
    dask: o.DaskOption = None,
    json: o.JsonOption = False,
) -> None:
    """Rank the labels of every row of a file. The model does not change.

    With --json, one JSON object per row: {"row": 1, "labels": [...], "scores": [...]}, with
    --probabilities also "probabilities". Texts also have "known_words": a text without any is ranked by how frequent
    the labels are.
    """
    if jobs == 0:
        raise typer.BadParameter("0 is neither a number of processes nor -1", param_hint="--jobs")
    if out is not None:
        if why or probabilities:
            raise typer.BadParameter(
                "is for rankings that are printed: leave out --out",
                param_hint="--why, --probabilities",
            )
        loaded = load_model(model, threads)
        counted = {} if unseen is o.Unseen.missing else {"unseen": None}
        _rank_files(loaded, given, data, out, top, key, jobs, dask, json, counted)
        return
    if dask is not None or key:
        raise typer.BadParameter(
            "is for --out, a folder for the results", param_hint="--dask, --key"
        )
    if len(data) > 1:
        raise typer.BadParameter("several files need --out, a folder for the results")
    _rank_rows(
        load_model(model, threads),
        replace(given, source=data[0]),
        block=block,
        top=top,
        jobs=jobs,
        look=_Look(scores, probabilities, json, why),
        unseen=Unseen() if unseen is o.Unseen.missing else None,
    )


def _rank_files(
    model_and_record: tuple[Any, dict[str, Any]],
    given: Input,
    data: list[str],
    out: Path,
    top: int,
    key: list[str] | None,
    jobs: int,
    dask: str | None,
    json: bool,
    options: dict[str, Any],
) -> None:
    from boostline.scale import rank_files

    loaded, record = model_and_record
    if is_text_model(loaded):
        given = given.completed(record)
        options |= {"text": given.text_columns(), "separator": given.separator}
    elif given.text is not None:
        raise typer.BadParameter("the model is no model of texts", param_hint="--text")
    names = ("format", "drop", "delimiter", "encoding", "zero_based")
    options |= {n: v for n in names if (v := getattr(given, n)) is not None}
    count = loaded.n_labels if top == 0 else top
    with o.engine_for(jobs, dask) as engine:
        made = rank_files(loaded, data, out, top=count, keys=key or (), engine=engine, **options)
    found = {"files": len(made.files), "rows": made.n_rows, "skipped": made.n_skipped}
    if json:
        print_json({**found, "out": str(out)})
    else:
        note(
            f"{found['rows']:,} rows of {found['files']} files ranked in {out}, {found['skipped']} were there"
        )


@dataclass(frozen=True)
class _Look:
    """How rankings are printed."""

    scores: bool
    probabilities: bool
    json: bool
    why: bool


@dataclass(frozen=True)
class _Best:
    """A task for other processes: the best labels of some rows, and the numbers to show with them."""

    count: int
    look: _Look

    def __call__(self, model: Any, X: Any) -> tuple[list[list[int]], dict[str, list[list[float]]]]:
        import numpy as np

        scores, likely = (np.atleast_2d(part) for part in model.scores_and_probabilities(X))
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self.count]
        shown = {"scores": scores} if self.look.scores or self.look.json else {}
        if self.look.probabilities:
            shown["probabilities"] = likely
        numbers = {
            name: np.take_along_axis(of, order, axis=1).tolist() for name, of in shown.items()
        }
        if is_text_model(model):
            numbers["known_words"] = model.known_words(list(X)).tolist()
        return order.tolist(), numbers


def _rank_rows(
    model_and_record: tuple[Any, dict[str, Any]],
    given: Input,
    *,
    block: int,
    top: int,
    jobs: int,
    look: _Look,
    unseen: Unseen | None,
) -> None:
    from boostline.data.columns import label_names
    from boostline.data.inputs import rows_to_score
    from boostline.scale.engines import LocalEngine

    loaded, record = model_and_record
    rows = rows_to_score(given, block, loaded, record, unseen)
    names = label_names(loaded)
    count = loaded.n_labels if top == 0 else min(top, loaded.n_labels)
    first = 1
    at_hand: deque[Any] = deque()
    features = None if is_text_model(loaded) else rows.features

    def blocks() -> Iterator[Any]:
        for X, _ in rows:
            if look.why:
                at_hand.append(X)
            yield X

    for order, numbers in LocalEngine(jobs).map(_Best(count, look), blocks(), loaded):
        reasons = _reasons(loaded, at_hand.popleft(), order, features) if look.why else None
        if look.json:
            _print_objects(first, order, numbers, reasons, names)
        else:
            _print_rows(first, order, numbers, reasons, names, count)
        first += len(order)
    if first == 1:
        raise ValueError(f"{given.name} has no rows")
    report(unseen, given)


def _print_objects(
    first: int, order: Any, numbers: dict[str, Any], reasons: Any, names: list[Any]
) -> None:
    for i, labels in enumerate(order):
        told: dict[str, Any] = {name: values[i] for name, values in numbers.items()}
        if reasons is not None:
            told["why"] = [
                {"name": one.name, "value": one.value, "part": one.part} for one in reasons[i]
            ]
        print_json({"row": first + i, "labels": [names[label] for label in labels], **told})


def _print_rows(
    first: int, order: Any, numbers: dict[str, Any], reasons: Any, names: list[Any], count: int
) -> None:
    head = ["row", *(str(place) for place in range(1, count + 1))]
    known_words = numbers.pop("known_words", None)
    cells = [
        [str(first + i), *_cells(labels, [of[i] for of in numbers.values()], names)]
        for i, labels in enumerate(order)
    ]
    if known_words is not None:
        head.append("known words")
        for row, n in zip(cells, known_words, strict=True):
            row.append(str(n))
    if reasons is not None:
        head.append("because of")
        for row, parts in zip(cells, reasons, strict=True):
            row.append(", ".join(map(str, parts)) or NONE)
    print_table(Table(head, cells))


def _reasons(model: Any, X: Any, order: list[list[int]], names: Any) -> list[list[Any]]:
    """The features that speak for the first label of each row, the strongest first."""
    from boostline.inspect import explain

    found = []
    for i, labels in enumerate(order):
        x = X[i] if is_text_model(model) else X[i : i + 1]
        label = labels[0] if model.labels is None else model.labels[labels[0]]
        parts = explain(model, x, label, names=names).features
        found.append([part for part in parts if part.part > 0][:_MOST_REASONS])
    return found


def _cells(labels: list[int], numbers: list[list[float]], names: list[Any]) -> list[str]:
    return [
        " ".join([str(names[label]), *(f"{of_row[i]:.4f}" for of_row in numbers)])
        for i, label in enumerate(labels)
    ]


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
