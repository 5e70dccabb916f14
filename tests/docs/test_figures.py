"""The README and the landing page have the figures of docs/benchmarks.md, where they are explained."""

from __future__ import annotations

import pytest
from doc_lines import DOCS, ROOT, lines


def figures(page):
    """Return the cells after the first of every row that has losses on the seven data sets."""
    rows = [line.text.split("|")[2:-1] for line in lines(page) if line.part == "table"]
    return {tuple(cells) for cells in rows if len(cells) == 7 and "." in cells[0]}


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md"], ids=lambda p: p.name)
def test_figures_are_those_of_the_benchmarks(page):
    assert len(figures(page)) == 5
    assert figures(page) <= figures(DOCS / "benchmarks.md")


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.svg")), ids=lambda p: p.name)
def test_pictures_can_be_seen_on_dark_pages(path):
    # A transparent picture with black text is lost there; so is one that shines white.
    assert "prefers-color-scheme: dark" in path.read_text()
