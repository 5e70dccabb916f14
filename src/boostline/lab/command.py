"""The commands ``boostline lab reproduce`` and ``boostline lab theory``."""

from __future__ import annotations

import typer

from boostline.lab.reproduce import command as reproduce
from boostline.lab.theory import command as theory


def register(app: typer.Typer) -> None:
    """Add the group ``lab`` to the shell's application."""
    lab = typer.Typer(no_args_is_help=True, help="Study the algorithms.")
    reproduce.register(lab)
    theory.register(lab)
    app.add_typer(lab, name="lab")
