"""The command ``boostline``: train, rank, evaluate, inspect, data, reproduce, theory.

One module per command. A module imports what is heavy inside its functions, so that ``boostline --help`` is quick.
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C, 143 by kill (SIGTERM).
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with ``arguments`` (default: those of the shell); ends in SystemExit."""
    from boostline.cli.app import run

    run(arguments)
