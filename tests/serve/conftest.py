"""Servers for tests; without the extra `serve` there is none."""

import os
from pathlib import Path

import pytest
from serving import LABELS, serving

import boostline as bl

needed = ("uvicorn", "h11", "prometheus_client")
for module in needed:
    pytest.importorskip(module, reason="needs the extra serve: pip install 'boostline[serve]'")


@pytest.fixture(scope="session", autouse=True)
def same_boostline():
    """Servers run in processes of their own: a relative PYTHONPATH would not lead to the boostline under test."""
    folder = str(Path(bl.__file__).parents[1])
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([folder, *others]))
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One server for the tests of a module, which use ids of their own."""
    store = tmp_path_factory.mktemp("store") / "s.db"
    with serving(store, "--labels", ",".join(LABELS)) as one:
        yield one
