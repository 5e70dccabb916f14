"""``boostline evaluate``: how well the algorithms rank a data set."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.data.inputs import Input, dataset_of_texts, load_data, split_commas
from boostline.display.html import page
from boostline.display.terminal import note, print_json, print_table
from boostline.models.settings import Algorithm, ModelOptions, make_model

STOPPED = 130


class Protocol(StrEnum):
    """How to evaluate."""

    train_then_test = "train-then-test"
    prequential = "prequential"


class Order(StrEnum):
    """Orders of the rows."""

    file = "file"
    shuffled = "shuffled"
    both = "both"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


@o.spread()
def evaluate(
    data: Annotated[
        str,
        typer.Argument(help="A named data set, a file or a MULAN folder.", show_default=False),
    ],
    given: Input,
    options: ModelOptions,
    protocol: Annotated[
        Protocol | None,
        typer.Option(
            help="Learn the train rows and measure on the test rows, or rank and then learn each row.",
            show_default="train-then-test if there are test rows",
        ),
    ] = None,
    algorithm: Annotated[
        list[Algorithm] | None,
        typer.Option(
            "--algorithm", "-a", help="Algorithm to evaluate. Can be repeated.", show_default="all"
        ),
    ] = None,
    order: Annotated[
        Order, typer.Option(help="Order of the rows (prequential: file or shuffled).")
    ] = Order.both,
    seeds: Annotated[
        int,
        typer.Option(
            help="Number of runs of each model and order, with the seeds 0, 1, ...", min=1
        ),
    ] = 1,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="Another metric: coverage, average_precision, one_error, ndcg@3, ... Can be repeated.",
        ),
    ] = None,
    test: Annotated[str | None, typer.Option(help="File with the test rows.")] = None,
    train_rows: Annotated[
        int | None,
        typer.Option(help="Number of rows for training; the others are test rows.", min=1),
    ] = None,
    freeze: Annotated[
        bool, typer.Option("--freeze", help="Do not learn from the test rows.")
    ] = False,
    delay: Annotated[
        int, typer.Option(help="Prequential: number of rows after which labels arrive.", min=0)
    ] = 0,
    window: Annotated[
        int, typer.Option(help="Prequential: number of rows in the moving window.", min=1)
    ] = 1000,
    baseline: Annotated[
        bool,
        typer.Option(help="Also evaluate a baseline that counts labels and ignores the features."),
    ] = True,
    plot: Annotated[
        Path | None,
        typer.Option(help="File for a plot of the learning curves (png, svg, pdf)."),
    ] = None,
    by_label: Annotated[
        bool,
        typer.Option(
            "--by-label",
            help="Also show precision, recall and F1 of every label (with --csv only these).",
        ),
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print a page in HTML.")] = False,
    threads: o.ThreadsOption = 1,
    json: o.JsonOption = False,
) -> None:
    """Evaluate the algorithms and a baseline that ignores the features: one table, a line per model.

    The metrics are rank loss, precision of the first label and of the first three (P@1, P@3), micro- and macro-F1, and
    log loss. The command first says what it will do. Ctrl-C stops and shows the results so far.
    """
    from boostline import evaluate as ev

    if csv + markdown + html + json > 1:
        raise typer.BadParameter("only one of --csv, --markdown, --html and --json can be given")
    given = replace(given, source=data)
    makers: dict[str, Any]
    if given.text is not None:
        dataset, texts = dataset_of_texts(given, test, train_rows)
        makers = {
            "TextRanker" if one is Algorithm.label_ranker else one.class_name: _text_maker(
                one, dataset, texts, options, threads
            )
            for one in algorithm or [Algorithm.label_ranker]
        }
    else:
        dataset = load_data(given, test=test, n_train=train_rows)
        chosen = algorithm or [a for a in Algorithm if options.fits(a)]
        makers = {one.class_name: _maker(one, dataset, options.of(one), threads) for one in chosen}
    if baseline:
        makers["DecayedCounts"] = lambda seed: ev.baselines.DecayedCounts(
            labels=list(dataset.labels)
        )
    metrics = [*ev.STANDARD, *(m for m in split_commas(metric) or [] if m not in ev.STANDARD)]
    if protocol is None:
        protocol = Protocol.train_then_test if dataset.n_test else Protocol.prequential
    runs = f"{dataset.name}: {dataset.X.shape[0]:,} rows, {len(dataset.labels):,} labels. "
    runs += f"{_listed(list(makers))} "
    if protocol is Protocol.train_then_test:
        if delay:
            raise typer.BadParameter("--delay needs --protocol prequential")
        orders: Any = ["file", "shuffled"] if order is Order.both else [order.value]
        how = {"file": "in the order of the file", "shuffled": "shuffled"}
        note(
            f"{runs}learn {dataset.n_train:,} rows and are measured on the other {dataset.n_test:,}, "
            f"{_listed([how[one] for one in orders])}, with {seeds} seed{'s' * (seeds > 1)}: "
            f"{len(makers) * len(orders) * seeds} runs"
        )
        result: Any = ev.compare(makers, dataset, orders, range(seeds), metrics, freeze=freeze)
    else:
        if freeze:
            raise typer.BadParameter("--freeze needs --protocol train-then-test")
        note(f"{runs}rank each row and then learn it" + (f", {delay:,} rows later" * (delay > 0)))
        rows = dataset.shuffled(0) if order is Order.shuffled else dataset
        models = {name: make(0) for name, make in makers.items()}
        result = ev.prequential(models, rows, metrics, delay=delay, window=window)
    if plot is not None:
        result.plot(plot, title=dataset.name)
    first = result.first_runs
    tables = [result.as_table()]
    if by_label:
        tables += [ev.label_report(run) for run in first.values() if run.label_counts is not None]
    if json:
        told = {"data": dataset.name, "protocol": protocol.value, **result.to_dict(curves=False)}
        if by_label:
            told["by_label"] = {name: run.by_label() for name, run in first.items()}
        print_json(told)
    elif csv:
        labelled = [{"model": name, **row} for name, run in first.items() for row in run.by_label()]
        typer.echo(ev.records_csv(labelled) if by_label else result.csv(), nl=False)
    elif markdown:
        typer.echo("\n".join(table.markdown() for table in tables))
    elif html:
        typer.echo(page(dataset.name, [table.html() for table in tables]))
    else:
        for table in tables:
            print_table(table)
    if result.stopped:
        note("stopped before the end")
        raise typer.Exit(STOPPED)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _maker(algorithm: Algorithm, dataset: Any, options: ModelOptions, threads: int) -> Any:
    return lambda seed: make_model(
        algorithm, list(dataset.labels), options, seed=seed, threads=threads
    )


def _text_maker(
    algorithm: Algorithm, dataset: Any, texts: list[str], options: ModelOptions, threads: int
) -> Any:
    from boostline.text.by_number import TextsByNumber

    return lambda seed: TextsByNumber(
        o.make_text_model(algorithm, list(dataset.labels), options, seed=seed, threads=threads),
        texts,
    )
