"""What people and programs read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

# Without a terminal there is no width to keep to; tables are not to be cut.
_WIDTH_OF_FILES = 160


def print_json(value: Any) -> None:
    """One JSON value on one line."""
    print(json.dumps(value, allow_nan=False), flush=True)


def print_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str | None = None,
    left: int = 1,
) -> None:
    """A table: the first `left` columns to the left, the others, numbers, to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=_box())
    for i, column in enumerate(head):
        table.add_column(column, justify="left" if i < left else "right", overflow="fold")
    for row in rows:
        # Text, not markup: a label may be called "[red]".
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def print_pairs(pairs: Iterable[tuple[str, str]], title: str | None = None) -> None:
    """Names and values, one pair a line."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(name), Text(value))
    console().print(table)


def note(text: str) -> None:
    """Say something beside the result."""
    print(text, file=sys.stderr, flush=True)


def console() -> Any:
    """The console of standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH_OF_FILES
    return Console(width=width, highlight=False, soft_wrap=False)


def _box() -> Any:
    from rich import box

    return box.SIMPLE_HEAD
