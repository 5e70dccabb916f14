"""Every command knows the named sets."""

import csv

import numpy as np
import pytest
from cli_files import LABELS, rows, write_csv

import boostline as bl


@pytest.fixture
def yeast_model(boostline, data_folder, tmp_path):
    done = boostline("train", "yeast", "--learners", "paper:3", "--model", "m.blm")
    assert done.code == 0, done.err
    return bl.load(tmp_path / "m.blm")


@pytest.mark.gate
def test_rank_takes_the_test_rows_of_a_set(yeast_model, boostline):
    test = bl.data.load("yeast").test
    done = boostline("rank", "m.blm", "yeast", "--json", "--top", "1")
    assert done.code == 0, done.err
    best = yeast_model.score(test.X).max(axis=1)
    assert [line["scores"][0] for line in done.lines] == best.tolist()


@pytest.mark.gate
def test_inspect_takes_the_test_rows_of_a_set(yeast_model, boostline):
    test = bl.data.load("yeast").test
    found = boostline("inspect", "m.blm", "--data", "yeast", "--json").json["labels"]
    assert [row["name"] for row in found] == list(test.labels)
    assert [row["relevant"] for row in found] == np.asarray(test.Y).sum(axis=0).tolist()
    why = boostline("inspect", "m.blm", "--data", "yeast", "--row", "917", "--json").json[
        "explanation"
    ]
    assert why["score"] == yeast_model.score(test.X[916]).max()
    late = boostline("inspect", "m.blm", "--data", "yeast", "--row", "918")
    assert (late.code, "yeast has 917 rows" in late.err) == (1, True)  # Table 2 of the paper


@pytest.mark.gate
def test_a_model_of_another_set_is_refused_by_the_names_of_its_columns(yeast_model, boostline):
    done = boostline("rank", "m.blm", "emotions")
    assert (done.code, "emotions lacks the columns 'Att1', " in done.err) == (1, True), done.err


@pytest.mark.gate
def test_a_mulan_folder_is_a_set_too(yeast_model, boostline, data_folder):
    done = boostline("rank", "m.blm", f"{data_folder}/yeast", "--json")
    assert (done.code, len(done.lines)) == (0, 917), done.err


@pytest.mark.gate
def test_reproduce_prints_json(boostline, tmp_path):
    pytest.importorskip("matplotlib")
    write_csv(tmp_path / "d.csv", *rows(60))
    options = ("--seeds", "2", "--trees", "3", "--order", "file", "--algorithm", "ada_olmr")
    given = ("--data", "d.csv", "--labels", ",".join(LABELS), "--drop", "id")
    done = boostline("reproduce", *given, *options, "--jobs", "1", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert (found["folder"], found["page"]) == ("reproduction", "reproduction/report.html")
    cells = {cell["algorithm"]: cell for cell in found["results"]}
    with open(tmp_path / "reproduction" / "runs.csv") as file:
        losses = [
            float(run["rank_loss"])
            for run in csv.DictReader(file)
            if run["algorithm"] == "ada_olmr"
        ]
    assert cells["ada_olmr"]["rank_losses"] == losses and len(losses) == 2
