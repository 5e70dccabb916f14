"""``boostline lab theory``: the experiments on the paper's theorems, as a page, pictures and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to the shell's application."""
    app.command("theory")(theory)


def theory(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Folder for the page, the pictures and the JSON file."),
    ] = Path("theory"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Use smaller sizes, to be faster.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run only this experiment. Can be repeated."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Check the paper's theorems by experiments, and write theory.html.

    Fails (exit code 1) if a statement does not hold.
    """
    from boostline.display.progress import show_progress
    from boostline.display.tables import Table
    from boostline.display.terminal import note, print_json, print_table
    from boostline.lab.theory.experiments import ALL
    from boostline.lab.theory.report import run

    total = len(only or ALL)
    with show_progress(None, "theory", total, "experiments") as advance:
        made = run(
            output,
            quick=quick,
            progress=lambda name, done, _: advance.to(done, note=name),
            only=only or None,
        )
    checks = [(e.key, check) for e in made.experiments for check in e.checks]
    if json:
        print_json(
            {
                "page": str(made.page),
                "holds": made.holds,
                "finished": made.finished,
                "seconds": made.seconds,
                "checks": [{"experiment": key, **check._asdict()} for key, check in checks],
            }
        )
    else:
        for experiment in made.experiments:
            rows = [
                [check.statement, check.measured, "holds" if check.holds else "DOES NOT HOLD"]
                for check in experiment.checks
            ]
            print_table(Table(["statement", "measured", "result"], rows, experiment.title))
        note(f"written: {made.page}")
    if not made.finished:
        raise typer.Exit(130)
    if not made.holds:
        raise typer.Exit(1)
