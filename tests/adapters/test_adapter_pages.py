"""Every code block of the two pages runs, in order, as a reader would run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("river")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["scikit-learn.md", "river.md"])
def test_code_blocks_of_the_adapters_run(page):
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
    assert len(blocks) >= 4
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"{page}, block {number}", "exec"), namespace)
    if page == "river.md":
        assert namespace["f1"] > 0.5  # type: ignore[operator]
        assert namespace["model"].label_names == ["rain", "sun", "wind", "snow"]  # type: ignore[attr-defined]
    else:
        assert (namespace["tagger"].predict(["a new song by the band"]) == [[0, 0, 1]]).all()  # type: ignore[attr-defined]
