"""``boostline train``: the same model as in Python; after kill -9, Ctrl-C or a pipe, nothing counts twice."""

import signal
import subprocess
import time

import numpy as np
import pytest
from cli_files import FEATURES, LABELS, command, rows, write_csv

import boostline as bl
from boostline import saving

DATA = ("train", "data.csv", "--labels", "tag_*", "--drop", "id")
TRAIN = (*DATA, "-a", "ada_olmr", "--learners", "paper:8")


def in_python(n_trees=8, n=1000):
    X, Y = rows(n)
    model = bl.AdaOLMR(labels=LABELS, learners=bl.learners.paper_trees(n_trees))
    model.learn(X, Y.astype(bool))
    return model


def same(one, other):
    first, second = one.state()["arrays"], other.state()["arrays"]
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_train_learns_what_python_learns(csv_file, boostline, tmp_path):
    done = boostline(*TRAIN, "--model", "m.blm", "--json")
    assert done.code == 0, done.err
    assert (done.json["rows"], done.json["clock"], done.json["stopped"]) == (1000, 1000, False)
    model = bl.load(tmp_path / "m.blm")
    assert model.labels == LABELS
    same(model, in_python())
    assert done.json["mean_rank_loss"] == pytest.approx(
        model.suffered_loss / model.diagnostics.label_set_sizes.sum()
    )


@pytest.mark.process
def test_kill_9_and_resume_give_the_file_of_an_undisturbed_run(boostline, tmp_path):
    """The path of a new user: train, kill -9, train --resume, rank."""
    write_csv(tmp_path / "data.csv", *rows(6000))
    write_csv(tmp_path / "new.csv", *rows(3, seed=9))
    arguments = (*TRAIN[:-1], "paper:40", "--checkpoint", "512", "--block", "128")
    child = subprocess.Popen(command(*arguments, "--model", "m.blm"), cwd=tmp_path)
    wait_for(tmp_path / "m.blm", child)
    child.kill()
    assert child.wait() == -signal.SIGKILL, "the training must not be over before it is killed"
    rows_learned = bl.load(tmp_path / "m.blm").clock
    assert 0 < rows_learned < 6000 and rows_learned % 128 == 0
    # A second kill, in the middle of going on.
    child = subprocess.Popen(command(*arguments, "--model", "m.blm", "--resume"), cwd=tmp_path)
    before = (tmp_path / "m.blm").stat().st_mtime_ns
    while (tmp_path / "m.blm").stat().st_mtime_ns == before and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    child.wait()
    again = bl.load(tmp_path / "m.blm").clock
    assert again > rows_learned
    done = boostline(*arguments, "--model", "m.blm", "--resume", "--json")
    assert done.code == 0, done.err
    assert done.json["skipped"] == again
    assert done.json["rows"] == 6000 - again
    assert done.json["clock"] == 6000
    assert boostline(*arguments, "--model", "whole.blm").code == 0
    assert (tmp_path / "m.blm").read_bytes() == (tmp_path / "whole.blm").read_bytes()
    same(bl.load(tmp_path / "m.blm"), in_python(40, 6000))
    ranked = boostline("rank", "m.blm", "new.csv", "--top", "2", "--json")
    assert [line["labels"] for line in ranked.lines] == bl.load(tmp_path / "m.blm").rank(
        rows(3, seed=9)[0], top=2
    )


