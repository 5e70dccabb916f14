"""The command as a real process, and files to work on."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import command, rows, write_csv

import boostline as bl
from boostline.cli import main


@pytest.fixture(autouse=True)
def same_boostline(monkeypatch):
    """The command runs in folders of its own: a relative PYTHONPATH would not lead to the boostline under test."""
    folder = str(Path(bl.__file__).parents[1])
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([folder, *others]))


@pytest.fixture
def boostline(tmp_path):
    """Run ``boostline`` in an empty folder: gives exit code, output, messages and (with --json) the parsed output."""

    class Result:
        def __init__(self, done):
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

        @property
        def json(self):
            return json.loads(self.out)

        @property
        def lines(self):
            return [json.loads(line) for line in self.out.splitlines()]

    def run(*arguments, input=None, **environment):
        done = subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            input=input,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done)

    return run


@pytest.fixture
def csv_file(tmp_path):
    write_csv(tmp_path / "data.csv", *rows(1000))
    return tmp_path / "data.csv"


@pytest.fixture
def model_file(csv_file, boostline, tmp_path):
    done = boostline(
        *("train", "data.csv", "--labels", "tag_*", "--drop", "id"),
        *("-a", "ada_olmr", "--learners", "paper:8", "--model", "m.blm"),
    )
    assert done.code == 0, done.err
    return tmp_path / "m.blm"


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    """Run ``boostline`` in this process, which is quicker: gives exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")

    class Result:
        def __init__(self, code):
            self.code = code
            self.out, self.err = capsys.readouterr()

        @property
        def json(self):
            return json.loads(self.out)

        @property
        def lines(self):
            return [json.loads(line) for line in self.out.splitlines()]

    def run(*arguments, input=b""):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(input)))
        monkeypatch.setattr(sys, "stdin", stdin)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        return Result(ended.value.code)

    return run
