"""The worked example in docs/extending.md: a format is two files under src/boostline."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from boostline import _core

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "boostline"
PAGE = (ROOT / "docs" / "extending.md").read_text().split("## A format")[1].split("\n## ")[0]
MODULE, USE = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
(ENTRY,) = re.findall(r"^```diff\n(.*?)^```", PAGE, re.M | re.S)
(PRINTED,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
TOUCHED = re.findall(r"`src/boostline/(data/formats/\w+\.py)`", PAGE)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with what the page says written into it."""
    copy = tmp_path_factory.mktemp("src") / "boostline"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(_core.__file__, copy)  # of an installed package it lies elsewhere
    module, registry = TOUCHED
    (copy / module).write_text(MODULE)
    (copy / registry).write_text(patched((copy / registry).read_text()))
    return copy


def patched(text: str) -> str:
    """Insert each line that the diff adds behind the line that it shows before it."""
    before = ""
    for line in ENTRY.splitlines():
        if line.startswith("+"):
            assert text.count(f"\n{before}\n") == 1, before
            text = text.replace(f"\n{before}\n", f"\n{before}\n{line[1:]}\n")
        before = line[1:]
    return text


def run(package: Path, folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_files_are_touched(package: Path) -> None:
    touched = [
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if not (PACKAGE / path.relative_to(package)).exists()
        or not filecmp.cmp(path, PACKAGE / path.relative_to(package), shallow=False)
    ]
    assert sorted(touched) == sorted(TOUCHED) and len(touched) == 2


def test_load_and_stream_take_it(package: Path, tmp_path: Path) -> None:
    assert run(package, tmp_path, "-c", USE) == PRINTED


def test_the_shell_takes_it(package: Path, tmp_path: Path) -> None:
    (tmp_path / "train.fasttext").write_text("__label__a x y\n__label__b y z\n" * 20)
    (tmp_path / "new.fasttext").write_text("x y\nz\n")
    boostline = ("-m", "boostline")
    described = run(package, tmp_path, *boostline, "data", "describe", "train.fasttext")
    assert re.search(r"labels k +2\n", described)
    run(package, tmp_path, *boostline, "train", "train.fasttext", "-m", "m.blm")
    ranked = run(package, tmp_path, *boostline, "rank", "m.blm", "new.fasttext", "--top", "1")
    assert len(ranked.splitlines()) >= 2
