"""What the command says when something is wrong: what it is and what to do, in options and not in Python."""

import os
import re
import subprocess
import sys

import pytest
from cli_files import rows, write_csv

PYTHON = re.compile(r"\bpass \w+=|\w+=\[|\w+=\{|\bNone\b|Traceback|\w+Error\b")
TRAIN = ("--model", "m.blm", "--learners", "paper:2")


@pytest.fixture
def refused(boostline):
    """Run it; the message of an error that speaks no Python."""

    def run(*arguments, input=b"", code=1):
        done = boostline(*arguments, input=input)
        assert done.code == code, done.err
        assert done.err.startswith("error: ") and done.err.count("\n") == 1, done.err
        assert not PYTHON.search(done.err), done.err
        return done.err

    return run


@pytest.mark.parametrize("from_a_pipe", [False, True])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty, or has no header line"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a binary file, but must be text"),
        ("x,tag_a,tag_b\n1,0,1\n".encode("utf-16"), "is UTF-16 text, but must be UTF-8"),
        (b"x;tag_a;tag_b\n1;0;1\n", "seem to be separated by ';'; give --delimiter ';'"),
        (b"x\ttag_a\ttag_b\n1\t0\t1\n", "give --delimiter tab"),
        (b"x,tag_\xe9,b\n1,0,1\n", "is not utf-8; give --encoding latin-1"),
        (b"x,a,b\n1,0,1\n", "matches --labels 'tag_*'; it has x, a, b"),
        (
            b"x,id,tag_a,tag_b\n1,k,0,1\n",
            "give --categories id=value,value,... with its values, or --drop id",
        ),
        (b"x,tag_a,tag_b\n", "has no rows"),
        (b"PAR1", "is a Parquet file, not text: give --format parquet"),
    ],
)
def test_csv_that_is_not_what_it_seems(content, message, from_a_pipe, refused, tmp_path):
    (tmp_path / "d.csv").write_bytes(content)
    source = "-" if from_a_pipe else "d.csv"
    said = refused("train", source, "-l", "tag_*", *TRAIN, input=content if from_a_pipe else b"")
    assert message in said
    assert ("standard input" if from_a_pipe else "d.csv") in said


def test_what_the_advice_says_helps(boostline, tmp_path):
    for separator, said in ((";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")):
        text = "x,tag_\xe9,tag_b\n1,0,1\n2,1,0\n".replace(",", separator)
        (tmp_path / "d.csv").write_bytes(text.encode("latin-1"))
        options = ("-l", "tag_*", "--delimiter", said, "--encoding", "latin-1", "--overwrite")
        done = boostline("train", "d.csv", *options, *TRAIN, "--json")
        assert (done.code, done.json["labels"]) == (0, 2), done.err
        # --append and --resume know what was said
        assert boostline("train", "d.csv", "--model", "m.blm", "--append").code == 0


def test_an_encoding_that_does_not_exist(refused, tmp_path):
    (tmp_path / "d.csv").write_text("x,a\n1,0\n")
    said = refused("train", "d.csv", "-l", "a", "--encoding", "klingon", *TRAIN)
    assert "--encoding is 'klingon', but must be one such as" in said