def wait_for(path, child, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert child.poll() is None, "the process ended before its first checkpoint"
        assert time.monotonic() < end, "no checkpoint"
        time.sleep(0.005)


def signalling(monkeypatch, *numbers, clock=400):
    """Have the training get these signals within the block after which it has learned so many rows."""
    learn = bl.AdaOLMR.learn

    def learn_and_be_stopped(model, X, Y):
        scores = learn(model, X, Y)
        if model.clock == clock:
            for number in numbers:
                signal.raise_signal(number)
        return scores

    monkeypatch.setattr(bl.AdaOLMR, "learn", learn_and_be_stopped)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_kill_save_what_was_learned(
    number, code, csv_file, boostline, monkeypatch, tmp_path
):
    arguments = (*TRAIN, "--block", "100", "--checkpoint", "300", "--model", "m.blm")
    with monkeypatch.context() as patch:
        signalling(patch, number)
        done = boostline(*arguments, "--json")
    assert done.code == code
    assert "Traceback" not in done.err and "continue with --resume" in done.err
    assert (done.json["stopped"], done.json["clock"]) == (True, 400)
    assert bl.load(tmp_path / "m.blm").clock == 400
    assert boostline(*arguments, "--resume").code == 0
    same(bl.load(tmp_path / "m.blm"), in_python())


@pytest.mark.process
def test_kill_stops_the_background_job_of_a_script(tmp_path):
    """Such jobs ignore SIGINT; a service manager's SIGTERM must reach them all the same."""
    write_csv(tmp_path / "data.csv", *rows(20_000))
    arguments = (
        *TRAIN[:-1],
        "paper:400",
        "--block",
        "64",
        "--checkpoint",
        "64",
        "--model",
        "m.blm",
    )
    train = " ".join(f"'{part}'" for part in command(*arguments))
    script = f"""{train} &
        until [ -e m.blm ] || ! kill -0 $!; do sleep 0.01; done
        kill -INT $!  # ignored
        kill -TERM $!
        wait $!"""
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, "continue with --resume" in done.stderr) == (143, True), done.stderr
    assert 0 < bl.load(tmp_path / "m.blm").clock < 20_000


def test_a_second_ctrl_c_in_a_block_leaves_the_last_checkpoint(
    csv_file, boostline, monkeypatch, tmp_path
):
    """The block is learned, but not counted: saved, its rows would count twice after --resume."""
    arguments = (*TRAIN, "--model", "m.blm", "--block", "100", "--checkpoint", "100")
    with monkeypatch.context() as patch:
        signalling(patch, signal.SIGINT, signal.SIGINT)
        assert boostline(*arguments).code == 130
    assert bl.load(tmp_path / "m.blm").clock == 300
    assert boostline(*arguments, "--resume").code == 0
    same(bl.load(tmp_path / "m.blm"), in_python())


