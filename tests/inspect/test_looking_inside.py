"""What `boostline.inspect` says, against brute force and the model's own scores."""

import re

import numpy as np
import pytest
from sklearn.metrics import label_ranking_loss

import boostline as bl
from boostline import inspect as look
from boostline import saving
from boostline.inspect.label_rows import worst_first
from boostline.inspect.summaries import summary_in_words


@pytest.fixture(
    params=["draw", "weighted", "best", "last", "online_bmr", "label_ranker"],
)
def model(request, stream):
    X, Y = stream
    trees = bl.learners.paper_trees(12, n_covariates=3)
    if request.param == "online_bmr":
        model = bl.OnlineBMR(5, learners=trees, edge=0.1)
    elif request.param == "label_ranker":
        model = bl.LabelRanker(5, learners=trees, seed=3)
    else:
        model = bl.AdaOLMR(5, learners=trees, expert=request.param, seed=3)
    model.learn(X, Y)
    return model


def test_the_shares_add_up_to_the_score(model, stream):
    X, Y = stream
    for t, x in enumerate(X[:25]):
        scores = model.score(x)
        lifts = []
        for label in range(5):
            why = look.explain(model, x, label)
            assert why.score == scores[label]
            assert why.shares.sum() == pytest.approx(scores[label], abs=1e-12)
            assert why.rank == 1 + sum(
                (s, -j) > (scores[label], -label) for j, s in enumerate(scores)
            )
            lifts.append(why.lifts)
        np.testing.assert_allclose(np.sum(lifts, axis=0), 0, atol=1e-12)
        model.learn(x, Y[t])  # the next expert may be another


def test_learners_that_are_not_followed_have_no_share(stream):
    X, Y = stream
    model = bl.AdaOLMR(5, learners=bl.learners.paper_trees(12), expert="draw", seed=3)
    followed = set()
    for x, y in zip(X[:60], Y[:60], strict=True):
        shares = look.explain(model, x, 0).shares
        assert (shares[model.diagnostics.followed :] == 0).all()
        followed.add(model.diagnostics.followed)
        model.learn(x, y)
    assert len(followed) > 3  # the draw has moved about


def test_listened_is_the_probability_of_being_followed(stream):
    X, Y = stream
    model = bl.AdaOLMR(5, learners=bl.learners.paper_trees(6), expert="draw")
    model.learn(X[:40], Y[:40])
    p = model.diagnostics.expert_weights
    expected = [sum(p[j] for j in range(i, 6)) for i in range(6)]
    np.testing.assert_allclose(look.listened(model), expected)


def test_the_table_of_learners_is_the_models(model):
    rows = look.learners(model)
    edges = [None] * 12 if is_label_ranker(model) else model.edges().tolist()
    assert [r.edge for r in rows] == edges
    assert sum(r.importance for r in rows) == pytest.approx(1.0)
    arrays = model.state()["arrays"]
    for row in rows:
        n_nodes = len(arrays[f"learners.{row.index}.node_left"])
        assert row.nodes == n_nodes
        assert row.depth <= n_nodes // 2


def is_label_ranker(model):
    return isinstance(model, bl.LabelRanker)


def test_a_weight_is_the_factor_of_the_votes(model, stream):
    if is_label_ranker(model):
        pytest.skip("its votes take part at two temperatures: contributions are its test")
    X, _ = stream
    weights = np.array([row.weight for row in look.learners(model)])
    followed = weights.copy()
    if getattr(model, "expert", "last") == "weighted":
        followed *= look.listened(model)
    else:
        followed[getattr(model.diagnostics, "followed", 12) :] = 0
    np.testing.assert_allclose(followed @ model.votes(X[0]), model.score(X[0]), atol=1e-12)


