"""The README and the pages of the documentation, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


class Line(NamedTuple):
    """A line of a page, and what it is part of: ``prose``, ``table``, ``formula`` or the language of a fence."""

    page: str
    number: int
    text: str
    part: str


def lines(page: Path) -> Iterator[Line]:
    fence = ""
    is_formula = False
    for number, text in enumerate(page.read_text().splitlines(), 1):
        mark = re.match(r"\s*(`{3,})(\w*)[^`]*$", text)
        if mark and not fence:
            fence, language = mark[1], mark[2]
            continue
        if mark and mark[1] == fence and not mark[2]:
            fence = ""
            continue
        if fence:
            part = language
        elif text.strip() == "$$":
            is_formula = not is_formula
            continue
        elif is_formula:
            part = "formula"
        else:
            part = "table" if text.startswith("|") else "prose"
        yield Line(str(page.relative_to(ROOT)), number, text, part)
