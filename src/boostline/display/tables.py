"""A table for pages, Markdown, terminals and plain text: text to the left, numbers to the right."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

NONE = "–"  # noqa: RUF001 - the dash that stands for "none" in tables
_NUMBER = r"[-+]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)?"
_FIGURE = re.compile(rf"{_NUMBER}( ?± ?{_NUMBER})?( ?(%|s|ms|µs|kB|MB|GB))?")


@dataclass(frozen=True)
class Table:
    """Columns of text and of figures.

    Attributes
    ----------
    columns, rows
        Names of the columns, with units, and the cells.
    title, note : str
        What it shows, and what there is to know of it.
    key : str
        Its name among those of a page.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""
    key: str = ""

    @property
    def numeric(self) -> list[bool]:
        """Whether each column has figures, and figures only.

        Examples
        --------
        >>> Table(["label", "loss"], [["a", ".10 ± .02"], ["12", "–"]]).numeric
        [False, True]
        """
        return [
            all(_FIGURE.fullmatch(cell) for cell in cells if cell not in ("", "-", NONE))
            for cells in zip(*self.rows, strict=True)
        ] or [False] * len(self.columns)

    def without(self, column: str) -> Table:
        """The table without a column, and without the sentence of the note that explains it: "Column: ...".

        Examples
        --------
        >>> Table(["a", "b"], [["1", "2"]], note="A: one. B: two.").without("b").note
        'A: one.'
        """
        kept = [i for i, name in enumerate(self.columns) if name != column]
        cells = [[row[i] for i in kept] for row in (self.columns, *self.rows)]
        sentences = self.note.split(". ")
        kept_sentences = [s for s in sentences if not s.lower().startswith(f"{column.lower()}:")]
        note = ". ".join(kept_sentences)
        if kept_sentences and not note.endswith("."):
            note += "."
        return replace(self, columns=cells[0], rows=cells[1:], note=note)

    def html(self, most: int | None = None) -> str:
        """The table, or its first rows, as a part of a page."""
        kinds = [' class="number"' if number else "" for number in self.numeric]
        head = "".join(
            f'<th scope="col"{kind}>{escape(cell)}</th>'
            for kind, cell in zip(kinds, self.columns, strict=True)
        )
        body = "\n".join(
            "<tr>"
            + "".join(
                f'<th scope="row"{kind}>{escape(cell)}</th>'
                if place == 0
                else f"<td{kind}>{escape(cell)}</td>"
                for place, (kind, cell) in enumerate(zip(kinds, row, strict=True))
            )
            + "</tr>"
            for row in self.rows[:most]
        )
        left_out = len(self.rows) - len(self.rows[:most])
        notes = [self.note] if self.note else []
        notes += [f"{left_out:,} more rows are left out."] if left_out else []
        return (
            '<div class="scroll"><table'
            + (f' id="{escape(self.key)}">' if self.key else ">")
            + (f"<caption>{escape(self.title)}</caption>" if self.title else "")
            + (f"<thead><tr>{head}</tr></thead>\n" if any(self.columns) else "")
            + f"<tbody>{body}</tbody></table></div>"
            + "".join(f'\n<p class="note">{escape(note)}</p>' for note in notes)
        )

    def markdown(self) -> str:
        """The table with its title and its note."""
        head, *body = (
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
            for row in (self.columns, *self.rows)
        )
        rule = "|" + "".join("---:|" if number else "---|" for number in self.numeric)
        title = f"**{self.title}.** " if self.title else ""
        above = [f"{title}{self.note}", ""] if title or self.note else []
        return "\n".join([*above, head, rule, *body, ""])

    def latex(self) -> str:
        r"""The table in LaTeX, with the lines of the package booktabs.

        Examples
        --------
        >>> print(Table(["model", "loss"], [["a_b", ".10 ± .02"]]).latex())
        \begin{tabular}{lr}
        \toprule
        model & loss \\
        \midrule
        a\_b & .10 $\pm$ .02 \\
        \bottomrule
        \end{tabular}
        """
        kinds = "".join("r" if number else "l" for number in self.numeric)
        head, *body = (
            " & ".join(_for_latex(cell) for cell in row) + r" \\"
            for row in (self.columns, *self.rows)
        )
        begin = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", head, r"\midrule"]
        return "\n".join([*begin, *body, r"\bottomrule", r"\end{tabular}"])

    def text(self) -> str:
        """Aligned columns, as wide as they are.

        Examples
        --------
        >>> print(Table(["model", "loss"], [["a", "0.10"], ["long name", "12.00"]]).text())
        model       loss
        ---------  -----
        a           0.10
        long name  12.00
        """
        cells = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if number else cell.ljust(width)
                for cell, width, number in zip(row, widths, self.numeric, strict=True)
            ).rstrip()
            for row in cells
        ]
        return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def to_csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write CSV; None is an empty field."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def share(value: float, digits: int = 1) -> str:
    """A share as a percentage.

    Examples
    --------
    >>> share(0.8412), share(float("nan"))
    ('84.1 %', '–')
    """
    return NONE if math.isnan(value) else f"{100 * value:.{digits}f} %"


def size(n_bytes: float) -> str:
    """A number of bytes.

    Examples
    --------
    >>> size(2_206_210), size(1_234)
    ('2.2 MB', '1.2 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.1f} {unit}"
    return f"{n_bytes / 1e3:.1f} kB"


def _for_latex(cell: str) -> str:
    for plain, written in {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "±": r"$\pm$",
        NONE: "--",
        "µ": r"$\mu$",
    }.items():
        cell = cell.replace(plain, written)
    return cell
