"""``rank``, ``inspect``, ``evaluate``, ``data``, ``theory``, help and errors."""

import json
import os
import subprocess

import numpy as np
import pytest
from cli_files import FEATURES, LABELS, command, rows

import boostline as bl
from boostline.cli import main


def test_rank_finds_columns_by_name(model_file, boostline, tmp_path):
    X, _ = rows(5, seed=3)
    shuffled = [3, 0, 4, 2, 1]
    lines = [",".join(["who", *(FEATURES[i] for i in shuffled)])]
    lines += [",".join(["me", *(str(x[i]) for i in shuffled)]) for x in X]
    (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
    model = bl.load(model_file)
    done = boostline("rank", "m.blm", "new.csv", "--top", "3", "--json")
    assert done.code == 0, done.err
    assert [line["row"] for line in done.lines] == [1, 2, 3, 4, 5]
    assert [line["labels"] for line in done.lines] == model.rank(X, top=3)
    for line, scores in zip(done.lines, model.score(X), strict=True):
        assert line["scores"] == sorted(scores.tolist(), reverse=True)[:3]
    piped = boostline("rank", "m.blm", "-", "--top", "3", "--json", input="\n".join(lines) + "\n")
    assert piped.out == done.out
    table = boostline("rank", "m.blm", "new.csv", "--top", "2", "--scores")
    assert table.out.count("tag_") == 10
    everything = boostline("rank", "m.blm", "data.csv", "--top", "0", "--json")
    assert (len(everything.lines), len(everything.lines[0]["labels"])) == (1000, 4)


def test_rank_ends_at_a_threshold(model_file, boostline):
    model = bl.load(model_file)
    X, _ = rows(1000)
    for options, aim in ((("--optimize", "macro-f1"), "macro-f1"), (("--threshold", "0.9"), 0.9)):
        done = boostline("rank", "m.blm", "data.csv", "--top", "0", "--json", *options)
        assert [line["labels"] for line in done.lines] == model.rank(X, threshold=aim)
    assert any(not line["labels"] for line in done.lines)
    done = boostline("rank", "m.blm", "data.csv", "--threshold", "0.9", "--why")
    assert done.code == 0, done.err
    for wrong in (
        ("--threshold", "0"),
        ("--optimize", "f1"),
        ("--threshold", "0.5", "--optimize", "micro-f1"),
    ):
        assert boostline("rank", "m.blm", "data.csv", *wrong).code == 2


def test_rank_says_which_column_is_missing(model_file, boostline, tmp_path):
    (tmp_path / "new.csv").write_text("f0,f1,f2,f4\n1,2,3,4\n")
    done = boostline("rank", "m.blm", "new.csv")
    assert done.code == 1
    assert done.err == (
        "error: new.csv lacks the column 'f3', but its columns must be the model's features: "
        "'f0', 'f1', 'f2', 'f3', 'f4'\n"
    )


def test_rank_with_a_model_from_python_goes_by_the_order_of_columns(boostline, tmp_path):
    X, Y = rows(100)
    model = bl.AdaOLMR(4, learners=bl.learners.paper_trees(4))
    model.learn(X, Y.astype(bool))
    model.save(tmp_path / "m.blm")
    np.savetxt(tmp_path / "new.csv", X[:3], delimiter=",", header="a,b,c,d,e", comments="")
    done = boostline("rank", "m.blm", "new.csv", "--top", "2", "--json")
    assert [line["labels"] for line in done.lines] == model.rank(X[:3], top=2).tolist()


def test_inspect_shows_the_model(model_file, boostline, tmp_path):
    done = boostline("inspect", "m.blm")
    assert done.code == 0, done.err
    for text in ("AdaOLMR", "Learners that matter most", "Features that split", "tag_sport"):
        assert text in done.out
    found = boostline("inspect", "m.blm", "--json").json
    model = bl.load(model_file)
    assert found["summary"]["clock"] == 1000
    assert [row["edge"] for row in found["learners"]] == model.edges().tolist()
    assert [row["weight"] for row in found["learners"]] == model.learner_weights.tolist()
    assert {row["name"] for row in found["features"]} == set(FEATURES)
    assert [row["name"] for row in found["labels"]] == LABELS


@pytest.mark.gate
def test_inspect_writes_a_page_that_needs_nothing_else(model_file, boostline, tmp_path):
    pytest.importorskip("matplotlib")
    done = boostline("inspect", "m.blm", "--html", "page.html", "--data", "data.csv", "--row", "2")
    assert done.code == 0, done.err
    page = (tmp_path / "page.html").read_text()
    assert page.count("<picture>") == 4
    assert "http" not in page.replace("http-equiv", "")
    for text in ("<h2>Learning</h2>", "<h2>Why", "<h2>Labels</h2>", "tag_music"):
        assert text in page


def test_inspect_explains_a_row(model_file, boostline):
    X, _ = rows(1000)
    model = bl.load(model_file)
    done = boostline("inspect", "m.blm", "--data", "data.csv", "--row", "7", "--json")
    why = done.json["explanation"]
    scores = model.score(X[6])
    assert why["name"] == model.rank(X[6], top=1)[0]
    assert (why["rank"], why["score"]) == (1, scores.max())
    assert sum(why["shares"]) == pytest.approx(scores.max())
    table = boostline("inspect", "m.blm", "--data", "data.csv", "--row", "7", "--label", "tag_news")
    assert "Why tag_news" in table.out and "tree" in table.out
    late = boostline("inspect", "m.blm", "--data", "data.csv", "--row", "1001")
    assert (late.code, "has 1000 rows" in late.err) == (1, True)
    wrong = boostline("inspect", "m.blm", "--data", "data.csv", "--row", "7", "--label", "sun")
    assert (wrong.code, "label is 'sun'" in wrong.err) == (1, True)


def test_inspect_ranks_the_labels_of_a_file(model_file, boostline):
    from sklearn.metrics import label_ranking_loss

    X, Y = rows(1000)
    found = boostline("inspect", "m.blm", "--data", "data.csv", "--json").json["labels"]
    pairs = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 4)
    assert [row["relevant"] for row in found] == Y[pairs].sum(axis=0).tolist()
    # Weighted by 1/|Y|, the labels' losses make up scikit-learn's; here every |Y| is taken together.
    scores = bl.load(model_file).score(X[pairs])
    singles = Y[pairs].sum(axis=1) == 1
    assert 0 <= label_ranking_loss(Y[pairs][singles], scores[singles]) < 0.2
    assert all(0 <= row["missed"] < 0.3 for row in found)


