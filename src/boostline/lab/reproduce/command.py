"""The command ``boostline reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boostline.display.terminal import note, print_json, print_table, print_text

_INTERRUPTED = 130  # what shells give for a program that Ctrl-C ended


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("reproduce")(reproduce)


def reproduce(
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="A named data set, a file or a MULAN folder. Can be repeated. "
            "Default: emotions, scene, yeast, m-reduced.",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Label columns of a file: a,b,c. For svmlight also their number, for arff also an xml file."
        ),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="File with the test rows.")] = None,
    train_rows: Annotated[
        int | None,
        typer.Option(help="Number of rows for training. Default: two thirds.", min=1),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(help="Columns of a file to leave out, separated by commas.")
    ] = None,
    categories: Annotated[
        list[str] | None,
        typer.Option(help="Categories of a text column: colour=red,green. Can be repeated."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of a csv file; tab for a tab.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a csv or arff file.")] = None,
    zero_based: Annotated[
        bool | None,
        typer.Option(
            "--zero-based/--one-based", help="svmlight: features are numbered from 0 or from 1."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="arff, svmlight, csv, parquet or jsonl, if the file name does not tell."),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(help="ada_olmr or online_bmr. Can be repeated. Default: both."),
    ] = None,
    edge: Annotated[
        list[float] | None,
        typer.Option(help="Edge for OnlineBMR. Can be repeated. Default: the paper's four."),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(help="file or shuffled. Can be repeated. Default: both."),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds; default: the paper's.", min=1)] = 20,
    trees: Annotated[int, typer.Option(help="Number of the paper's trees.", min=1)] = 100,
    covariates: Annotated[
        int, typer.Option(help="Number of features that each tree may use.", min=1)
    ] = 20,
    loss: Annotated[str, typer.Option(help="Loss of OnlineBMR's potentials.")] = "hinge",
    expert: Annotated[
        str, typer.Option(help="Expert of Ada.OLMR: draw (the paper's), weighted, best or last.")
    ] = "draw",
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for one per core.")] = -1,
    dask: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS"
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("reproduction"),
    docs: Annotated[
        Path | None, typer.Option(help="Also write the tables to this Markdown file.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Repeat runs that are finished already.")
    ] = False,
    report_only: Annotated[
        bool,
        typer.Option(
            "--report-only", help="Run nothing; write the report of the results in the folder."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar, no tables.")] = False,
    table: Annotated[
        str | None,
        typer.Option(
            help="Instead of the paper's tables: xc (precision beside published batch learners for many labels) or "
            "prequential (F1 beside published stream learners)."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Reproduce the paper's Tables 2 and 3: one pass over train, then test, for each seed and order.

    Each finished run is kept in the folder; the same command continues where it was stopped. Results are
    printed and written as JSON, CSV and one HTML page.
    """
    if table is not None:
        _other_table(table, data, docs, quiet, json, out, fresh)
        return
    from boostline.data.inputs import Input
    from boostline.lab.reproduce import Settings, run
    from boostline.lab.reproduce.paper import SMALL_SETS
    from boostline.lab.reproduce.report import as_json

    given = Input(
        "",
        drop=None if drop is None else [drop],
        categories=categories,
        delimiter=delimiter,
        encoding=encoding,
        zero_based=zero_based,
    )
    result = run(
        _split_names(data) if data else SMALL_SETS,
        out,
        algorithms=algorithm or ("ada_olmr", "online_bmr"),
        edges=edge,
        orders=order or ("file", "shuffled"),
        seeds=seeds,
        settings=Settings(trees, covariates, loss, expert),
        labels=_labels(labels),
        test=test,
        n_train=train_rows,
        format=format,
        jobs=jobs,
        dask=dask,
        fresh=fresh,
        report_only=report_only,
        docs=docs,
        progress=False if quiet else None,
        **given.options(),
    )
    if not result.finished and not report_only:
        note(
            f"stopped: {result.n_done:,} of {result.n_tasks:,} runs are finished and kept in "
            f"{result.folder}; the same command continues from there"
        )
        raise typer.Exit(_INTERRUPTED)
    if result.summary is None:
        note(f"there is no finished run in {result.folder}")
        raise typer.Exit(1)
    if json:
        made = {"folder": str(result.folder), "page": str(result.page), "new_runs": result.n_new}
        print_json({**as_json(result.summary), **made})
    elif not quiet:
        _print(result)


def _other_table(
    name: str,
    data: list[str] | None,
    docs: Path | None,
    quiet: bool,
    json: bool,
    out: Path,
    fresh: bool,
) -> None:
    from boostline.lab.reproduce.other_tables import TABLES

    if name not in TABLES:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(TABLES)}", param_hint="--table")
    sets = {"sets": _split_names(data)} if data else {}
    try:
        made = TABLES[name](**sets, out=out, fresh=fresh, progress=False if quiet else None)
    except KeyboardInterrupt:
        note(f"stopped: finished sets are kept in {out}; the same command continues from there")
        raise typer.Exit(_INTERRUPTED) from None
    if docs is not None:
        docs.write_text(made.table.markdown() + "\n", encoding="utf-8")
    if json:
        print_json({"table": name, "figures": made.figures, "left_out": made.left_out})
    elif not quiet:
        print_table(made.table)


def _print(result: object) -> None:
    from boostline.lab.reproduce import Result, paper_tables
    from boostline.lab.reproduce.report import plain_words

    assert isinstance(result, Result) and result.summary is not None
    summary = result.summary
    # The terminal is narrower than files and pages, which have every column.
    data = paper_tables.table2(summary).without("no label").without("as printed")
    losses = paper_tables.losses(summary).without("label frequency")
    shown = [data, losses, paper_tables.times(summary)]
    if "online_bmr" in summary.algorithms:
        shown.append(paper_tables.edges(summary))
    for table in shown:
        print_table(table)
    for text in plain_words(summary):
        print_text(text, style="bold")
    where = f"in {result.folder}; report: {result.page}"
    print(f"{result.n_new:,} runs done now, {summary.n_runs:,} {where}")


def _split_names(given: list[str]) -> list[str]:
    """Take named sets with commas as well; a file's name may have commas of its own."""
    from boostline.data import available

    known = available()
    found: list[str] = []
    for one in given:
        parts = [part.strip() for part in one.split(",")]
        found += parts if all(part in known for part in parts) else [one]
    return found


def _labels(given: str | None) -> list[str] | int | str | None:
    if given is None or given.endswith(".xml"):
        return given
    return int(given) if given.isdigit() else [part.strip() for part in given.split(",")]