def test_weight_is_one_quantity_in_tables_and_along_the_stream(model):
    recorder = look.Recorder()
    recorder.record(model)
    rows = look.learners(model)
    assert recorder.history.weights[-1].tolist() == [row.weight for row in rows]
    raw = [abs(r.weight) * r.listened for r in rows]
    np.testing.assert_allclose([row.importance for row in rows], np.array(raw) / sum(raw))


def test_splits_are_counted_by_feature(model):
    counts = np.zeros(6, dtype=int)
    for i in range(12):
        features = model.config()["resolved"][i]["features"]
        for c in model.state()["arrays"][f"learners.{i}.node_covariate"]:
            if c >= 0:
                counts[features[c]] += 1
    rows = look.feature_splits(model, list("uvwxyz"))
    assert {r.feature: r.splits for r in rows} == dict(enumerate(counts))
    assert {r.name for r in rows} == set("uvwxyz")
    assert max(r.trees for r in rows) <= 12
    assert sum(r.importance for r in rows) <= 1 + 1e-12
    with pytest.raises(ValueError, match="names has 2 names"):
        look.feature_splits(model, ["a", "b"])


def test_bad_questions_are_refused(stream):
    X, Y = stream
    model = bl.AdaOLMR(labels=list("abcde"), learners=bl.learners.paper_trees(2))
    model.learn(X, Y)
    with pytest.raises(
        ValueError, match="label is 'z', but labels must be those of the model: 'a', 'b'"
    ):
        look.explain(model, X[0], "z")
    with pytest.raises(ValueError, match="x has 2 rows"):
        look.explain(model, X[:2], "a")
    assert look.explain(model, X[0], "c").label == look.explain(model, X[0], 2).label == 2


# Labels.


def brute_force(scores, relevant, known=None):
    """Means per label, pair by pair."""
    k = scores.shape[1]
    missed, false_alarms, place = ([[] for _ in range(k)] for _ in range(3))
    for i, (s, y) in enumerate(zip(scores, relevant, strict=True)):
        mask = np.ones(k, bool) if known is None else known[i]
        yes, no = np.flatnonzero(y & mask), np.flatnonzero(~y & mask)
        if not len(yes) or not len(no):
            continue
        for a in yes:
            missed[a].append(np.mean([(s[b] > s[a]) + 0.5 * (s[b] == s[a]) for b in no]))
            others = [b for b in np.flatnonzero(mask) if b != a]
            place[a].append(1 + sum((s[b] > s[a]) + 0.5 * (s[b] == s[a]) for b in others))
        for b in no:
            false_alarms[b].append(np.mean([(s[b] > s[a]) + 0.5 * (s[b] == s[a]) for a in yes]))
    return [
        [np.mean(c) if c else np.nan for c in column] for column in (missed, false_alarms, place)
    ]


@pytest.mark.parametrize("partly", [False, True])
def test_the_table_of_labels_against_brute_force(partly):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, size=(300, 7)).astype(float)  # many ties
    Y = rng.random((300, 7)) < [0.5, 0.2, 0.9, 0.0, 1.0, 0.3, 0.3]
    known = rng.random((300, 7)) < 0.7 if partly else None
    if known is not None:
        Y &= known
    losses = look.LabelLosses(7)
    for start in range(0, 300, 41):
        part = slice(start, start + 41)
        losses.update(scores[part], Y[part], None if known is None else ~known[part])
    rows = losses.table()
    missed, false_alarms, place = brute_force(scores, Y, known)
    np.testing.assert_allclose([r.missed for r in rows], missed)
    np.testing.assert_allclose([r.false_alarms for r in rows], false_alarms)
    np.testing.assert_allclose([r.rank for r in rows], place)
    assert np.isnan(rows[3].missed) and rows[3].to_dict()["missed"] is None
    ordered = look.labels(scores, Y, list("abcdefg"), None if known is None else ~known)
    assert ordered[-1].name == "d"  # never relevant
    values = [r.missed for r in ordered[:-1]]
    assert values == sorted(values, reverse=True)


