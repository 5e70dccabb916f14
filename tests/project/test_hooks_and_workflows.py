"""Hooks run tools that the extra `dev` brings; CI runs scripts that exist; the Pythons are the same everywhere."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def extra(name: str) -> set[str]:
    """The packages of an extra and of those it includes."""
    found = set()
    for requirement in PYPROJECT["project"]["optional-dependencies"][name]:
        package = re.split(r"[\[<>=~! ]", requirement)[0]
        if package == "boostline":
            for other in re.findall(r"[\w-]+", requirement.partition("[")[2]):
                found |= extra(other)
        else:
            found.add(package)
    return found


def test_hooks_fetch_nothing_and_their_tools_are_in_the_extra() -> None:
    provided = {name.removesuffix("-py") for name in extra("dev")}
    for repo in read(".pre-commit-config.yaml")["repos"]:
        assert repo["repo"] == "local"
        for hook in repo["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].split()[0] in provided


def test_workflows_run_scripts_that_exist() -> None:
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(workflow.read_text())["jobs"].values():
            for step in job["steps"]:
                for script in re.findall(r"scripts/[\w.]+", step.get("run", "")):
                    assert (ROOT / script).exists(), script


def test_the_supported_pythons_are_the_same_everywhere() -> None:
    classified = re.findall(r"Python :: (3\.\d+)", "\n".join(PYPROJECT["project"]["classifiers"]))
    built = [f"3.{name[3:5]}" for name in PYPROJECT["tool"]["cibuildwheel"]["build"]]
    tested = read(".github/workflows/ci.yml")["jobs"]["gate"]["strategy"]["matrix"]["python"]
    assert classified == built == tested
    assert PYPROJECT["project"]["requires-python"] == f">={classified[0]}"
    page = (ROOT / "docs" / "install.md").read_text().replace("**", "")
    assert f"Python {', '.join(classified[:-1])} and {classified[-1]} (CPython)" in page
    assert f"for version in {' '.join(classified)}; do" in (ROOT / "scripts/wheels.sh").read_text()