@pytest.mark.process
def test_ctrl_c_while_waiting_for_a_pipe_saves_at_once(tmp_path):
    X, Y = rows(100)
    write_csv(tmp_path / "data.csv", X, Y)
    arguments = ("train", "-", *DATA[2:], "-a", "ada_olmr", "--learners", "paper:3")
    child = subprocess.Popen(
        command(*arguments, "--model", "m.blm", "--block", "10", "--checkpoint", "10"),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdin.write((tmp_path / "data.csv").read_bytes())
    child.stdin.flush()  # and stays open: there may be more to come
    end = time.monotonic() + 60
    while not (tmp_path / "m.blm").exists() or bl.load(tmp_path / "m.blm").clock < 100:
        assert time.monotonic() < end, "rows that have arrived are not learned"
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    child.wait(timeout=30)
    child.stdin.close()
    child.stderr.close()
    assert child.returncode == 130
    same(bl.load(tmp_path / "m.blm"), in_python(3, 100))


def test_standard_input_gives_the_same_model_and_can_be_resumed(csv_file, boostline, tmp_path):
    text = csv_file.read_text()
    options = (*TRAIN[2:], "--model", "m.blm")
    part = "".join(text.splitlines(keepends=True)[:501])
    assert boostline("train", "-", *options, input=part).code == 0
    done = boostline("train", "-", *options, "--resume", "--json", input=text)
    assert (done.json["skipped"], done.json["rows"]) == (500, 500)
    same(bl.load(tmp_path / "m.blm"), in_python())


def test_resume_with_nothing_new_learns_nothing(model_file, boostline, tmp_path):
    before = model_file.read_bytes()
    done = boostline("train", "data.csv", "--model", "m.blm", "--resume", "--json")
    assert (done.code, done.json["rows"], done.json["skipped"]) == (0, 0, 1000)
    assert model_file.read_bytes() == before


def test_resume_before_the_first_checkpoint_starts_at_the_beginning(csv_file, boostline, tmp_path):
    done = boostline(*TRAIN, "--model", "m.blm", "--resume", "--json")
    assert (done.code, done.json["rows"]) == (0, 1000)


def test_resume_with_another_block_size_gives_the_same_file(model_file, boostline, tmp_path):
    assert boostline(*TRAIN, "--model", "n.blm", "--max-rows", "300", "--block", "70").code == 0
    done = boostline(*TRAIN, "--model", "n.blm", "--resume", "--json", "--block", "64")
    assert (done.json["skipped"], done.json["rows"]) == (300, 700)
    same(bl.load(tmp_path / "n.blm"), in_python())
    assert (tmp_path / "n.blm").read_bytes() == model_file.read_bytes()


def test_append_learns_all_rows_of_a_new_input(model_file, boostline, tmp_path):
    X, Y = rows(200, seed=5)
    write_csv(tmp_path / "more.csv", X, Y)
    done = boostline("train", "more.csv", "--model", "m.blm", "--append", "--json")
    assert (done.code, done.json["rows"], done.json["clock"]) == (0, 200, 1200)
    again = boostline("train", "more.csv", "--model", "m.blm", "--resume", "--json")
    assert (again.json["rows"], again.json["clock"]) == (0, 1200)
    expected = in_python()
    expected.learn(X, Y.astype(bool))
    same(bl.load(model_file), expected)


def test_resume_refuses_other_rows(model_file, boostline, tmp_path):
    write_csv(tmp_path / "other.csv", *rows(1000, seed=7))
    done = boostline("train", "other.csv", "--model", "m.blm", "--resume")
    assert done.code == 1
    assert "are not those that m.blm has learned" in done.err
    write_csv(tmp_path / "short.csv", *rows(10))
    done = boostline("train", "short.csv", "--model", "m.blm", "--resume")
    assert (done.code, "has 10 rows, but m.blm has learned 1000" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--seed", "3"), "--seed is 3"),
        (("--learners", "paper:9"), "--learners is paper:9"),
        (("--algorithm", "online_bmr"), "--algorithm is online_bmr"),
        (("--expert", "best"), "--expert is best"),
        (("--labels", "tag_sport,tag_music"), "has the columns 'tag_news', 'tag_art'"),
    ],
)
def test_resume_refuses_other_options(options, message, model_file, boostline):
    before = model_file.read_bytes()
    done = boostline("train", "data.csv", "--model", "m.blm", "--resume", *options)
    assert (done.code, message in done.err) == (1, True), done.err
    assert model_file.read_bytes() == before


def test_a_model_that_is_there_is_not_overwritten_by_accident(model_file, boostline):
    done = boostline(*TRAIN, "--model", "m.blm")
    assert (done.code, "--resume, --append or --overwrite" in done.err) == (1, True)
    assert boostline(*TRAIN, "--model", "m.blm", "--overwrite").code == 0


def test_a_model_saved_in_python_can_be_appended_to_but_not_resumed(csv_file, boostline, tmp_path):
    in_python().save(tmp_path / "m.blm")
    done = boostline(*TRAIN[:-2], "--model", "m.blm", "--resume")
    assert (done.code, "use --append" in done.err) == (1, True)
    done = boostline(*TRAIN[:-2], "--model", "m.blm", "--append", "--json")
    assert (done.code, done.json["clock"]) == (0, 2000)


def test_online_bmr_and_its_options(csv_file, boostline, tmp_path):
    done = boostline(*TRAIN, "--model", "m.blm", "-a", "online_bmr", "--edge", "0.2")
    assert done.code == 0, done.err
    model = bl.load(tmp_path / "m.blm")
    assert isinstance(model, bl.OnlineBMR) and model.edge == 0.2
    wrong = boostline(*TRAIN, "--model", "n.blm", "--edge", "0.2")
    assert (wrong.code, "is not an option of ada_olmr" in wrong.err) == (1, True)


def test_the_record_of_the_training_is_in_the_file(model_file):
    _, extra = saving.load_with_extra(model_file)
    record = extra["train"]
    assert record["rows"] == 1000 and bl.load(model_file).features == FEATURES
    clock = record["history"]["clock"]
    assert 50 <= len(clock) < 100 and 0 <= 1000 - clock[-1] < 1000 / 50  # evenly spread, to the end


