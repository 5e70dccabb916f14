"""``boostline log``: back up, restore, verify, export, replay and compact the log of a service."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.display.tables import Table
from boostline.display.terminal import note, print_json, print_pairs, print_table
from boostline.models.settings import Algorithm, ModelOptions, make_model

__all__ = ["register"]

# Links are followed: the lock, the write-ahead log and the snapshots lie next to the store itself.
StoreOption = Annotated[
    Path, typer.Option(help="The log of a service.", show_default=False, resolve_path=True)
]


def register(app: typer.Typer) -> None:
    """Add the commands to the shell's application."""
    log = typer.Typer(
        no_args_is_help=True,
        help="Back up, restore, verify, export, replay or compact the log of a service.",
    )
    log.command("backup")(backup)
    log.command("restore")(restore)
    log.command("verify")(verify)
    log.command("export")(export)
    log.command("replay")(replay)
    log.command("compact")(compact)
    app.add_typer(log, name="log")


ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the store that is there, which is lost.")
]


def backup(
    store: StoreOption,
    to: Annotated[Path, typer.Option(help="Where the copy goes: a store, too.", resolve_path=True)],
    replace: ReplaceOption = False,
) -> None:
    """Copy the log and its snapshots, whole or not at all. The service may be running."""
    from boostline.serve.ops.copying import copy_store

    copied = copy_store(str(store), str(to), replace=replace)
    note(f"{copied.events:,} events and {copied.snapshots} snapshots are in {to}")


def restore(
    source: Annotated[
        Path, typer.Option("--from", help="What `log backup` wrote.", resolve_path=True)
    ],
    store: StoreOption,
    replace: ReplaceOption = False,
) -> None:
    """Put a backup in the place of the store, whole or not at all. Stop the service first."""
    from boostline.serve.ops.copying import copy_store

    copied = copy_store(str(source), str(store), replace=replace)
    note(f"{copied.events:,} events and {copied.snapshots} snapshots are in {store}")


def verify(store: StoreOption, threads: o.ThreadsOption = 1, json: o.JsonOption = False) -> None:
    """Replay every model from the oldest snapshot kept, and compare bytes with the newest.

    The service may be running. Exit code 0 if all are equal, 1 if not.
    """
    from boostline.serve.ops import verifying

    verdicts = list(verifying.verify(str(store), threads))
    if json:
        print_json([verdict._asdict() for verdict in verdicts])
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


@o.spread()
def replay(
    store: StoreOption,
    given: ModelOptions,
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", "-a", help="Algorithm.")
    ] = Algorithm.label_ranker,
    seed: o.SeedOption = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Where to save the model.", show_default=False),
    ] = None,
    threads: o.ThreadsOption = 1,
    json: o.JsonOption = False,
) -> None:
    """Learn the log with another model: an experiment on what was served. The service may be running."""
    from boostline.serve.ops import replaying

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
    from boostline.serve.ops import compaction
    from boostline.serve.store.log import connect
    from boostline.serve.store.store_lock import StoreLock

    before = time.time() - seconds_of(keep, "--keep")
    connect(store).close()  # it exists
    with StoreLock(store):
        result = compaction.compact(
            str(store), before, None if export_to is None else str(export_to)
        )
    if result["floor"] == 0:
        note("there is nothing to delete: no snapshot of every model is older than that")
        return
    if export_to is not None:
        note(f"{result['exported']:,} events are in {export_to}")
    note(f"events up to {result['floor']} and {result['snapshots']} snapshots are deleted")


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