def test_evaluate_train_then_test(boostline, data_folder):
    done = boostline(
        *("evaluate", "emotions", "--learners", "paper:5", "--seeds", "2", "--json"),
        *("--metric", "coverage,one_error"),
    )
    assert done.code == 0, done.err
    results = {(r["model"], r["order"]): r for r in done.json["results"]}
    assert len(results) == 8 and results["AdaOLMR", "file"]["n_runs"] == 2
    data = bl.data.load("emotions")
    model = bl.AdaOLMR(labels=data.labels, learners=bl.learners.paper_trees(5), seed=1)
    expected = bl.evaluate.train_then_test(model, data, "shuffled", 1).rank_loss
    run = results["AdaOLMR", "shuffled"]["runs"][1]
    assert run["metrics"]["rank_loss"] == expected
    assert set(run["metrics"]) == {
        *bl.evaluate.STANDARD,
        *("coverage", "one_error", "micro_f1", "macro_f1", "log_loss", "ece"),
    }
    assert "measured on the other 202" in done.err and "2 seeds: 16 runs" in done.err


def test_evaluate_a_file_prequentially(csv_file, boostline, tmp_path):
    done = boostline(
        *("evaluate", "data.csv", "--labels", "tag_*", "--drop", "id", "--learners", "paper:5"),
        *("-a", "ada_olmr", "--delay", "10", "--plot", "curve.png", "--json"),
    )
    assert done.code == 0, done.err
    assert done.json["n"] == 1000
    assert set(done.json["models"]) == {"AdaOLMR", "DecayedCounts"}
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    table = boostline(
        *("evaluate", "data.csv", "--labels", "tag_*", "--drop", "id", "--learners", "paper:2"),
        *("--train-rows", "700", "--seeds", "1", "--order", "file", "--no-baseline"),
    )
    assert "OnlineBMR" in table.out and "micro-F1" in table.out
    assert table.out.count("rank loss") == 1  # one table


