"""What people and programs read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from boostline.display.tables import Table

# Without a terminal there is no width to keep to; tables are not to be cut.
_WIDTH_OF_FILES = 160
_WIDTH_OF_PROSE = 100
# Longer words may be cut in two.
_LONGEST_WORD = 20


def print_json(value: Any) -> None:
    """One JSON value on one line."""
    print(json.dumps(value, allow_nan=False), flush=True)


def print_table(table: Table, most: int | None = None) -> None:
    """A table, or its first rows: figures are never cut, text is folded if the terminal is narrow."""
    from rich.measure import Measurement

    out = console()
    unlimited = out.options.update(max_width=10_000)
    shown = _columns(table, most, gap=1)
    if Measurement.get(out, unlimited, shown).maximum > out.width:
        shown = _columns(table, most, gap=0)
    if table.title:
        print_text(table.title, style="bold")
    out.print(shown, width=max(out.width, Measurement.get(out, unlimited, shown).minimum))
    if table.note:
        print_text(f"{table.note}\n")


def _columns(table: Table, most: int | None, gap: int) -> Any:
    """Columns that lie two blanks apart, or one where there is little room (`gap` 0)."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    rows = table.rows[:most]
    if not gap:
        rows = [[cell.replace(" ± ", "±") for cell in row] for row in rows]
    shown = RichTable(box=box.SIMPLE_HEAD, padding=(0, gap, 0, 0))
    for i, (name, number) in enumerate(zip(table.columns, table.numeric, strict=True)):
        cells = [row[i] for row in rows]
        words = name.split() + (cells if number else " ".join(cells).split())
        least = min(max(map(len, words), default=0), _LONGEST_WORD)
        # Where there is little room, the names of columns of figures take several lines.
        width = least if number and not gap else None
        shown.add_column(
            Text(name),
            justify="right" if number else "left",
            overflow="fold",
            min_width=least,
            width=width,
        )
    for row in rows:
        shown.add_row(*map(Text, row))  # not markup: a label may be called "[red]"
    return shown


def print_text(text: str, style: str = "") -> None:
    """Prose, in lines of a length that can be read."""
    from rich.text import Text

    out = console()
    out.print(Text(text, style), width=min(out.width, _WIDTH_OF_PROSE))


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


def shows_colours() -> bool:
    """Whether standard output is a terminal with colours."""
    return bool(console().color_system)


def note(text: str) -> None:
    """Print a note to standard error."""
    print(text, file=sys.stderr, flush=True)


def console() -> Any:
    """The console of standard output."""
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = None if has_width else _WIDTH_OF_FILES
    return Console(width=width, highlight=False, soft_wrap=False)
