"""``boostline inspect``: what is inside a saved model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.data.inputs import Input, rows_to_score
from boostline.display.tables import Table, size
from boostline.display.terminal import note, print_json, print_pairs, print_table, shows_colours


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("inspect")(inspect)


@o.spread("labels", "separator", "categories")
def inspect(
    model: o.ModelArgument,
    given: Input,
    html: Annotated[
        Path | None, typer.Option(help="Write an HTML page with pictures (needs matplotlib).")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="A file with labels or a named data set (its test rows); shows which of its labels are ranked badly."
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(help="With --data: explain the ranking of this row; the first is 1.", min=1),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="With --row: explain this label.", show_default="the best")
    ] = None,
    top: Annotated[int, typer.Option(help="Number of lines in each table; 0 for all.", min=0)] = 10,
    json: o.JsonOption = False,
) -> None:
    """Show settings, learners, weights, features, labels and memory of a saved model.

    Models saved by boostline train also show how the labels were ranked before each row was learned, and in --html
    the learning curve and the weights over time.
    """
    from boostline import inspect as look
    from boostline.cli.rank import load_model, report
    from boostline.data import Unseen

    if data is None and (row is not None or label is not None):
        raise typer.BadParameter("--row and --label need --data")
    if label is not None and row is None:
        raise typer.BadParameter("--label needs --row")
    loaded, record = load_model(model)
    names = None if loaded.takes_texts else loaded.features and list(map(str, loaded.features))
    recorder = look.Recorder.from_state(record["history"]) if "history" in record else None
    label_rows = None
    if recorder is not None and recorder.labels is not None:
        label_rows = _label_rows(recorder.labels, loaded)
    why = None
    if data is not None:
        given = replace(given, source=data)
        unseen = Unseen()
        rows = rows_to_score(given, 256, loaded, record, unseen, with_labels=row is None)
        if row is None:
            label_rows = _ranked_labels(loaded, rows)
        else:
            x = _row(rows, row, given.name)
            why = look.explain(loaded, x, _label(loaded, x, label), names=names)
        report(unseen, given)
    if html is not None:
        page = look.html_report(
            loaded,
            title=f"boostline model {model.name}",
            features=names,
            history=None if recorder is None else recorder.history,
            labels=label_rows,
            why=why,
        )
        html.write_text(page, encoding="utf-8")
    if json:
        _print_json(model, loaded, names, label_rows, why)
    elif why is not None:
        _print_why(loaded, why, top)
    else:
        _print_tables(model, loaded, names, label_rows, top)
    if html is not None:
        note(f"written: {html}")


def _row(rows: Any, number: int, name: str) -> Any:
    """A row of a file, in the form that the model takes."""
    first = 1
    for X, _ in rows:
        if number < first + X.shape[0]:
            x = X[number - first]
            return x.toarray().ravel() if hasattr(x, "toarray") else x
        first += X.shape[0]
    raise ValueError(f"--row is {number}, but {name} has {first - 1} rows")


def _ranked_labels(model: Any, rows: Any) -> Any:
    """Score a labelled file, and see how each label is ranked."""
    from boostline import inspect as look

    losses = look.LabelLosses(model.n_labels)
    place = {tag: i for i, tag in enumerate(model.labels or ())}
    for X, Y in rows:
        if model.takes_texts:  # tags that the model does not know cannot be ranked
            told = [{place[tag]: value for tag, value in own.items() if tag in place} for own in Y]
            losses.update(model.score(list(X)), told)
        else:
            losses.update(model.score(X), Y)
    return _label_rows(losses, model)


def _label_rows(losses: Any, model: Any) -> Any:
    from boostline.data.columns import label_names

    names = label_names(model)
    room = losses.n_labels - len(names)  # of a model of texts, for tags to come
    return losses.table([*names, *[""] * room])[: len(names)]


def _label(model: Any, x: Any, label: str | None) -> Any:
    if label is None:
        return model.rank(x, top=1)[0]
    return int(label) if model.labels is None and label.isdecimal() else label


def _print_json(path: Path, model: Any, names: Any, labels: Any, why: Any) -> None:
    from boostline import inspect as look

    booster = model.booster
    result = {
        "model": str(path),
        "file_bytes": path.stat().st_size,
        "summary": look.summary(model),
        "config": booster.config(),
        "learners": [row.to_dict() for row in look.learners(booster)],
        "features": [row.to_dict() for row in look.feature_splits(booster, names)],
        "labels": None if labels is None else [row.to_dict() for row in labels],
    }
    if why is not None:
        result["explanation"] = why.to_dict()
    print_json(result)


def _print_tables(path: Path, model: Any, names: Any, labels: Any, top: int) -> None:
    from boostline import inspect as look
    from boostline.inspect import page
    from boostline.inspect.summaries import summary_in_words

    print_pairs([*summary_in_words(model), ("file", size(path.stat().st_size))], title=str(path))
    booster = model.booster
    rows = look.learners(booster)
    tables = [page.learner_table(rows, _title("Learners that matter most", len(rows), top))]
    features = [row for row in look.feature_splits(booster, names) if row.splits]
    if features:
        title = _title("Features that split", len(features), top)
        tables.append(page.feature_table(features, title))
    if labels is not None:
        title = _title("Labels ranked worst", len(page.with_enough_rows(labels)), top)
        tables.append(page.label_table(labels, title))
    for table in tables:
        print_table(table, top or None)


def _print_why(model: Any, why: Any, top: int) -> None:
    from boostline.inspect import page

    if model.takes_texts:
        typer.echo((why.terminal() if shows_colours() else why.marked()) + "\n")
    print_table(
        Table(
            ["learner", "kind", "part of the score", "less the average label's"],
            [
                [str(i), why.names[i], f"{why.shares[i]:z.4f}", f"{why.lifts[i]:z.4f}"]
                for i in why.top(top or len(why.lifts))
            ],
            title=f"Why {why.name}: score {why.score:.4f}, place {why.rank} of {model.n_labels}",
        )
    )
    if why.features:
        title = _title("Words" if model.takes_texts else "Features", len(why.features), top)
        print_table(page.part_table(why, title), top or None)
    if why.rows:
        print_table(page.past_table(why, "Past rows"), top or None)


def _title(text: str, n: int, top: int) -> str:
    return text if not top or n <= top else f"{text} ({top} of {n:,})"
