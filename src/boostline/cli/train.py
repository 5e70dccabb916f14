"""``boostline train``: learn from a file or a pipe, and continue after any interruption."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.data.inputs import Input
from boostline.display.terminal import note, print_json, print_pairs
from boostline.models.settings import Algorithm, ModelOptions


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("train")(train)


@o.spread()
def train(
    data: Annotated[
        list[str],
        typer.Argument(
            help="A file (csv, parquet, arff, svmlight, jsonl; also .gz), - for standard input, or a named data set. "
            "With --jobs or --dask, any number of files.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="File to save the model to.", show_default=False)
    ],
    given: Input,
    options: ModelOptions,
    algorithm: Annotated[
        Algorithm | None,
        typer.Option("--algorithm", "-a", help="Algorithm.", show_default="label_ranker"),
    ] = None,
    seed: o.SeedOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue with the saved model; rows that it has learned already are skipped.",
        ),
    ] = False,
    append: Annotated[
        bool,
        typer.Option(
            "--append", help="Continue with the saved model; all rows of the input are new."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start from scratch even if the model file exists.")
    ] = False,
    checkpoint: Annotated[
        int,
        typer.Option(help="Rows between two checkpoints; one is also saved every minute.", min=1),
    ] = 10_000,
    max_rows: Annotated[
        int | None, typer.Option(help="Stop after this many rows of the input.", min=1)
    ] = None,
    block: o.BlockOption = 256,
    threads: o.ThreadsOption = 1,
    jobs: o.JobsOption = 1,
    dask: o.DaskOption = None,
    json: o.JsonOption = False,
) -> None:
    """Learn from a file or a pipe in one pass, and save the model.

    The model is saved regularly. After Ctrl-C, kill, kill -9 or a power cut, run the same command with --resume to
    continue: rows that were learned already are skipped.

    With --jobs or --dask, several workers learn a history of many files. The model is saved at the end.
    """
    from boostline.cli.training_run import SIGNALLED, Chosen, TrainingRun

    if resume + append + overwrite > 1:
        raise typer.BadParameter("only one of --resume, --append and --overwrite can be given")
    exists = os.path.exists(model)
    if exists and not (resume or append or overwrite):
        raise FileExistsError(
            f"{model} exists already: use --resume, --append or --overwrite, or another name"
        )
    if append and not exists:
        raise FileNotFoundError(f"{model} does not exist, so there is nothing to append to")
    given = replace(given, source=data[0])
    chosen = Chosen(algorithm, options, seed, threads)
    if jobs != 1 or dask is not None:
        if resume or append or max_rows is not None:
            raise typer.BadParameter(
                "--jobs and --dask learn a whole history anew: leave out --resume, --append and --max-rows"
            )
        from boostline.cli.train_history import train_history

        train_history(data, model, given, chosen, jobs=jobs, dask=dask, json=json)
        return
    if len(data) > 1:
        raise typer.BadParameter("several files need --jobs or --dask")
    if exists and not overwrite:
        run = TrainingRun.resumed(model, given, chosen, append, block)
    else:
        run = TrainingRun.fresh(model, given, chosen, block)
    result = run.run(checkpoint, max_rows)
    if json:
        print_json(result)
    else:
        _print(result)
    if result["stopped"]:
        note(f"stopped; what was learned is saved in {model}; continue with --resume")
        raise typer.Exit(SIGNALLED + signal.Signals[result["signal"]])


def _print(result: dict[str, Any]) -> None:
    loss = result["mean_rank_loss"]
    pairs = [
        ("model", f"{result['model']} ({result['file_bytes'] / 1e6:.1f} MB)"),
        ("algorithm", result["algorithm"]),
        ("rows learned now", f"{result['rows']:,} in {result['seconds']:.1f} s"),
    ]
    if result["skipped"]:
        pairs.append(("rows skipped", f"{result['skipped']:,} (learned before)"))
    pairs += [
        ("rows learned in all", f"{result['clock']:,}"),
        ("features, labels", f"{result['features'] or '-'}, {result['labels']}"),
        ("mean rank loss", "-" if loss is None else f"{loss:.4f} (before learning each row)"),
    ]
    print_pairs(pairs)
