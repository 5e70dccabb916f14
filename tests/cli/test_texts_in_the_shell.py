"""Texts and tags in the shell: train, rank and evaluate with --text."""

import csv
import gzip
import json

import numpy as np
import pytest

import boostline as bl
from boostline.text import TextRanker

WORDS = {"billing": ["invoice", "refund", "amount"], "login": ["password", "account", "locked"]}


def tickets(n, seed=0):
    rng = np.random.default_rng(seed)
    for i in range(n):
        tag = "billing" if rng.random() < 0.5 else "login"
        words = [str(rng.choice(WORDS[tag])) for _ in range(3)]
        tags = [tag, "urgent"] if i % 5 == 0 else [tag]
        words += ["now"] * (len(tags) - 1)
        yield {"id": i, "subject": "Hello", "body": " ".join(["the", *words]), "tags": tags}


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def trained(boostline, tmp_path):
    write_jsonl(tmp_path / "tickets.jsonl", tickets(200))
    result = boostline(
        *(
            "train",
            "tickets.jsonl",
            "--text",
            "body",
            "--labels",
            "tags",
            "--model",
            "m.blm",
            "--json",
        )
    )
    assert result.code == 0, result.err
    assert (result.json["rows"], result.json["labels"]) == (200, 3)
    return boostline


def test_a_model_of_texts_ranks_a_file(trained, tmp_path):
    write_jsonl(
        tmp_path / "new.jsonl", [{"body": "refund my invoice"}, {"body": "password locked"}]
    )
    result = trained("rank", "m.blm", "new.jsonl", "--top", 1, "--json")
    assert [line["labels"] for line in result.lines] == [["billing"], ["login"]]
    assert "billing" in trained("rank", "m.blm", "new.jsonl").out
    model = bl.load(tmp_path / "m.blm")
    assert model.rank("refund my invoice", top=1) == ["billing"]


def test_columns_may_have_other_names_when_ranking(trained):
    rows = '{"message": "refund my invoice"}\n'
    result = trained(
        *("rank", "m.blm", "-", "--format", "jsonl", "--text", "message", "--top", 1, "--json"),
        input=rows,
    )
    assert result.lines[0]["labels"] == ["billing"]


def test_every_format_gives_the_same_model(boostline, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = list(tickets(60))
    write_jsonl(tmp_path / "a.jsonl", rows)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    with open(tmp_path / "c.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["body", "tags"])
        table.writerows([row["body"], "|".join(row["tags"])] for row in rows)
    columns = {"tags": [row["tags"] for row in rows], "body": [row["body"] for row in rows]}
    parquet.write_table(pa.table(columns), tmp_path / "d.parquet", row_group_size=25)
    scores = []
    for name in ("a.jsonl", "b.jsonl.gz", "c.csv", "d.parquet"):
        result = boostline("train", name, "--text", "body", "--labels", "tags", "-m", f"{name}.blm")
        assert result.code == 0, result.err
        scores.append(bl.load(tmp_path / f"{name}.blm").score([row["body"] for row in rows]))
    for other in scores[1:]:
        np.testing.assert_array_equal(other, scores[0])


def test_labels_may_be_columns_of_0_and_1(boostline, tmp_path):
    lines = [
        "body,billing,login",
        "my invoice,1,0",
        "my password,0,1",
        "who knows,,",
        "a refund,1,0",
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    result = boostline("train", "a.csv", "--text", "body", "-l", "billing,login", "-m", "m.blm")
    assert result.code == 0, result.err
    model = bl.load(tmp_path / "m.blm")
    assert sorted(model.labels) == ["billing", "login"]
    assert model.rank("invoice", top=1) == ["billing"]


def test_training_goes_on_where_it_stopped(boostline, tmp_path):
    write_jsonl(tmp_path / "a.jsonl", tickets(100))
    train = ("train", "a.jsonl", "--text", "subject,body", "--labels", "tags", "--model")
    assert boostline(*train, "whole.blm", "--block", 7).code == 0
    assert boostline(*train, "cut.blm", "--max-rows", 37).code == 0
    resumed = boostline("train", "a.jsonl", "--model", "cut.blm", "--resume", "--json")
    assert (resumed.json["skipped"], resumed.json["rows"]) == (37, 63)
    assert (tmp_path / "cut.blm").read_bytes() == (tmp_path / "whole.blm").read_bytes()


def test_another_file_is_not_taken_for_the_same(trained, tmp_path):
    write_jsonl(tmp_path / "tickets.jsonl", tickets(200, seed=1))
    result = trained("train", "tickets.jsonl", "--model", "m.blm", "--resume")
    assert result.code == 1
    assert "are not those that m.blm has learned" in result.err


def test_new_tags_are_appended(trained, tmp_path):
    write_jsonl(tmp_path / "more.jsonl", [{"body": "printer on fire", "tags": ["hardware"]}] * 5)
    assert trained("train", "more.jsonl", "--model", "m.blm", "--append").code == 0
    assert bl.load(tmp_path / "m.blm").rank("printer", top=1) == ["hardware"]


def test_evaluate_learns_some_rows_and_is_measured_on_the_others(boostline, tmp_path):
    write_jsonl(tmp_path / "a.jsonl", tickets(150))
    write_jsonl(tmp_path / "b.jsonl", tickets(50, seed=1))
    common = ("evaluate", "a.jsonl", "--text", "body", "--labels", "tags", "--json")
    result = boostline(*common, "--test", "b.jsonl", "--seeds", 1, "--order", "file", "--freeze")
    assert result.code == 0, result.err
    loss = {one["model"]: one["mean"]["rank_loss"] for one in result.json["results"]}
    assert loss["TextRanker"] < 0.3 * loss["DecayedCounts"]
    told = {one["model"]: one["mean"].get("log_loss") for one in result.json["results"]}
    model = TextRanker(labels=sorted({tag for row in tickets(150) for tag in row["tags"]}), seed=0)
    for row in tickets(150):
        model.learn(row["body"], row["tags"])
    likely = model.probabilities([row["body"] for row in tickets(50, seed=1)])
    relevant = [[tag in row["tags"] for tag in model.labels] for row in tickets(50, seed=1)]
    assert told["TextRanker"] == pytest.approx(bl.metrics.log_loss(relevant, likely))
    result = boostline(*common, "--protocol", "prequential")
    assert result.code == 0
    assert 0 < result.json["models"]["TextRanker"]["metrics"]["log_loss"] < np.log(2)


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"body": "x"}, "tickets.jsonl:1: has no column 'tags'; it has 'body'"),
        ({"text": "x", "tags": []}, "tickets.jsonl:1: has no column 'body'"),
        ({"body": 3, "tags": []}, "tickets.jsonl:1: 'body' is 3, but must be a text"),
        (
            {"body": "x", "tags": 3},
            "'tags' is 3, but must be a list of tags, or a text such as a|b",
        ),
        ({"body": "x", "tags": [None]}, "'tags' has the tag null"),
        ({"body": "x", "tags": ["a", "a"]}, "'tags' has the tag 'a' twice"),
        ({"body": "x", "tags": {"a": 5}}, "'tags' has 5 for 'a'"),
        ([1], "the row is an array, but must be an object"),
    ],
)
def test_bad_rows_are_named_with_their_line(boostline, tmp_path, row, error):
    write_jsonl(tmp_path / "tickets.jsonl", [row])
    result = boostline("train", "tickets.jsonl", "--text", "body", "-l", "tags", "-m", "m.blm")
    assert result.code == 1
    assert error in result.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--text", "body"), "--labels is not given"),
        (("--text", "body", "-l", "tags", "-a", "ada_olmr"), "must be label_ranker"),
        (("--text", "body", "-l", "tags", "--edge", "0.1"), "is not an option of label_ranker"),
        (("--text", "body", "-l", "tags", "--drop", "id"), "--drop has no meaning with --text"),
    ],
)
def test_options_that_do_not_fit_are_refused(boostline, tmp_path, arguments, error):
    write_jsonl(tmp_path / "a.jsonl", tickets(3))
    result = boostline("train", "a.jsonl", "-m", "m.blm", *arguments)
    assert result.code != 0
    assert error in " ".join(result.err.replace("│", " ").split())
    assert not (tmp_path / "m.blm").exists()