def test_evaluate_prints_what_people_paste(csv_file, boostline):
    common = ("evaluate", "data.csv", "--labels", "tag_*", "--drop", "id", "-a", "label_ranker")
    told = {
        form: boostline(*common, "--learners", "paper:2", form).out
        for form in ("--csv", "--markdown", "--html")
    }
    assert told["--csv"].splitlines()[0].startswith("model,seed,rank_loss,precision@1")
    assert told["--markdown"].count("| LabelRanker |") == 1
    assert "<table" in told["--html"] and told["--html"].startswith("<!doctype html>")
    labels = boostline(*common, "--learners", "paper:2", "--by-label", "--csv").out.splitlines()
    assert labels[0] == "model,label,relevant,named,precision,recall,f1" and len(labels) == 5
    shown = boostline(*common, "--learners", "paper:2", "--by-label").out
    assert "LabelRanker, by label" in shown and "recall" in shown
    both = boostline(*common, "--csv", "--json")
    assert both.code == 2 and "only one of" in both.err


def test_data_lists_and_describes(csv_file, boostline, data_folder):
    listed = boostline("data", "list", "--json").json
    assert {"emotions", "yeast"} <= {one["name"] for one in listed}
    assert "emotions" in boostline("data", "list").out
    described = boostline("data", "describe", "emotions", "--json").json
    assert (described["n_train"], described["n_labels"]) == (391, 6)  # Table 2 of the paper
    own = boostline("data", "describe", "data.csv", "-l", "tag_*", "--drop", "id", "--json").json
    assert (own["n_train"], own["n_features"], own["n_labels"]) == (1000, 5, 4)
    assert boostline("data", "fetch", "emotions").code == 0
    wrong = boostline("data", "fetch", "nowhere")
    assert (wrong.code, "the named sets are" in wrong.err) == (1, True)