def test_categories_and_other_formats(boostline, tmp_path):
    lines = ["colour,size,warm,cold"]
    lines += [
        f"{c},{i % 7},{int(c == 'red')},{int(c == 'blue')}"
        for i, c in enumerate(["red", "blue", "green"] * 30)
    ]
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    options = ("-l", "warm", "-l", "cold", "--categories", "colour=red,green,blue")
    done = boostline("train", "d.csv", *options, "--learners", "paper:3", "-m", "m.blm", "--json")
    assert (done.code, done.json["features"]) == (0, 4), done.err
    (tmp_path / "new.csv").write_text("size,colour\n3,red\n3,blue\n")
    ranked = boostline("rank", "m.blm", "new.csv", "--top", "1", "--json")
    assert [line["labels"] for line in ranked.lines] == [["warm"], ["cold"]]
    (tmp_path / "d.jsonl").write_text(
        '{"features": {"a": 1.5}, "labels": ["x"]}\n{"features": {"b": 2}, "labels": ["y", "x"]}\n'
    )
    done = boostline("train", "d.jsonl", "--learners", "paper:3", "-m", "j.blm", "--json")
    assert (done.code, done.json["labels"], done.json["features"]) == (0, 2, 2), done.err
    (tmp_path / "d.svm").write_text("0,1 1:0.5\n1 2:1.5\n0 1:2\n")
    done = boostline("train", "d.svm", "--learners", "paper:3", "-m", "s.blm", "--json")
    assert (done.code, done.json["clock"]) == (0, 3), done.err


@pytest.mark.gate
def test_the_default_model_is_the_mix(csv_file, boostline, tmp_path):
    options = ("train", "data.csv", "--labels", "tag_*", "--drop", "id", "--model", "m.blm")
    assert boostline(*options, "--max-rows", "150", "--learners", "auto").code == 0
    done = boostline(*options, "--resume", "--drift", "restart", "--json")
    assert (done.code, done.json["skipped"]) == (0, 150), done.err
    X, Y = rows(1000)
    expected = bl.LabelRanker(labels=LABELS)
    expected.learn(X, Y.astype(bool))
    same(bl.load(tmp_path / "m.blm"), expected)
    refused = boostline(*options, "--resume", "-a", "ada_olmr")
    assert (refused.code, "--algorithm is ada_olmr" in refused.err) == (1, True)
    refused = boostline(*options, "--resume", "--drift", "none")
    assert (refused.code, "--drift is none" in refused.err) == (1, True)
    table = boostline("inspect", "m.blm")
    assert " kernel " in table.out and "Features that split" not in table.out
    why = boostline("inspect", "m.blm", "--data", "data.csv", "--row", "1")
    assert (why.code, " output neighbours " in why.out) == (0, True), why.err
    assert boostline("rank", "m.blm", "data.csv", "--top", "1").code == 0


def test_options_are_passed_on(csv_file, boostline, tmp_path):
    given = ("--drift", "none", "--max-bytes", "9000000", "--max-rows", "60")
    assert boostline(*DATA, "--model", "m.blm", *given).code == 0
    found = bl.load(tmp_path / "m.blm")
    assert (found.drift, found.max_bytes) == (None, 9_000_000)
    given = ("-a", "ada_olmr", "--expert", "best", "--max-rows", "60")
    assert boostline(*TRAIN, "--model", "a.blm", *given).code == 0
    assert bl.load(tmp_path / "a.blm").expert == "best"
    wrong = boostline(*TRAIN, "--model", "n.blm", "-a", "online_bmr", "--expert", "best")
    assert (wrong.code, "is not an option of online_bmr" in wrong.err) == (1, True)
    more = ("-a", "online_bmr", "--edge", "auto", "--max-rows", "60")
    assert boostline(*TRAIN, "--model", "e.blm", *more).code == 0
    assert bl.load(tmp_path / "e.blm").diagnostics.chooses_edge