def test_rank_names_the_words_that_speak_for_the_first_tag(trained, tmp_path):
    write_jsonl(tmp_path / "new.jsonl", [{"body": "the refund"}, {"body": "nothing that is known"}])
    result = trained("rank", "m.blm", "new.jsonl", "--top", 1, "--why", "--json")
    assert result.lines[0]["why"][0]["name"] == "refund"
    known = [line["known_words"] for line in result.lines]
    assert known[0] >= 1 and known[1] == 0
    shown = trained("rank", "m.blm", "new.jsonl", "--why").out
    assert "because of" in shown and "known words" in shown
    assert "refund" in shown


def test_inspect_explains_a_text(trained, tmp_path):
    write_jsonl(tmp_path / "new.jsonl", [{"body": "My <Refund>, the account"}])
    why = ("inspect", "m.blm", "--data", "new.jsonl", "--row", 1, "--label", "billing")
    shown = trained(*why).out
    assert "My <[Refund]>, the ~account~" in shown
    assert "Past rows" in shown
    told = trained(*why, "--json").json["explanation"]
    assert told["features"][0]["name"] == "refund"


def test_inspect_shows_the_model_and_how_tags_are_ranked(trained):
    shown = trained("inspect", "m.blm").out
    assert "TextRanker" in shown
    assert "sparse ranker" in shown
    labels = trained("inspect", "m.blm", "--data", "tickets.jsonl", "--json").json["labels"]
    assert sorted(row["name"] for row in labels) == ["billing", "login", "urgent"]


@pytest.mark.gate
def test_the_page_highlights_words(trained, tmp_path):
    result = trained("inspect", "m.blm", "--data", "tickets.jsonl", "--row", 1, "--html", "a.html")
    assert result.code == 0, result.err
    page = (tmp_path / "a.html").read_text()
    assert '<mark class="for"' in page
    assert "share of all that speaks for" in page


def test_a_history_of_texts_is_learned_by_several_processes(trained, tmp_path):
    refused = trained("rank", "m.blm", "tickets.jsonl", "--out", "ranked", "--why")
    assert refused.code == 2 and "rankings that are printed" in refused.err
    assert not (tmp_path / "ranked").exists()
    words = ("train", "tickets.jsonl", "--text", "body", "--labels", "tags", "--model", "n.blm")
    one = trained("inspect", "m.blm", "--json").json["summary"]["clock"]
    done = trained(*words, "--jobs", 2, "--json")
    assert done.code == 0, done.err
    assert done.json["rows"] == one and done.json["labels"] == 3
    ranked = trained("rank", "n.blm", "tickets.jsonl", "--top", "1")
    assert ranked.code == 0, ranked.err
