"""The version stands in `boostline/__init__.py`; everything else reads it there or is held to it here."""

import re
import tomllib
from pathlib import Path

import pytest

import boostline as bl

ROOT = Path(__file__).parents[2]


def test_pyproject_reads_it_from_the_package() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in pyproject["project"]
    assert pyproject["project"]["dynamic"] == ["version"]


@pytest.mark.process
def test_the_built_package_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = pytest.importorskip("scikit_build_core.build")
    monkeypatch.chdir(ROOT)
    info = backend.prepare_metadata_for_build_wheel(str(tmp_path))
    assert f"\nVersion: {bl.__version__}\n" in (tmp_path / info / "METADATA").read_text()


def test_citation_and_changelog_agree() -> None:
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert citation is not None and newest is not None
    assert citation[1] == newest[1] == bl.__version__
