"""The first steps of a new user, each in an environment of its own: the wheel and what it asks for, nothing else."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# As on a machine that has never seen the project.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("BOOSTLINE", "PYTHON"))}

Install = Callable[[str], Path]


def run(*command: object, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        check=False,
        env=ENVIRONMENT | variables,
        capture_output=True,
        text=True,
    )


def pip(python: Path | str, *arguments: object, cwd: Path) -> None:
    done = run(python, "-m", "pip", "--disable-pip-version-check", *arguments, cwd=cwd)
    if "connection" in done.stderr.lower() or "no matching distribution" in done.stderr.lower():
        pytest.skip(f"no package index within reach: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of scripts/environment.sh, or `pip wheel .` anew; it needs a compiler, installing it does not."""
    if "BOOSTLINE_WHEEL" in os.environ:
        return Path(os.environ["BOOSTLINE_WHEEL"])
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--quiet", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (found,) = folder.glob("boostline-*.whl")
    return found


@pytest.fixture(scope="module")
def install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Makes a fresh environment with the wheel and some of its extras; returns the folder of its programs."""

    @functools.cache
    def make(extras: str) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        python = folder / "venv" / "bin" / "python"
        assert run(sys.executable, "-m", "venv", folder / "venv", cwd=folder).returncode == 0
        # What is imported is compiled then; all of pandas and SciPy would take longer than the tests.
        pip(python, "install", "--quiet", "--no-compile", f"{wheel}{extras}", cwd=folder)
        return python.parent

    return make


def check(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_ten_lines_of_the_readme(install: Install, tmp_path: Path) -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert block is not None
    bin_folder = install("[river]")  # its wheel has yeast
    out = check(run(bin_folder / "python", "-c", block[1], cwd=tmp_path))
    best, loss = out.splitlines()
    assert len(re.findall(r"\d+", best)) == 3
    assert 0.14 < float(loss) < 0.17
    assert (tmp_path / "genes.blm").exists()


def test_text_through_a_scikit_learn_pipeline(install: Install, tmp_path: Path) -> None:
    check(run(install("[sklearn]") / "python", HERE / "text_pipeline.py", cwd=tmp_path))


def test_dicts_through_a_river_pipeline(install: Install, tmp_path: Path) -> None:
    check(run(install("[river]") / "python", HERE / "river_pipeline.py", cwd=tmp_path))


def test_train_kill_resume_and_rank_in_the_shell(install: Install, tmp_path: Path) -> None:
    bin_folder = install("[data]")
    work = tmp_path / "work"
    work.mkdir()
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    check(run("bash", HERE / "shell_path.sh", cwd=work, PATH=path))