def test_files_of_other_formats(refused, tmp_path):
    (tmp_path / "d").write_text("x,a\n1,0\n")
    said = refused("train", "d", "-l", "a", *TRAIN)
    assert "is not known from its extension; give --format one of arff, svmlight, csv" in said
    (tmp_path / "d.arff").write_text("@relation r\n@attribute x numeric\n@data\n1\n")
    assert "give --labels a list of names" in refused("train", "d.arff", *TRAIN)
    (tmp_path / "d.jsonl").write_text('{"features": {"a": 1}, "labels": []}\n')
    assert "no row has a label: give --labels" in refused("train", "d.jsonl", *TRAIN)
    (tmp_path / "e.jsonl").write_text("")
    assert refused("train", "e.jsonl", *TRAIN) == "error: e.jsonl: has no rows\n"
    said = refused("train", "-", "--format", "jsonl", "-l", "a", *TRAIN, input=b"{}")
    assert "give the name of a file instead of a stream" in said
    (tmp_path / "d.svm").write_text("0 1:1\n")
    said = refused("train", "d.svm", "--drop", "x", *TRAIN)
    assert "--drop is not an option of the format svmlight\n" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "yest"),
        ("train", "yest", *TRAIN),
        ("rank", "m.blm", "yest"),
        ("inspect", "m.blm", "--data", "yest"),
        ("data", "describe", "yest"),
        ("data", "fetch", "yest"),
        ("reproduce", "--data", "yest"),
    ],
)
def test_a_misspelt_set_is_answered_with_the_near_one(arguments, boostline, refused, tmp_path):
    if "m.blm" in arguments and arguments[0] != "train":
        write_csv(tmp_path / "d.csv", *rows(5))
        assert boostline("train", "d.csv", "-l", "tag_*", "--drop", "id", *TRAIN).code == 0
    assert "is 'yeast' meant?" in refused(*arguments)


def test_a_misspelt_label_is_answered_with_the_near_one(refused, tmp_path):
    write_csv(tmp_path / "d.csv", *rows(5))
    said = refused("train", "d.csv", "-l", "tag_sprot", *TRAIN)
    assert "has no column 'tag_sprot', which is named as a label; is 'tag_sport' meant?" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-l", "tag_sport"), "d.csv has 1 label, 'tag_sport', but ranking needs at least 2"),
        (("-l", "labels.xml"), "has no column 'labels.xml', which is named as a label"),
        (
            ("-l", "tag_*", "--drop", "idd"),
            "has no column 'idd', which --drop names; is 'id' meant",
        ),
        (
            ("-l", "tag_*", "--drop", "id", "-a", "online_bmr", "--loss", "foo"),
            "loss is 'foo', but must be one of rank, hinge, logistic, exponential\n",
        ),
    ],
)
def test_options_that_cannot_be(options, message, refused, tmp_path):
    write_csv(tmp_path / "d.csv", *rows(5))
    assert message in refused("train", "d.csv", *options, *TRAIN)


def test_options_without_meaning_for_a_named_set(refused, data_folder):
    said = refused("evaluate", "yeast", "--train-rows", "5")
    assert said == "error: --train-rows cannot be used with the named data set 'yeast'\n"


def test_an_attribute_that_is_misspelt(refused, tmp_path):
    (tmp_path / "d.arff").write_text("@relation r\n@attribute cold {0,1}\n@data\n1\n")
    assert "is 'cold' meant?" in refused("train", "d.arff", "-l", "clod", *TRAIN)


def test_a_model_too_large_for_the_machine_says_what_it_needs(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("boostline.models.native.machine_bytes", lambda: 2**10)
    write_csv(tmp_path / "d.csv", *rows(5))
    said = refused("train", "d.csv", "-l", "tag_*", "--drop", "id", *TRAIN)
    assert "not enough memory: x has" in said and "use fewer features" in said


@pytest.mark.process
def test_closed_standard_input_and_narrow_locales_are_no_internal_errors(tmp_path):
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    write_csv(tmp_path / "d.csv", *rows(20))

    def run(line):
        shell = ["bash", "-c", line.replace("boostline", f"{sys.executable} -m boostline")]
        return subprocess.run(
            shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    done = run("boostline train - -l tag_a,tag_b -m m.blm <&-")
    assert done.returncode == 1 and done.stderr == "error: standard input: is closed\n"
    assert (
        run("boostline train d.csv --drop id -l 'tag_*' -m m.blm --learners paper:2").returncode
        == 0
    )
    assert run("boostline inspect m.blm").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train", "Missing argument 'data'; see boostline train --help"),
        ("train d.csv --nope", "No such option: --nope"),
        ("train a.csv b.csv -m m.blm", "several files need --jobs or --dask; see boostline train"),
        ("rank m.blm a.csv --jobs 0", "Invalid value for --jobs: 0 is neither a number"),
        ("trane d.csv", "No such command 'trane'"),
    ],
)
def test_wrong_usage_is_one_line_too(arguments, message, refused):
    assert message in refused(*arguments.split(), code=2)