def test_with_one_relevant_label_a_row_the_labels_make_up_scikit_learns_loss():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(200, 6))  # no ties, which scikit-learn counts in full
    Y = np.eye(6, dtype=bool)[rng.integers(0, 6, 200)]
    rows = look.labels(scores, Y)
    total = sum(r.missed * r.relevant for r in rows) / 200
    assert total == pytest.approx(label_ranking_loss(Y, scores))


def test_bad_shapes_are_refused():
    with pytest.raises(ValueError, match=r"relevant is an array of shape \(2, 4\), but"):
        look.LabelLosses(3).update(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"scores has shape .*, but must have 3 columns"):
        look.LabelLosses(3).update(np.zeros((2, 4)), np.zeros((2, 4)))


def test_names_of_the_model_are_used(stream):
    X, Y = stream
    names = list("pqrstu")
    model = bl.AdaOLMR(5, learners=bl.learners.paper_trees(3), seed=1)
    model.learn(X, Y)
    plain = look.feature_splits(model, names)
    model.features = names
    assert look.feature_splits(model) == plain


# Along the stream.


def test_a_recorder_keeps_a_bounded_even_history(stream):
    X, Y = stream
    model = bl.AdaOLMR(5, learners=bl.learners.paper_trees(3))
    recorder = look.Recorder(points=20)
    for x, y in zip(X, Y, strict=True):
        scores = model.learn(x, y)
        recorder.record(model, scores, y)
        assert len(recorder.history) < 40
    history = recorder.history
    assert history.clock[0] == 1 and history.clock[-1] > 280
    assert history.weights.shape == (len(history), 3)
    assert set(np.diff(history.clock[1:])) == {8}  # the least power of 2 that leaves fewer than 40
    assert history.mean_loss[-1] == pytest.approx(history.loss[-1] / history.ranked[-1])
    total = np.nansum(history.recent_loss * np.diff(history.ranked, prepend=0))
    assert total == pytest.approx(history.loss[-1])
    expected = bl.AdaOLMR(5, learners=bl.learners.paper_trees(3))
    expected.learn(X[: history.clock[-1]], Y[: history.clock[-1]])
    np.testing.assert_array_equal(history.weights[-1], expected.learner_weights)
    assert history.loss[-1] == expected.suffered_loss


def test_a_recorder_goes_on_where_it_was_saved(stream, tmp_path):
    X, Y = stream
    histories = []
    for stop in (False, True):
        model = bl.AdaOLMR(5, learners=bl.learners.paper_trees(3))
        recorder = look.Recorder(points=10)
        for start in range(0, 300, 10):
            part = slice(start, start + 10)
            recorder.record(model, model.learn(X[part], Y[part]), Y[part])
            if stop and start == 150:
                saving.save(model, tmp_path / "m.blm", {"history": recorder.state()})
                model, extra = saving.load_with_extra(tmp_path / "m.blm")
                recorder = look.Recorder.from_state(extra["history"])
        histories.append(recorder.state())
    assert histories[0].keys() == histories[1].keys()
    for name, value in histories[0].items():
        np.testing.assert_array_equal(value, histories[1][name], err_msg=name)


def test_an_empty_recorder_can_be_saved_and_read():
    recorder = look.Recorder.from_state(look.Recorder().state())
    assert len(recorder.history) == 0


# The page.


@pytest.mark.gate
def test_the_page_escapes_what_it_is_given(stream):
    pytest.importorskip("matplotlib")
    X, Y = stream
    names = ["<script>alert(1)</script>", "$x_{$", "a & b", "日本", "long" * 30]
    model = bl.AdaOLMR(labels=names, learners=bl.learners.paper_trees(4))
    recorder = look.Recorder()
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        recorder.record(model, model.learn(X[part], Y[part]), Y[part])
    page = look.html_report(
        model,
        title="<b>",
        features=["<i>", "$", "c", "d", "e", "f"],
        history=recorder.history,
        labels=recorder.labels.table(names),
        why=look.explain(model, X[0], names[0]),
    )
    assert "<script>" not in page and "<b>" not in page and "<i>" not in page
    assert page.count("<picture>") == 4
    assert "&lt;script&gt;" in page


