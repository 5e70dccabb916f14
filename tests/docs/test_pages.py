"""Every page of the documentation, and the README, does what it says.

Python blocks of a page run in order, in one namespace and in an empty folder. A block that follows with the language
``text`` is what they print (``...`` stands for anything), and so is a comment after ``print(...)`` that begins like
output. A block after a line ``<!-- skip: reason -->`` is not run. Of shell blocks, lines that call ``boostline`` have
to parse.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [p for p in (ROOT / "README.md",) if p.exists()]
PAGES += sorted(p for p in DOCS.rglob("*.md") if p.parent.name != "api")
SHELLS = ("bash", "console", "sh", "shell")
FENCE = re.compile(
    r"^(?:<!-- skip: (?P<skip>.*?) -->\n)?```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```\n?",
    re.M | re.S,
)


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    skip: str | None
    printed: str | None  # what it has to print, if the page says so


def blocks(page: Path) -> list[Block]:
    source = page.read_text()
    found = []
    for match in FENCE.finditer(source):
        follower = FENCE.match(source[match.end() :].lstrip("\n"))
        is_output = follower is not None and follower["language"] == "text"
        found.append(
            Block(
                match["language"],
                match["text"],
                source.count("\n", 0, match.start("text")) + 1,
                match["skip"],
                follower["text"] if is_output and follower is not None else None,
            )
        )
    return found


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_pages() -> list[Any]:
    having = [p for p in PAGES if any(b.language == "python" for b in blocks(p))]
    return [pytest.param(page, id=name(page)) for page in having]


def check_river(found: dict[str, Any]) -> None:
    assert found["f1"] > 0.5
    assert found["model"].label_names == ["rain", "sun", "wind", "snow"]


def check_scikit_learn(found: dict[str, Any]) -> None:
    assert (found["tagger"].predict(["a new song by the band"]) == [[0, 0, 1]]).all()


# Results that a page computes without printing them.
CHECKS: dict[str, Callable[[dict[str, Any]], None]] = {
    "docs/river.md": check_river,
    "docs/scikit-learn.md": check_scikit_learn,
}


@pytest.mark.gate
@pytest.mark.parametrize("page", python_pages())
def test_python_blocks_run(page, tmp_path, monkeypatch):
    skip_without_what_it_needs(page)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    whole = io.StringIO()
    promised: list[str] = []
    for block in blocks(page):
        if block.language != "python" or block.skip is not None:
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), np.printoptions():
            # the line numbers of a traceback are the page's
            tree = ast.parse(block.text, name(page))
            ast.increment_lineno(tree, block.line - 1)
            exec(compile(tree, name(page), "exec"), namespace)
        whole.write(printed.getvalue())
        promised += re.findall(r"^print\([^#\n]*# ([\[D'b].*)$", block.text, re.M)
        if block.printed is not None:
            assert_printed(block.printed, printed.getvalue(), f"{name(page)}:{block.line}")
    for text in promised:
        assert text.removesuffix(" ...") in whole.getvalue()
    CHECKS.get(name(page), lambda _: None)(namespace)


def assert_printed(wanted: str, got: str, where: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(wanted, got, flags), (
        f"{where} says it prints\n{wanted}\nbut it prints\n{got}"
    )


def skip_without_what_it_needs(page: Path) -> None:
    text = "".join(b.text for b in blocks(page) if b.language == "python" and b.skip is None)
    for module in ("sklearn", "river", "matplotlib", "pandas"):
        if re.search(rf"^\s*(from|import) (boostline\.)?{module}\b", text, re.M):
            pytest.importorskip(module)
    from boostline import data

    for wanted in re.findall(r'data\.load\("([a-z-]+)"\)', text):
        if data.available().get(wanted) is None:
            pytest.skip(f"{wanted} is not on this machine, and tests do not download")


def shell_commands(page: Path) -> Iterator[str]:
    """Calls of ``boostline`` in the shell blocks of a page, pipes and continued lines taken apart."""
    for block in blocks(page):
        if block.language not in SHELLS or block.skip is not None:
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            for part in re.split(r"\s[|&]+\s|[;<>]", line.removeprefix("$ ")):
                if re.match(r"\s*boostline\b", part):
                    yield part.strip()


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=name(p)) for p in PAGES if any(shell_commands(p))],
)
def test_shell_commands_parse(page):
    import typer

    from boostline.cli import app

    top = typer.main.get_command(app.make_app())
    for text in shell_commands(page):
        words = shlex.split(text, comments=True)[1:]
        command: Any = top
        context = top.make_context("boostline", [], resilient_parsing=True)
        try:
            while hasattr(command, "resolve_command") and words and not words[0].startswith("-"):
                called, command, words = command.resolve_command(context, words)
                context = type(context)(command, parent=context, info_name=called)
            command.make_parser(context).parse_args(list(words))
        except Exception as error:
            raise AssertionError(f"{name(page)}: {text}: {error}") from error


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text()
    missing = [p for p in DOCS.rglob("*.md") if f" {p.relative_to(DOCS)}\n" not in nav]
    assert missing == []


def test_fences_are_closed():
    """An open fence would hide the blocks after it from these tests."""
    for page in PAGES:
        assert len(re.findall(r"^```", page.read_text(), re.M)) == 2 * len(blocks(page)), page
