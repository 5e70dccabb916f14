"""Every code block of docs/data.md runs, and what it says beside its prints is what they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from boostline.data.river_yeast import find_river_yeast

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_code_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_river_yeast() is None:
        pytest.skip("river 0.26 or later is not installed: no yeast without a network")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(blocks) >= 10
    namespace: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, block in enumerate(blocks, 1):
            exec(compile(block, f"data.md, block {number}", "exec"), namespace)
    promised = re.findall(r"print\([^#\n]*# ([\[D'b].*)$", "\n".join(blocks), re.M)
    assert len(promised) >= 4
    for text in promised:
        assert text.removesuffix(" ...") in printed.getvalue()
