"""Files of the project that pages, comments and docstrings name are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_lines import PAGES, ROOT

FOLDERS = ("src", "tests", "docs", "benchmarks", "scripts", "deploy")
SOURCES = [
    p
    for folder in FOLDERS
    for p in (ROOT / folder).rglob("*")
    if p.suffix in (".py", ".hpp", ".cpp", ".sh") and p != Path(__file__)
]
#: Not the changelog, which tells of files that are gone.
SETTINGS = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CMakeLists.txt", "mkdocs.yml")),
    *(ROOT / name for name in ("pyproject.toml", ".pre-commit-config.yaml")),
    *(p for p in (ROOT / ".github").rglob("*") if p.is_file()),
]
EXISTING = {
    p.relative_to(ROOT).as_posix() for folder in FOLDERS for p in (ROOT / folder).rglob("*")
}
EXISTING |= {p.name for p in ROOT.iterdir()}
# A path from the root, or the name of a file of code, which may stand anywhere.
PATH = re.compile(rf"(?<![\w./<-])(?:{'|'.join(FOLDERS)})/[\w./*-]*\w/?")
FILE = re.compile(
    r"(?<![\w./<>{}*-])(?:[\w-]+/)*[\w-]+\.(?:cpp|hpp|pyi?|sh|md|toml|yml)\b(?!\w|\()"
)
# Written by examples, and by a test.
EXAMPLES = {
    "2e/log.py",
    "prequential.md",
    "core/models/paper/majority.hpp",
    "src/boostline/boosters/majority.py",
    "src/boostline/data/formats/fasttext.py",
    "src/core/models/paper/majority.hpp",
    "src/core/learners/followers.cpp",
    "tomorrow.py",
    "troubled.py",
}


def named(text: str) -> Iterator[str]:
    for pattern in (PATH, FILE):
        for match in pattern.finditer(text):
            yield match[0].rstrip("./")


def exists(name: str) -> bool:
    if "*" in name:
        return any(Path(path).match(name) for path in EXISTING)
    return any(path == name or path.endswith("/" + name) for path in EXISTING)


@pytest.mark.parametrize(
    "page", [*PAGES, *SOURCES, *SETTINGS], ids=lambda p: str(p.relative_to(ROOT))
)
def test_named_files_exist(page):
    missing = {name for name in named(page.read_text()) if not exists(name)}
    assert missing - EXAMPLES == set()
