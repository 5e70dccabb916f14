"""What the library says to standard logging, as programs and as the shell see it."""

import json
import logging

import pytest

import boostline as bl
from boostline.cli.app import run


@pytest.fixture(autouse=True)
def loggers_as_before():
    kept = {n: vars(logging.getLogger(n)).copy() for n in ("boostline", "uvicorn")}
    yield
    for name, before in kept.items():
        vars(logging.getLogger(name)).update(before)


def test_saving_and_loading_are_told_with_their_figures(tmp_path, caplog):
    model = bl.LabelRanker(3, seed=0)
    model.learn([1.0, 2.0], {0})
    with caplog.at_level(logging.INFO, logger="boostline"):
        model.save(tmp_path / "m.blm")
        bl.load(tmp_path / "m.blm")
    saved, loaded = caplog.records
    assert saved.name == loaded.name == "boostline.saving"
    size = (tmp_path / "m.blm").stat().st_size
    assert saved.fields == {"path": str(tmp_path / "m.blm"), "bytes": size, "rows": 1}
    assert loaded.fields["rows"] == 1


def test_the_shell_writes_them_as_json_lines(tmp_path, capsys):
    path = tmp_path / "d.csv"
    path.write_text("x,tag_a,tag_b\n" + "1,0,1\n2,1,0\n" * 20)
    model = str(tmp_path / "m.blm")
    with pytest.raises(SystemExit, match="0"):
        run(["--log", "json", "train", str(path), "--labels", "tag_*", "--model", model])
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if line[:1] == "{"]
    (saved,) = [line for line in lines if line["message"].startswith("saved")]
    assert (
        saved["logger"] == "boostline.saving" and saved["rows"] == 40 and saved["level"] == "info"
    )
