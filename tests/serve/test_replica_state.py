"""A state is a function of the log: loaded and brought forward it has the bytes of one that never stopped."""

from __future__ import annotations

import json

import numpy as np
import pytest
from serving import LABELS, features, label

import boostline as bl
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.store.log import Event


def told(offset, i=None, kind="feedback", **body):
    if kind == "feedback":
        body = {
            "revision": 1,
            "learn": True,
            "features": features(i),
            "relevant": [label(i)],
            **body,
        }
    return Event(offset, float(offset), kind, str(i), None, json.dumps(body).encode())


def state(**options):
    return ReplicaState("first", bl.LabelRanker(labels=LABELS, **options))


def bytes_of(one, tmp_path):
    path = tmp_path / "state.blm"
    one.save(path)
    return path.read_bytes()


EVENTS = [
    *(told(i + 1, i) for i in range(40)),
    told(41, kind="labels", add=["snow"], rename={"rain": "drizzle"}, retire=["wind"]),
    *(told(i + 1, i, relevant=["snow"], unknown=["sun"]) for i in range(41, 50)),
    told(51, 50, relevant=["hail"], irrelevant=["snow"], add=["hail"]),
    told(52, 51, features={"f0": 1.0, "new": 3, "shape": "round", "none": None, "yes": True}),
]


def apply(one, events):
    for event in events:
        one.apply(event, lambda offset: None)


@pytest.mark.gate
@pytest.mark.parametrize("at", [0, 30, 41, 51])
def test_load_and_go_on_is_never_stopped(tmp_path, at):
    whole = state()
    apply(whole, EVENTS)
    half = state()
    apply(half, EVENTS[:at])
    half.save(tmp_path / "half.blm")
    loaded = ReplicaState.load(tmp_path / "half.blm")
    twin = half.frozen()
    apply(half, EVENTS[at:])  # the copy stands still meanwhile
    assert bytes_of(twin, tmp_path) == (tmp_path / "half.blm").read_bytes()
    apply(loaded, EVENTS[at:])
    assert bytes_of(loaded, tmp_path) == bytes_of(whole, tmp_path) == bytes_of(half, tmp_path)


def test_labels_are_added_renamed_and_retired_in_log_order():
    one = state()
    apply(one, EVENTS)
    assert one.model.labels == one.labels.names == ["sun", "drizzle", "wind", "snow", "hail"]
    assert one.labels.active.tolist() == [0, 1, 3, 4]
    assert one.model.clock == 51


def test_what_is_not_to_be_learned_is_not():
    one = state()
    apply(one, [told(1, 0), told(2, 0, learn=False), told(3, 0, erased=True)])
    assert one.model.clock == 1
    assert one.offset == 3


def test_the_ranking_before_the_first_row_is_cold_and_changes_nothing(tmp_path):
    one = state()
    before = bytes_of(one, tmp_path)
    scores, probabilities = one.rank({"a": 1.0})
    assert one.is_cold and not scores.any()
    assert (probabilities == 0.5).all()
    assert bytes_of(one, tmp_path) == before


def test_features_that_do_not_fit_are_refused_and_learning_goes_on():
    one = state()
    refused = []
    one.on_refused = lambda offset, reason: refused.append((offset, reason))
    apply(
        one,
        [
            told(1, 0, features=[1.0, 2.0]),
            told(2, 1, features=[1.0]),
            told(3, 2, features=[3.0, None]),
        ],
    )
    assert refused == [(2, "features has 1 values, but must have 2, as learned before")]
    assert one.model.clock == 2


def test_words_of_a_category_are_features_of_their_own():
    one = state()
    apply(one, EVENTS[:30])
    names = one.features.names
    assert sorted(names) == ["colour=blue", "colour=green", "colour=red", "f0", "f1"]
    row = one.features.row({"f1": 0.25, "colour": "green", "unheard": 5.0})
    assert row[names.index("f1")] == 0.25 and np.isnan(row[names.index("f0")])
    assert [row[names.index(f"colour={c}")] for c in ("red", "green", "blue")] == [0, 1, 0]


def test_text_is_learned_too(tmp_path):
    one = state()
    texts = ["sun and heat", "rain and clouds", "wind and storm"]
    events = [told(i + 1, i, features=None, text=texts[i % 3]) for i in range(90)]
    apply(one, events[:60])
    assert [int(np.argmax(one.rank(text)[0])) for text in texts] == [0, 1, 2]
    row = one.features.row("Sun, sun")
    assert one.features.words("Sun, sun") == {int(row.native[1][0]): "sun"}
    # Words are counted, and so part of what is saved.
    one.save(tmp_path / "state.blm")
    twin, still = ReplicaState.load(tmp_path / "state.blm"), one.frozen()
    before = still.rank(texts[0])[0]
    for other in (one, twin):
        apply(other, events[60:])
    np.testing.assert_array_equal(one.rank(texts[0])[0], twin.rank(texts[0])[0])
    np.testing.assert_array_equal(still.rank(texts[0])[0], before)


def test_windows_have_the_losses_of_the_metrics():
    """The losses of the first window are those of `learn`'s scores and of the scores that were served."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4)).tolist()
    served = rng.normal(size=(100, 3)).astype(np.float32)
    relevant = [{LABELS[i % 3], LABELS[i % 2]} for i in range(100)]
    rankings = [
        Event(
            i + 1,
            float(i),
            "rank",
            str(i),
            None,
            json.dumps({"features": X[i]}).encode(),
            b"{}",
            served[i].tobytes(),
        )
        for i in range(100)
    ]
    one = state(seed=3)
    windows = []
    one.on_window = lambda number, figures: windows.append(figures)
    for i in range(100):
        body = {"revision": 1, "learn": True, "relevant": sorted(relevant[i])}
        event = Event(101 + i, 100.0 + 2 * i, "feedback", str(i), i + 1, json.dumps(body).encode())
        one.apply(event, lambda offset: rankings[offset - 1])
    model = bl.LabelRanker(labels=LABELS, seed=3)
    scores = model.learn(np.array(X), relevant)
    Y = np.array([[name in one for name in LABELS] for one in relevant])
    (window,) = windows
    assert window["rank_loss"] == pytest.approx(bl.metrics.rank_loss(Y, scores))
    assert window["served"]["rank_loss"] == pytest.approx(bl.metrics.rank_loss(Y, served))
    assert window["precision@1"] == pytest.approx(bl.metrics.precision_at(Y, scores, 1))
    assert window["delay_median"] == pytest.approx(np.median(100.0 + np.arange(100)))
    assert window["labels"]["relevant"] == Y.sum(axis=0).tolist()


@pytest.mark.gate
def test_probabilities_become_those_of_the_stream():
    """Of what is said to be relevant with probability p, a share of about p is."""
    rng = np.random.default_rng(1)
    one = state()
    said, was = [], []
    for i in range(900):
        x = rng.normal(size=3)
        truth = [n for n, v in zip(LABELS, x, strict=True) if v + rng.normal(scale=0.7) > 0.3]
        if i >= 400:
            said += one.rank(x.tolist())[1].tolist()
            was += [name in truth for name in LABELS]
        apply(one, [told(i + 1, i, features=x.tolist(), relevant=truth)])
    said, was = np.array(said), np.array(was)
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (said >= low) & (said < low + 0.25)
        assert inside.sum() > 30
        assert abs(said[inside].mean() - was[inside].mean()) < 0.12