def report_of(model, **parts):
    pytest.importorskip("matplotlib")
    return re.sub(r"<style>.*?</style>", " ", look.html_report(model, **parts), flags=re.S)


def test_a_mixture_has_no_edges(stream):
    X, Y = stream
    model = bl.LabelRanker(5)
    model.learn(X, Y)
    assert "edge" not in " ".join(key for key, _ in summary_in_words(model))
    page = report_of(model)
    assert "dge" not in page.replace("edge-", "")
    assert "rank loss alone" in page
    assert "Edge: advantage" in report_of(bl.OnlineBMR(5, learners=bl.learners.paper_trees(2)))


def test_labels_with_few_rows_are_not_the_worst():
    relevant = [9, 10, 400, 1, 0]
    missed = [0.9, 0.2, 0.1, 1.0, np.nan]
    rows = [
        look.LabelRow(i, f"label{i}", n, m, 0.1, 2.0)
        for i, (n, m) in enumerate(zip(relevant, missed, strict=True))
    ]
    assert [row.label for row in worst_first(rows)] == [1, 2, 3, 0, 4]
    page = report_of(bl.LabelRanker(5), labels=rows)
    assert "label1" in page and "label0" not in page and "label3" not in page
    assert "Not shown: 3 labels with fewer than 10 relevant rows" in page


def test_the_page_stays_short(stream):
    X, _ = stream
    Y = np.random.default_rng(0).random((300, 600)) < 0.1
    model = bl.LabelRanker(600, learners=[bl.learners.Linear()])
    recorder = look.Recorder()
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        recorder.record(model, model.learn(X[part], Y[part]), Y[part])
    page = report_of(
        model,
        history=recorder.history,
        labels=recorder.labels.table(),
        why=look.explain(model, X[0], 1),
    )
    # One learner: its weight is a flat line, and charts of learners would have one bar.
    assert page.count("<picture>") == 1
    assert page.count("<tr>") < 60
    assert "more rows are left out" in page


@pytest.mark.gate
def test_a_model_that_has_not_learned_can_be_looked_at():
    pytest.importorskip("matplotlib")
    model = bl.OnlineBMR(3, learners=bl.learners.paper_trees(4))
    assert look.summary(model)["clock"] == 0
    assert [row.nodes for row in look.learners(model)] == [None] * 4
    assert look.feature_splits(model) == []
    assert "<h2>Learners</h2>" in look.html_report(model)


def test_learners_of_all_kinds_are_shown(stream):
    X, Y = stream

    class Uniform:
        def predict(self, x):
            return np.full(5, 0.2)

        def learn(self, x, relevant, costs, weight):
            pass

    model = bl.AdaOLMR(5, learners=[Uniform(), bl.learners.paper_trees(2)], expert="last")
    model.learn(X, Y)
    assert [row.kind for row in look.learners(model)] == ["Uniform"] + ["hoeffding_tree"] * 2
    assert look.explain(model, X[0], 1).shares.sum() == pytest.approx(model.score(X[0])[1])
    assert look.summary(model)["kinds"] == {"Uniform": 1, "hoeffding_tree": 2}


# Models without trees.


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (bl.LabelRanker(3), "LabelRanker, drift restart, max bytes not set, seed 0"),
        (
            bl.OnlineBMR(3, edge=0.1, loss=bl.losses.Hinge(0.5)),
            "OnlineBMR, edge 0.1, hinge loss (margin 0.5), seed 0",
        ),
    ],
)
def test_settings_are_told_in_words(model, words):
    assert dict(summary_in_words(model))["algorithm"] == words
