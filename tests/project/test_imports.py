"""The imports of the package are those of the table in docs/architecture.md, and go one way."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "boostline"
#: `boostline/__init__.py` names what users import, `__main__.py` starts the shell: neither is a part.
NO_PARTS = {"__init__", "__main__"}


def table() -> list[tuple[set[str], set[str]]]:
    """The rows of the table: the parts of a row, and what they use."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| (`.*?) \| .* \| (.*?) \|$", page, re.M)
    found = []
    for parts, uses in rows:
        used = {one.strip("` ") for one in uses.split(",")} - {"nothing"}
        found.append((set(re.findall(r"`([^`]+)`", parts)), used))
    return found


def modules() -> Iterator[tuple[str, Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        part = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part not in NO_PARTS:
            yield part, path, ast.parse(path.read_text())


def imports() -> dict[str, dict[str, set[str]]]:
    """For each part what it imports, and where."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for part, path, tree in modules():
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module == "boostline":
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module.removeprefix("boostline.")] * node.module.startswith(
                    "boostline."
                )
            elif isinstance(node, ast.Import):
                names = [
                    one.name.removeprefix("boostline.")
                    for one in node.names
                    if one.name.startswith("boostline.")
                ]
            for name in names:
                other = name.partition(".")[0].replace("_core", "core")
                if other not in (part, "__version__"):
                    found[part][other].add(str(path.relative_to(ROOT)))
    return found


def test_every_part_is_in_the_table() -> None:
    listed = {part for parts, _ in table() for part in parts}
    assert {part for part, _, _ in modules()} == listed - {"src/bindings", "src/core"}


def test_the_picture_shows_every_part() -> None:
    picture = (ROOT / "docs" / "architecture.svg").read_text()
    words = set(
        re.findall(r"[\w/]+", " ".join(re.findall(r'class="name"[^>]*>(.*?)</text>', picture)))
    )
    listed = {part for parts, _ in table() for part in parts}
    # Named in the text of a box, not in its heading.
    assert listed - words == {"adapters", "array_types"}


def test_imports_are_those_of_the_table() -> None:
    found = imports()
    for parts, uses in table():
        if any(part.startswith("src/") for part in parts):
            continue
        used: dict[str, set[str]] = defaultdict(set)
        for part in parts:
            for other, paths in found[part].items():
                used[other] |= paths
        own = set(used) - parts - {"array_types"}
        wrong = {other: sorted(used[other]) for other in own - uses}
        assert not wrong, f"{parts} import what the table does not say: {wrong}"
        assert uses <= own, f"the table says that {parts} use {uses - own}, but they do not"


def test_parts_use_only_parts_below_them() -> None:
    rows = table()
    for place, (parts, uses) in enumerate(rows):
        below = {part for later, _ in rows[place + 1 :] for part in later} | {"core"}
        assert uses <= below, f"{parts} use {uses - below}, which are not below"


def test_only_the_shell_uses_the_service_and_the_lab() -> None:
    for part, used in imports().items():
        assert "cli" not in used, used["cli"]
        if part != "cli":
            assert not {"serve", "lab"} & set(used), (part, used)


def test_the_core_knows_nothing_above_it() -> None:
    for path in (ROOT / "src" / "core").rglob("*.[ch]pp"):
        included = re.findall(r'#include ["<](Python.h|nanobind|bindings/)', path.read_text())
        assert not included, (path, included)
