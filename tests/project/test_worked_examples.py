"""The worked examples of docs/extending.md, each written into a copy of the project, built and run."""

from __future__ import annotations

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
PAGE = (ROOT / "docs" / "extending.md").read_text()
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", PAGE, flags=re.M)[1:]}
#: How many files under src an example may touch; a learner is 2, and one more for it to join the default. An endpoint
#: and a command are 1, and the list in which they are registered.
LIMITS = {
    **{"A learner": 3, "A booster": 4, "A loss": 1, "A metric": 1},
    **{"An engine": 1, "An endpoint": 2, "A shell command": 2},
}
BLOCK = re.compile(
    r"^(?:In|[^\n]*, in) `(src/[\w/.]+)`[^\n]*\n\n(?:<!--[^\n]*-->\n)?```(\w+)\n(.*?)^```",
    re.M | re.S,
)


def patched(text: str, diff: str) -> str:
    """Insert what the diff adds behind the line shown before it, before the next line, or at the end."""
    lines = diff.splitlines()
    for i, line in enumerate(lines):
        if not line.startswith("+") or (i and lines[i - 1].startswith("+")):
            continue
        added = []
        for later in lines[i:]:
            if not later.startswith("+"):
                break
            added.append(later[1:])
        block = "\n".join(added)
        if i and lines[i - 1] == "@@ end @@":
            text = text.rstrip("\n") + "\n" + block + "\n"
            continue
        before_it = i > 0 and lines[i - 1] == "@@ before @@"
        anchor = lines[i - 2 if before_it else i - 1][1:]
        assert text.count(f"\n{anchor}\n") == 1, anchor
        new = f"{block}\n{anchor}" if before_it else f"{anchor}\n{block}"
        text = text.replace(f"\n{anchor}\n", f"\n{new}\n")
    return text


def test_a_learner_that_does_not_join_the_default_is_two_files() -> None:
    itself, _, _ = SECTIONS["A learner"].partition("To join the default")
    assert len({path for path, _, _ in BLOCK.findall(itself)}) == 2


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow if n in ("A learner", "A booster") else ())
        for n in LIMITS
    ],
)
def test_an_example_does_what_the_page_says(name: str, tmp_path: Path) -> None:
    section = SECTIONS[name]
    for part in ("src", "CMakeLists.txt"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    shutil.copy(_core.__file__, tmp_path / "src" / "boostline")
    blocks = BLOCK.findall(section)
    assert len({path for path, _, _ in blocks}) <= LIMITS[name]
    for path, language, content in blocks:
        file = tmp_path / path
        file.write_text(patched(file.read_text(), content) if language == "diff" else content)
    if any(path.endswith((".cpp", ".hpp")) for path, _, _ in blocks):
        build(tmp_path)
    use = re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)[-1]
    (printed,) = re.findall(r"^```text\n(.*?)^```", section, re.M | re.S)
    done = subprocess.run(
        [sys.executable, "-c", use],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def build(root: Path) -> None:
    """As in docs/contributing.md."""
    nanobind = pytest.importorskip("nanobind")
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("cmake is not installed")
    options = [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release"]
    options.append(f"-Dnanobind_ROOT={nanobind.cmake_dir()}")
    for arguments in (["-S", ".", "-B", "build", *options], ["--build", "build", "-j", "2"]):
        done = subprocess.run(
            [cmake, *arguments], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for library in (root / "build").glob("_core*.so"):
        shutil.copy(library, root / "src" / "boostline")
