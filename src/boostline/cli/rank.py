"""``boostline rank``: the labels of new rows, best first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.data.columns import label_names
from boostline.data.inputs import Input, rows_to_score
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
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Only labels with a probability above it.", show_default=False, min=0, max=1
        ),
    ] = None,
    optimize: Annotated[
        o.Measure | None,
        typer.Option(
            help="Only the labels that are named for this measure.",
            show_default=False,
        ),
    ] = None,
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
    --probabilities also "probabilities". With --threshold or --optimize a row may have fewer labels, or none.
    Texts also have "known_words": a text without any is ranked by how frequent the labels are.
    """
    if jobs == 0:
        raise typer.BadParameter("0 is neither a number of processes nor -1", param_hint="--jobs")
    if threshold is not None and optimize is not None:
        raise typer.BadParameter("only one can be given", param_hint="--threshold, --optimize")
    if threshold in (0, 1):
        raise typer.BadParameter("must be between 0 and 1", param_hint="--threshold")
    aim = threshold if optimize is None else optimize.value
    if out is not None:
        if why or probabilities or aim is not None:
            raise typer.BadParameter(
                "is for rankings that are printed: leave out --out",
                param_hint="--why, --probabilities, --threshold, --optimize",
            )
        loaded = load_model(model, threads)
        options = {} if unseen is o.Unseen.missing else {"unseen": None}
        _rank_files(loaded, given, data, out, top, key, jobs, dask, json, options)
        return
    if dask is not None or key:
        raise typer.BadParameter(
            "is for --out, a folder for the results", param_hint="--dask, --key"
        )
    if len(data) > 1:
        raise typer.BadParameter("several files need --out, a folder for the results")
    from boostline.scale.engines import LocalEngine

    loaded, record = load_model(model, threads)
    given = replace(given, source=data[0])
    counted = Unseen() if unseen is o.Unseen.missing else None
    rows = rows_to_score(given, block, loaded, record, counted)
    count = loaded.n_labels if top == 0 else min(top, loaded.n_labels)
    cut = 0.0 if aim is None else loaded.booster.threshold(aim)
    task = _Ranking(count, scores or json, probabilities, why, rows.features, cut)
    first = 1
    for ranked in LocalEngine(jobs).map(task, (X for X, _ in rows), loaded):
        if json:
            for number, row in enumerate(ranked, first):
                parts = (
                    {
                        "why": [
                            {"name": one.name, "value": one.value, "part": one.part}
                            for one in row["why"]
                        ]
                    }
                    if why
                    else {}
                )
                print_json({"row": number, **row, **parts})
        else:
            _print_rows(ranked, first, count)
        first += len(ranked)
    if first == 1:
        raise ValueError(f"{given.name} has no rows")
    report(counted, given)


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
    if loaded.takes_texts:
        given = given.completed(record)
        options |= {"text": given.text_columns(), "separator": given.separator}
    elif given.text is not None:
        raise typer.BadParameter(
            "it needs a model of texts, but this model takes features", param_hint="--text"
        )
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
class _Ranking:
    """A task for other processes: the best labels of some rows, and what to show with them."""

    count: int
    scores: bool
    probabilities: bool
    why: bool
    features: list[str]
    threshold: float

    def __call__(self, model: Any, X: Any) -> list[dict[str, Any]]:
        import numpy as np

        scores, likely = (np.atleast_2d(part) for part in model.scores_and_probabilities(X))
        order = np.argsort(-scores, axis=1, kind="stable")[:, : self.count]
        shown = {"scores": scores} if self.scores else {}
        if self.probabilities:
            shown["probabilities"] = likely
        names, rows = label_names(model), []
        for i, ranked in enumerate(order.tolist()):
            best = [label for label in ranked if likely[i, label] > self.threshold]
            numbers = {name: of[i, best].tolist() for name, of in shown.items()}
            rows.append({"labels": [names[label] for label in best], **numbers})
        if model.takes_texts:
            for row, n in zip(rows, model.known_words(list(X)).tolist(), strict=True):
                row["known_words"] = n
        if self.why:
            for i, row in enumerate(rows):
                best = row["labels"][:1]
                row["why"] = self._reasons(model, X[i : i + 1], best[0]) if best else []
        return rows

    def _reasons(self, model: Any, x: Any, label: Any) -> list[Any]:
        """The features that speak for a label, the strongest first."""
        from boostline.inspect import explain

        is_text = model.takes_texts
        names = None if is_text else self.features
        parts = explain(model, x[0] if is_text else x, label, names=names).features
        return [part for part in parts if part.part > 0][:_MOST_REASONS]


def _print_rows(ranked: list[dict[str, Any]], first: int, count: int) -> None:
    head = ["row", *map(str, range(1, count + 1))]
    head += ["known words"] * ("known_words" in ranked[0]) + ["because of"] * ("why" in ranked[0])
    cells = []
    for number, row in enumerate(ranked, first):
        shown = [row[name] for name in ("scores", "probabilities") if name in row]
        best = [
            " ".join([str(label), *(f"{of[i]:.4f}" for of in shown)])
            for i, label in enumerate(row["labels"])
        ]
        cells.append([str(number), *best, *[""] * (count - len(best))])
        if "known_words" in row:
            cells[-1].append(str(row["known_words"]))
        if "why" in row:
            cells[-1].append(", ".join(map(str, row["why"])) or NONE)
    print_table(Table(head, cells))


def load_model(path: Any, threads: int = 1) -> tuple[Any, dict[str, Any]]:
    """A model, and what `boostline train` saved with it (empty if something else saved it)."""
    from boostline.saving import load_with_extra

    model, extra = load_with_extra(path, n_threads=threads)
    record = extra.get("train") if isinstance(extra, dict) else None
    return model, record if isinstance(record, dict) else {}


def report(unseen: Any, given: Any) -> None:
    """Report how many values the model has never seen."""
    if unseen is not None and unseen.total:
        values = "1 value" if unseen.total == 1 else f"{unseen.total:,} values"
        note(f"{given.name} has {values} that the model has never seen, taken as missing: {unseen}")
