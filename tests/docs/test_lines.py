"""Lines that people read: in an editor, in a diff, in a browser 1280 pixels wide."""

from __future__ import annotations

from doc_lines import PAGES, lines

PROSE = 120
# What fits beside the two side bars (docs/assets/site.css). Output, in blocks of `text`, is wrapped.
CODE = 100


def test_prose_fits():
    long = [
        f"{line.page}:{line.number}: {len(line.text)}"
        for page in PAGES
        for line in lines(page)
        if line.part == "prose" and len(line.text) > PROSE
    ]
    assert long == []


def test_code_fits():
    long = [
        f"{line.page}:{line.number}: {len(line.text)}"
        for page in PAGES
        for line in lines(page)
        if line.part not in ("prose", "table", "formula", "text") and len(line.text) > CODE
    ]
    assert long == []
