"""The command as a real process, and files to work on."""

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from cli_files import rows, write_csv

import boostline as bl
from boostline.cli import main


@pytest.fixture(autouse=True)
def same_boostline(monkeypatch):
    """The command runs in folders of its own: a relative PYTHONPATH would not lead to the boostline under test."""
    folder = str(Path(bl.__file__).parents[1])
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([folder, *others]))


class Result:
    """Exit code, output, messages and, with --json, what was printed."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def boostline(tmp_path, monkeypatch, capsys):
    """Run ``boostline`` in an empty folder; in this process, since a new one takes a second to start."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, input=b"", **environment):
        content = input.encode() if isinstance(input, str) else input
        capsys.readouterr()
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            for name, value in {"NO_COLOR": "1", "COLUMNS": "200", **environment}.items():
                patch.setenv(name, value)
            stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
            patch.setattr(sys, "stdin", stdin)
            main([str(argument) for argument in arguments])
        return Result(ended.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A folder with a file of rows and the model that was trained on it; tests work on copies."""
    folder = tmp_path_factory.mktemp("trained")
    write_csv(folder / "data.csv", *rows(1000))
    data = ("data.csv", "--labels", "tag_*", "--drop", "id")
    options = ("-a", "ada_olmr", "--learners", "paper:8", "--model", "m.blm")
    with contextlib.chdir(folder), pytest.raises(SystemExit) as ended:
        main(["train", *data, *options])
    assert not ended.value.code
    return folder


@pytest.fixture
def csv_file(trained, tmp_path):
    return Path(shutil.copy2(trained / "data.csv", tmp_path))


@pytest.fixture
def model_file(trained, csv_file, boostline, tmp_path):
    return Path(shutil.copy2(trained / "m.blm", tmp_path))
