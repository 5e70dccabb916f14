"""``boostline log``: verify, export, replay and compact the log of a service."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.boosters.settings import Algorithm, ModelOptions, make_model
from boostline.cli import options as o
from boostline.display.tables import Table
from boostline.display.terminal import note, print_json, print_pairs, print_table

__all__ = ["register"]

StoreOption = Annotated[Path, typer.Option(help="The log of a service.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands to the shell's application."""
    log = typer.Typer(
        no_args_is_help=True, help="Verify, export, replay or compact the log of a service."
    )
    log.command("verify")(verify)
    log.command("export")(export)
    log.command("replay")(replay)
    log.command("compact")(compact)
    app.add_typer(log, name="log")


def verify(store: StoreOption, threads: o.ThreadsOption = 1, json: o.JsonOption = False) -> None:
    """Replay every model from the oldest snapshot kept, and compare bytes with the newest.

    The service may be running. Exit code 0 if all are equal, 1 if not.
    """
    from boostline.serve.ops import verifying

    verdicts = list(verifying.verify(str(store), threads))
    if json:
        print_json([verdict.to_dict() for verdict in verdicts])
    else:
        rows = [
            [v.model, str(v.start), str(v.end), str(v.rows), "equal" if v.equal else "DIFFERENT"]
            for v in verdicts
        ]
        print_table(Table(["model", "from", "to", "rows replayed", "result"], rows))
    if not all(verdict.equal for verdict in verdicts):
        note(
            "the log and the newest snapshot do not agree: recover from an older snapshot or a backup"
        )
        raise typer.Exit(1)


def export(
    store: StoreOption,
    to: Annotated[
        Path, typer.Option(help="A file that ends in .parquet or .jsonl.", show_default=False)
    ],
    after: Annotated[int, typer.Option(help="Only events after this offset.", min=0)] = 0,
    up_to: Annotated[int | None, typer.Option(help="Only events up to this offset.", min=1)] = None,
) -> None:
    """Write the events to a file. The service may be running."""
    from boostline.serve.ops import exporting

    n = exporting.export(str(store), to, after, up_to)
    note(f"{n:,} events are in {to}")


def replay(
    store: StoreOption,
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", "-a", help="Algorithm.")
    ] = Algorithm.label_ranker,
    learners: o.LearnersOption = None,
    seed: o.SeedOption = None,
    expert: o.ExpertOption = None,
    steps: o.StepsOption = None,
    drift: o.DriftOption = None,
    max_bytes: o.MaxBytesOption = None,
    edge: o.EdgeOption = None,
    loss: o.LossOption = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Where to save the model.", show_default=False),
    ] = None,
    threads: o.ThreadsOption = 1,
    json: o.JsonOption = False,
) -> None:
    """Learn the log with another model: an experiment on what was served. The service may be running."""
    from boostline.serve.ops import replaying

    given = ModelOptions(learners, expert, drift, edge, loss, steps, max_bytes)

    def make(labels: list[str]) -> Any:
        return make_model(algorithm, labels, given, seed=seed, threads=threads)

    result = replaying.experiment(str(store), make, model)
    if json:
        print_json(result)
        return
    print_pairs([(name.replace("_", " "), _shown(value)) for name, value in result.items()])


def compact(
    store: StoreOption,
    keep: Annotated[
        str, typer.Option(help="Keep events of the last: 90d, 4w.", show_default=False)
    ],
    export_to: Annotated[
        Path | None,
        typer.Option(
            "--export",
            help="Write what goes to this file first (.parquet or .jsonl).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Delete old events and snapshots; recovery stays exact from the oldest snapshot kept. Stop the service first."""
    from boostline.cli.serve import seconds_of
    from boostline.serve.live.snapshots import Snapshots
    from boostline.serve.ops import compaction, exporting
    from boostline.serve.store.log import Log
    from boostline.serve.store.store_lock import StoreLock

    before = time.time() - seconds_of(keep)
    log = Log(store)
    log.close()
    only = StoreLock(store)
    try:
        if export_to is not None:
            log = Log(store)
            snapshots = Snapshots(store)
            snapshots.read(log)
            floor = compaction.floor_of(log, snapshots, before)
            log.close()
            n = exporting.export(str(store), export_to, 0, floor) if floor else 0
            note(f"{n:,} events are in {export_to}")
        told = compaction.compact(str(store), before)
    finally:
        only.close()
    if told["up_to"] == 0:
        note("there is nothing to delete: no snapshot of every model is older than that")
    else:
        note(f"events up to {told['up_to']} and {told['snapshots']} snapshots are deleted")


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
