"""``python -m boostline.reproduce``: the command without the rest of the command line."""

from __future__ import annotations

import typer

from boostline.reproduce.command import register


def main() -> None:
    """Run the command."""
    app = typer.Typer(add_completion=False)
    register(app)
    app()


if __name__ == "__main__":
    main()
