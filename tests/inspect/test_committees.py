"""What `boostline.inspect` says of committees: members have names, places and shares."""

import re

import numpy as np
import pytest
from committees import committee

import boostline as bl
from boostline import inspect as look

PARTS = ["kernel", "linear", "neighbours", "output_neighbours"]
FOLLOWERS = ["tracker", "tracker_2", "recent_kernel"]


@pytest.fixture(scope="module", params=["label_ranker", "draw", "online_bmr"])
def default(request):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 6))
    Y = X[:, :5] > 0.5
    if request.param == "online_bmr":
        model = bl.OnlineBMR(5, edge="auto", learners=bl.learners.auto_mix())
    elif request.param == "draw":
        model = bl.AdaOLMR(5, learners=bl.learners.auto_mix())
    else:
        model = bl.LabelRanker(5)
    model.learn(X, Y)
    return model, X, Y


def test_members_of_a_committee_are_named(default):
    model, _, _ = default
    rows = look.learners(model)
    assert [row.kind for row in rows] == [*PARTS, *FOLLOWERS, *["recency"] * 3]
    assert rows[3].name == "output neighbours" and rows[8].name == "recency, decay 0.9"
    assert all(row.nodes is None for row in rows)
    assert sum(row.importance for row in rows) == pytest.approx(1.0)
    assert rows[0].to_dict()["kind"] == "kernel"
    kinds = look.summary(model)["kinds"]
    assert kinds == {**dict.fromkeys([*PARTS, *FOLLOWERS], 1), "recency": 3}
    assert look.summary(model)["learners"] == sum(kinds.values()) == 10


def test_a_committee_for_many_features_has_fewer_members():
    model = bl.LabelRanker(3)
    assert [row.kind for row in look.learners(model)][:4] == PARTS  # before it knows
    model.learn(np.zeros(600), {0})
    found = [row.kind for row in look.learners(model)]
    few = ["kernel", "linear", "output_neighbours", "recent_kernel"]
    assert found[:6] == [*few, "sparse_linear", "centroids"] and len(found) == 9


def test_shares_of_a_committee_add_up_to_the_score(default):
    model, X, _ = default
    for x in X[:10]:
        for label in range(5):
            why = look.explain(model, x, label)
            assert why.shares.sum() == pytest.approx(model.score(x)[label], abs=1e-12)
    assert why.names[3] == "output neighbours"
    assert why.to_dict()["learners"] == why.names


def test_only_trees_split_features(default):
    model, _, _ = default
    assert look.feature_splits(model, list("uvwxyz")) == []
    with pytest.raises(ValueError, match="names has 1 names"):
        look.feature_splits(model, ["u"])


@pytest.mark.gate
def test_the_page_of_a_model_without_trees(default):
    pytest.importorskip("matplotlib")
    model, X, Y = default
    recorder = look.Recorder()
    for _ in range(3):
        recorder.record(model, model.learn(X, Y), Y)
    page = look.html_report(
        model, history=recorder.history, why=look.explain(model, X[0], 1), features=list("uvwxyz")
    )
    assert "output neighbours" in page and "recency, decay 0.5" in page
    assert "<h2>Features</h2>" not in page
    words = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S)
    assert "_" not in words  # words, not the keys of `summary`
    assert re.search(r"memory\s+[\d.]+ [kM]B", words)
    assert page.count("<picture>") == 4


def test_trees_beside_a_committee_keep_their_places(stream):
    X, Y = stream
    model = bl.AdaOLMR(5, learners=[committee(), bl.learners.paper_trees(2)])
    model.learn(X, Y)
    rows = look.learners(model)
    assert [row.nodes is None for row in rows] == [True] * 9 + [False] * 2
    nodes = [len(model.state()["arrays"][f"learners.{i}.node_left"]) for i in (1, 2)]
    assert [row.nodes for row in rows[9:]] == nodes
    assert sum(row.splits for row in look.feature_splits(model)) > 0