@pytest.mark.gate
def test_theory_runs_its_experiments(boostline, tmp_path):
    pytest.importorskip("matplotlib")
    done = boostline("lab", "theory", "--only", "printed-bound", "--quick", "-o", "out", "--json")
    assert done.code == 0, done.err
    assert done.json["holds"] is True
    assert (tmp_path / "out" / "theory.html").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nonsense"], 2, "No such command"),
        (["train"], 2, "Missing argument"),
        (["train", "data.csv", "--model", "m.blm", "--resume", "--append"], 2, "only one of"),
        (["train", "nowhere.csv", "-l", "a", "--model", "m.blm"], 1, "nowhere.csv: cannot be"),
        (["train", "data.csv", "--model", "m.blm"], 1, "give --labels"),
        (["train", "data.csv", "-l", "x*", "--model", "m.blm"], 1, "no column of data.csv matches"),
        (["train", "data.csv", "-l", "tag_*", "--model", "m.blm"], 1, "'id' has 'row-0'"),
        (["train", "data.csv", "-l", "a", "--model", "m.blm"], 1, "has no column 'a'"),
        (["train", "data.csv", "-l", "tag_*", "--model", "no/m.blm"], 1, "no folder no"),
        (["train", "data.csv", "-l", "a", "-m", "m", "--learners", "magic"], 1, "has no column"),
        (["train", "data.csv", "-l", "tag_*", "-m", "m", "--learners", "magic"], 1, "magic"),
        (["train", "data", "-l", "tag_*", "-m", "m"], 1, "there is no file 'data', and the named"),
        (["rank", "nowhere.blm", "data.csv"], 1, "nowhere.blm: No such file"),
        (["inspect", "data.csv"], 1, "data.csv cannot be loaded"),
        (["inspect", "data.csv", "--row", "3"], 2, "need --data"),
        (["evaluate", "nowhere"], 1, "nowhere"),
    ],
)
def test_errors_are_one_useful_message(
    arguments, code, message, csv_file, monkeypatch, tmp_path, capsys
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    messages = capsys.readouterr().err
    assert caught.value.code == code, messages
    assert message in " ".join(messages.replace("│", " ").split())
    if code == 1:
        assert messages.startswith("error: ") and messages.count("\n") == 1


def test_a_bad_row_is_named_by_its_line(boostline, tmp_path):
    (tmp_path / "d.csv").write_text("x,a,b\n1,0,1\nmany,1,0\n")
    done = boostline("train", "d.csv", "-l", "a,b", "-m", "m.blm", "--learners", "paper:2")
    assert (done.code, "d.csv:3" in done.err) == (1, True), done.err


@pytest.mark.process
def test_tracebacks_are_there_for_who_asks(tmp_path):
    done = subprocess.run(
        command("inspect", "nowhere.blm"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "BOOSTLINE_TRACEBACK": "1"},
        check=False,
    )
    assert "Traceback" in done.stderr and "FileNotFoundError" in done.stderr


@pytest.mark.process
def test_a_pipe_that_closes_early_is_no_disaster(model_file, tmp_path):
    line = " ".join(command("rank", "m.blm", "data.csv", "--json")) + " | head -1"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["row"] == 1
    assert "Traceback" not in done.stderr


def test_help_is_quick_and_lists_every_command(boostline):
    before = os.times()
    done = boostline("--help")
    after = os.times()
    seconds = after.children_user - before.children_user
    seconds += after.children_system - before.children_system
    for name in ("train", "rank", "evaluate", "inspect", "data", "reproduce", "lab"):
        assert name in done.out
    assert seconds < 1.0  # of the processor, whatever else it does; 0.4 s is usual
    assert boostline("lab", "theory", "--help").code == 0
    assert boostline("--version").out == f"boostline {bl.__version__}\n"


@pytest.mark.process
def test_the_help_imports_nothing_heavy(tmp_path):
    code = (
        "import sys\n"
        "from boostline.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'pyarrow', 'matplotlib', 'river', 'dask'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [*command()[:1], "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "HEAVY []" in done.stdout


def test_completion_is_there(boostline):
    done = boostline("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.code == 0 and "_BOOSTLINE_COMPLETE" in done.out
    done = boostline(_BOOSTLINE_COMPLETE="complete_bash", COMP_WORDS="boostline tr", COMP_CWORD="1")
    assert done.out.split() == ["train"]


def test_evaluate_takes_what_belongs_to_one_algorithm(csv_file, boostline):
    options = ("evaluate", "data.csv", "--labels", "tag_*", "--drop", "id", "--json")
    one = boostline(*options, "--drift", "none", "--learners", "paper:3")
    assert (one.code, set(one.json["models"])) == (0, {"LabelRanker", "DecayedCounts"}), one.err
    both = boostline(*options, "--expert", "draw", "--edge", "auto", "--learners", "paper:3")
    assert set(both.json["models"]) == {"AdaOLMR", "OnlineBMR", "DecayedCounts"}
    default = boostline(*options, "-a", "label_ranker", "--no-baseline")
    assert default.code == 0, default.err
    loss = {name: run["metrics"]["rank_loss"] for name, run in both.json["models"].items()}
    assert default.json["models"]["LabelRanker"]["metrics"]["rank_loss"] < min(loss.values())
