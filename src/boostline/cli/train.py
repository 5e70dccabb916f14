"""``boostline train``: learn from a file or a pipe, and continue after any interruption."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.cli.training_run import SIGNALLED, Chosen, TrainingRun
from boostline.data.inputs import Input, rows_to_learn
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
                "--jobs and --dask learn a whole history from scratch: leave out --resume, --append and --max-rows"
            )
        _train_history(data, model, given, chosen, jobs=jobs, dask=dask, json=json)
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


def _train_history(
    paths: list[str],
    target: Path,
    given: Input,
    chosen: Chosen,
    *,
    jobs: int,
    dask: str | None,
    json: bool,
) -> None:
    """Learn files in the order in which they are given, with several processes or on a cluster; save the model."""
    from boostline.inspect.summaries import loss_in_words, summary
    from boostline.scale import warm_start

    if not os.path.isdir(target.parent):
        raise FileNotFoundError(f"there is no folder {target.parent} to save the model in")
    if any(path == "-" for path in paths):
        raise typer.BadParameter("workers cannot read standard input; give files")
    start = time.perf_counter()
    first = rows_to_learn(given, block=1)
    options = {**given.options(), "format": given.format}
    if given.text is None:
        model = chosen.make(first.labels)
        model.features = first.features
    else:
        model = chosen.make_text()
        options |= {"text": given.text, "labels": given.labels, "separator": given.separator}
    options = {name: value for name, value in options.items() if value is not None}
    with o.engine_for(jobs, dask) as engine:
        model = warm_start(model, paths, engine=engine, **options)
    model.save(target, {"train": given.record()})
    measured = summary(model)
    result: dict[str, Any] = {
        "model": str(target),
        "algorithm": type(model).__name__,
        "files": len(paths),
        "rows": model.clock,
        "labels": model.n_labels,
        "features": model.booster.n_features,
        **{name: measured[name] for name in ("mean_rank_loss", "rows_measured", "rows_merged")},
        "seconds": time.perf_counter() - start,
        "file_bytes": os.path.getsize(target),
    }
    if json:
        print_json(result)
        return
    files = "1 file" if len(paths) == 1 else f"{len(paths)} files"
    print_pairs(
        [
            ("model", f"{target} ({result['file_bytes'] / 1e6:.1f} MB)"),
            ("rows learned", f"{model.clock:,} of {files} in {result['seconds']:.1f} s"),
            ("features, labels", f"{result['features']}, {model.n_labels}"),
            ("mean rank loss", loss_in_words(measured)),
        ]
    )


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
