"""The tables of docs/file-format.md name every array that a model has."""

import re
from pathlib import Path

import numpy as np
import pytest
from committees import committee

import boostline as bl

PAGE = (Path(__file__).parents[2] / "docs" / "file-format.md").read_text(encoding="utf-8")
L = bl.learners


def sections():
    """The text about each kind of learner, and what is common to those that score labels."""
    _, _, learners = PAGE.partition("## Arrays of a learner")
    learners = learners.partition("## What loading checks")[0]
    common = re.search(r"Parts that several learners have.*?(?=\nKind )", learners, re.S)[0]
    found = dict(re.findall(r"^Kind `(\w+)`(.*?)(?=^Kind |^### |^```|\Z)", learners, re.M | re.S))
    return found, common


def is_named(name, text, common):
    """As it is, or as a part that several learners have, which the text mentions with dots."""
    if re.search(rf"`{re.escape(name)}`", text):
        return True
    head, _, last = name.rpartition(".")
    if head == "landmarks" and f"`.{last}`" in text:
        return True
    for start in ("scale_", "scale.", "row_", "covariance.", "point_"):
        if name.startswith(start) and re.search(rf"`{re.escape(start)} ?\.\.\.`", text):
            part = name.removeprefix(start) if start.startswith("scale") else name
            return re.search(rf"`{re.escape(part)}`", common) is not None
    return False


@pytest.mark.parametrize(
    "learner",
    [
        L.Recency(),
        L.Linear(),
        L.SparseLinear(),
        L.Centroids(),
        L.Ridge(),
        L.Tracker(),
        L.Kernel(64),
        L.Kernel(32),
        L.Neighbours(),
        L.HoeffdingTree(),
    ],
    ids=lambda learner: learner.kind,
)
@pytest.mark.parametrize("rows", [10, 50])
def test_every_array_is_in_its_table(learner, rows, stream):
    X, Y = stream
    model = bl.AdaOLMR(5, learners=[learner])
    model.learn(X[:rows], Y[:rows])
    texts, common = sections()
    names = [n.split(".", 2)[2] for n in model.state()["arrays"] if n.startswith("learners.")]
    assert names
    for name in names:
        assert is_named(name, texts[learner.kind], common), name


def test_every_array_of_a_booster_is_in_its_table(stream):
    X, Y = stream
    text = PAGE.partition("## Arrays of a booster")[2].partition("## Arrays of a learner")[0]
    for model in (bl.LabelRanker(5), bl.OnlineBMR(5, edge="auto")):
        model.learn(X[:40], Y[:40])
        for name in model.state()["arrays"]:
            if not name.startswith("learners."):
                part = "recent_row_..." if name.startswith("recent_row_") else name
                assert f"| `{part}` |" in text, name


def test_members_of_a_committee_have_the_arrays_of_their_kind(stream):
    X, Y = stream
    model = bl.LabelRanker(5, learners=[committee()])
    model.learn(X[:100], Y[:100])
    texts, common = sections()
    for key, array in model.state()["arrays"].items():
        if not key.startswith("learners."):
            continue
        member, _, name = key.removeprefix("learners.0.").partition(".")
        if member.startswith("recent_"):  # one of the two scorers of a window, or its age
            member = member.removeprefix("recent_")
            if name == "age":
                continue
            name = name.partition(".")[2]
        member = member.removesuffix("_2")
        text = texts.get(member, common)
        if member == "output_neighbours":
            text = texts["neighbours"]
        assert is_named(name, text, common), key
        assert array.ndim == 1
    shapes = {k.removeprefix("learners.0."): len(a) for k, a in model.state()["arrays"].items()}
    assert shapes["ridge.weights"] == (6 + 1) * 5
    assert shapes["kernel.landmarks.unit"] == 64 * 6
    assert shapes["kernel.landmarks.index"] == shapes["kernel.landmarks.value"] == 0
    n = model.clock - model.diagnostics.rows_without_pairs
    assert shapes["output_neighbours.points"] == n * 5
    assert shapes["neighbours.points"] == n * 6
    assert shapes["linear.row_targets"] == n * 5 and shapes["neighbours.row_targets"] == 0
    np.testing.assert_array_equal(model.state()["arrays"]["learners.0.ridge.stretch"], [1.0, 0.0])
