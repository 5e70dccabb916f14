"""``train --append`` and ``--resume`` match columns by name, as models do with frames."""

import numpy as np
import pytest
from cli_files import FEATURES, LABELS, rows

import boostline as bl

TRAIN = ("-a", "ada_olmr", "--learners", "paper:4", "--model", "m.blm")


def write(path, X, Y, columns):
    """Columns of a csv file in the given order; those that are neither feature nor label hold text."""
    values = dict(zip([*FEATURES, *LABELS], [*X.T, *Y.T], strict=True))
    lines = [",".join(columns)]
    for i in range(len(X)):
        lines.append(",".join(str(values[c][i]) if c in values else f"text-{i}" for c in columns))
    path.write_text("\n".join(lines) + "\n")


def arrays(path):
    return bl.load(path).state()["arrays"]


def equal(one, other):
    assert one.keys() == other.keys()
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@pytest.fixture
def first(boostline, tmp_path):
    X, Y = rows(60)
    write(tmp_path / "first.csv", X, Y, ["id", *FEATURES, *LABELS])
    done = boostline("train", "first.csv", "-l", "tag_*", "--drop", "id", *TRAIN)
    assert done.code == 0, done.err
    return X, Y


@pytest.mark.parametrize("ending", ["csv", "arff", "jsonl"])
def test_append_takes_columns_in_any_order(first, boostline, tmp_path, ending):
    X, Y = rows(40, seed=1)
    mixed = [*LABELS[::-1], *FEATURES[::-1]]  # and no id: what was left out may be away
    if ending == "csv":
        write(tmp_path / "more.csv", X, Y, mixed)
    elif ending == "arff":
        write(tmp_path / "more.csv", X, Y, mixed)
        kinds = [f"@attribute {c} {'{0,1}' if c in LABELS else 'numeric'}" for c in mixed]
        body = (tmp_path / "more.csv").read_text().split("\n", 1)[1]
        (tmp_path / "more.arff").write_text("\n".join(["@relation r", *kinds, "@data", body]))
    else:
        lines = []
        for x, y in zip(X, Y, strict=True):
            features = ", ".join(
                f'"{f}": {v}' for f, v in reversed([*zip(FEATURES, x, strict=True)])
            )
            labels = ", ".join(f'"{n}"' for n, bit in zip(LABELS, y, strict=True) if bit)
            lines.append(f'{{"features": {{{features}}}, "labels": [{labels}]}}')
        (tmp_path / "more.jsonl").write_text("\n".join(lines) + "\n")
    done = boostline("train", f"more.{ending}", "--model", "m.blm", "--append", "--json")
    assert (done.code, done.json["clock"]) == (0, 100), done.err
    expected = bl.AdaOLMR(labels=LABELS, learners=bl.learners.paper_trees(4))
    expected.learn(*(np.vstack(both) for both in zip(first, (X, Y), strict=True)))
    assert equal(arrays(tmp_path / "m.blm"), expected.state()["arrays"])


def test_resume_knows_its_rows_in_another_order_of_columns(first, boostline, tmp_path):
    X, Y = (np.vstack(both) for both in zip(first, rows(40, seed=1), strict=True))
    write(tmp_path / "all.csv", X, Y, [*LABELS[::-1], "id", *FEATURES[::-1]])
    done = boostline("train", "all.csv", "--model", "m.blm", "--resume", "--json")
    assert (done.code, done.json["skipped"], done.json["rows"]) == (0, 60, 40), done.err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([*FEATURES[1:], *LABELS], "lacks the column 'f0', but"),
        (["f9", *FEATURES, *LABELS], "has the column 'f9'"),
        (["F0", *FEATURES[1:], *LABELS], "lacks the column 'f0' and has the column 'F0' (is 'f0'"),
        ([*FEATURES, *LABELS[1:]], "has no column 'tag_sport', which is named as a label"),
        ([*FEATURES, *LABELS, "tag_new"], "has the column 'tag_new'"),
    ],
)
def test_other_columns_are_refused_by_name(columns, message, first, boostline, tmp_path):
    X, Y = rows(5)
    X, Y = np.column_stack([X, X[:, :1]]), np.column_stack([Y, Y[:, :1]])
    names = [*FEATURES, "f9", *LABELS, "tag_new"]
    values = dict(zip([*names, "F0"], [*X.T, *Y.T, X[:, 0]], strict=True))
    table = [",".join(columns), *(",".join(str(values[c][i]) for c in columns) for i in range(5))]
    (tmp_path / "other.csv").write_text("\n".join(table) + "\n")
    before = (tmp_path / "m.blm").read_bytes()
    done = boostline("train", "other.csv", "--model", "m.blm", "--append")
    assert (done.code, message in done.err) == (1, True), done.err
    assert done.err.startswith("error: other.csv") and "None" not in done.err
    assert (tmp_path / "m.blm").read_bytes() == before


def test_a_model_of_the_shell_knows_its_columns_in_python(first, tmp_path):
    pandas = pytest.importorskip("pandas")
    model = bl.load(tmp_path / "m.blm")
    X, _ = rows(5, seed=3)
    frame = pandas.DataFrame(X, columns=FEATURES)[FEATURES[::-1]]
    np.testing.assert_array_equal(model.score(frame), model.score(X))


def test_a_model_saved_with_names_in_python_is_matched_by_them(boostline, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, Y = rows(60)
    model = bl.AdaOLMR(labels=LABELS, learners=bl.learners.paper_trees(4))
    model.learn(pandas.DataFrame(X, columns=FEATURES), Y)
    model.save(tmp_path / "m.blm")
    write(tmp_path / "more.csv", X, Y, [*LABELS[::-1], *FEATURES[::-1]])
    assert boostline("train", "more.csv", "--model", "m.blm", "--append").code == 0
    model.learn(X, Y)
    assert equal(arrays(tmp_path / "m.blm"), model.state()["arrays"])


def test_labels_of_svmlight_keep_their_numbers(boostline, tmp_path):
    (tmp_path / "d.svm").write_text("2 1:1\n2,7 2:1\n7 1:3\n")
    assert boostline("train", "d.svm", *TRAIN).code == 0
    (tmp_path / "more.svm").write_text("7 1:1\n")
    done = boostline("train", "more.svm", "--model", "m.blm", "--append", "--json")
    assert (done.code, done.json["clock"]) == (0, 4), done.err
    assert boostline("rank", "m.blm", "more.svm", "--json").lines[0]["labels"][0] == "7"
    (tmp_path / "other.svm").write_text("5 1:1\n")
    done = boostline("train", "other.svm", "--model", "m.blm", "--append")
    assert (done.code, "the row has the label 5, which is not one of" in done.err) == (1, True)


def test_svmlight_from_0_on_stays_so(boostline, tmp_path):
    (tmp_path / "d.svm").write_text("0 0:1\n0,1 1:1\n1 0:3\n")
    refused = boostline("train", "d.svm", *TRAIN)
    assert (refused.code, "give --zero-based" in refused.err) == (1, True), refused.err
    assert boostline("train", "d.svm", "--zero-based", *TRAIN).code == 0
    assert boostline("train", "d.svm", "--model", "m.blm", "--append").code == 0
    done = boostline("rank", "m.blm", "d.svm", "--json")
    assert (done.code, len(done.lines)) == (0, 3), done.err
