"""``rank`` goes on where rows have no labels, or values that the model has never seen."""

import numpy as np
import pytest

import boostline as bl

NAN = float("nan")
OPTIONS = ("-a", "ada_olmr", "--learners", "paper:4", "--model", "m.blm")


@pytest.fixture
def coloured(boostline, tmp_path):
    """A model of a csv file with a text column, and its rows with the features f(size, colour)."""
    lines = ["colour,size,warm,cold"]
    for i in range(90):
        colour = ["red", "blue", "green"][i % 3]
        lines.append(f"{colour},{i % 7},{int(colour == 'red')},{int(colour == 'blue')}")
    (tmp_path / "d.csv").write_text("\n".join(lines) + "\n")
    categories = ("--categories", "colour=red,green,blue")
    assert boostline("train", "d.csv", "-l", "warm,cold", *categories, *OPTIONS).code == 0
    return bl.load(tmp_path / "m.blm")


def test_a_new_category_in_csv_is_missing_counted_and_told(coloured, boostline, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n1,red\n2,purple\n3,\n4,purple\n5,pink\n")
    done = boostline("rank", "m.blm", "new.csv", "--json")
    assert done.code == 0, done.err
    assert done.err == (
        "new.csv has 3 values that the model has never seen, taken as missing: "
        "colour=purple (2 times), colour=pink (once)\n"
    )
    X = np.array([[1, 0, 0, 1], *([NAN, NAN, NAN, size] for size in (2, 3, 4, 5))])
    expected = np.sort(coloured.score(X), axis=1)[:, ::-1]
    assert [line["scores"] for line in done.lines] == expected.tolist()
    refused = boostline("rank", "m.blm", "new.csv", "--unseen", "error")
    assert (refused.code, "new.csv:3: the column 'colour' has 'purple'" in refused.err) == (1, True)


def test_what_is_known_is_not_told(coloured, boostline, tmp_path):
    (tmp_path / "new.csv").write_text("size,colour\n1,red\n")
    assert boostline("rank", "m.blm", "new.csv").err == ""


@pytest.mark.parametrize("sparse", [False, True])
def test_values_of_an_arff_file_are_matched_by_name(sparse, coloured, boostline, tmp_path):
    """Its own domain: one value fewer than the model knows, one more, in another order."""
    rows = ["{0 1, 1 blue}", "{0 2}", "{0 3, 1 red}"] if sparse else ["1,blue", "2,purple", "3,red"]
    head = "@relation r\n@attribute size numeric\n@attribute colour {purple,blue,red}\n@data\n"
    (tmp_path / "new.arff").write_text(head + "\n".join(rows) + "\n")
    done = boostline("rank", "m.blm", "new.arff", "--json")
    assert done.code == 0, done.err
    # red, green, blue, size
    X = np.array([[0, 0, 1, 1], [NAN, NAN, NAN, 2], [1, 0, 0, 3]])
    expected = np.sort(coloured.score(X), axis=1)[:, ::-1]
    assert [line["scores"] for line in done.lines] == expected.tolist()
    assert "colour=purple (once)" in done.err
    refused = boostline("rank", "m.blm", "new.arff", "--unseen", "error")
    assert (refused.code, "new.arff:6: the column 'colour' has 'purple', " in refused.err) == (
        1,
        True,
    )


def test_json_lines_need_no_labels_and_may_have_new_words(boostline, tmp_path):
    (tmp_path / "d.jsonl").write_text(
        '{"features": {"sun": 1, "sky": "blue"}, "labels": ["warm"]}\n'
        '{"features": {"ice": 2, "sky": "grey"}, "labels": ["cold"]}\n' * 20
    )
    assert boostline("train", "d.jsonl", *OPTIONS).code == 0
    (tmp_path / "new.jsonl").write_text(
        '{"features": {"sun": 1}}\n'
        '{"features": {"ice": 1, "wind": 3, "sky": "green"}, "labels": ["windy"]}\n'
    )
    done = boostline("rank", "m.blm", "new.jsonl", "--json")
    assert done.code == 0, done.err
    model = bl.load(tmp_path / "m.blm")
    assert model.features == ["sun", "sky=blue", "ice", "sky=grey"]
    X = np.array([[1, 0, 0, 0], [0, NAN, 1, NAN]])
    assert [line["scores"] for line in done.lines] == np.sort(model.score(X))[:, ::-1].tolist()
    assert "has 2 values that the model has never seen" in done.err
    piped = boostline(
        "rank", "m.blm", "-", "--format", "jsonl", "--json", input=b'{"features": {}}\n'
    )
    assert (piped.code, len(piped.lines)) == (0, 1), piped.err
    refused = boostline("rank", "m.blm", "new.jsonl", "--unseen", "error")
    assert (refused.code, "new.jsonl:2: the row has the feature 'wind'" in refused.err) == (1, True)


def test_svmlight_needs_no_labels_and_may_have_new_features(boostline, tmp_path):
    (tmp_path / "d.svm").write_text("0 1:1\n1 2:1\n" * 20)
    assert boostline("train", "d.svm", *OPTIONS).code == 0
    (tmp_path / "new.svm").write_text("1:1\n5 2:1 9:1\n")
    done = boostline("rank", "m.blm", "new.svm", "--json", "--top", "1")
    assert [line["labels"] for line in done.lines] == [["0"], ["1"]], done.err
    assert "has 1 values" not in done.err and "has 1 value that" in done.err
