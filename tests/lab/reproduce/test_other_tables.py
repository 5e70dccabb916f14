"""`reproduce --table`: published figures beside our own, on small sets in place of the real ones."""

from __future__ import annotations

import numpy as np
import pytest

from boostline import metrics
from boostline.data import Dataset
from boostline.evaluate import row_order
from boostline.lab.reproduce import other_tables
from boostline.lab.reproduce.published import XC
from boostline.models import LabelRanker


def small(name="bibtex", n=150, k=7):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k))
    return Dataset(X, X + 0.3 * rng.normal(size=X.shape) > 0.8, n_train=100, name=name)


@pytest.fixture
def at_hand(monkeypatch):
    monkeypatch.setattr(other_tables, "available", lambda: {"bibtex": "here", "delicious": None})
    monkeypatch.setattr(other_tables, "load", lambda name, download: small(name))


def test_xc_has_the_published_figures_and_ours_by_hand(at_hand):
    made = other_tables.xc(["bibtex", "delicious", "flags"])
    assert set(made.left_out) == {"delicious", "flags"}
    text = made.table.markdown()
    assert " / ".join(f"{value:.2f}" for value in XC["Parabel"]["bibtex"]) in text
    data = small()
    order = row_order(100, 150, "shuffled", 0)
    assert order is not None
    model = LabelRanker(n_labels=7, seed=0)
    model.learn(data.X[order[:100]], data.Y[order[:100]])
    test = order[100:]
    scores = model.score(data.X[test])
    frozen = made.figures["bibtex"]["frozen"]
    assert frozen["p@3"] == pytest.approx(100 * metrics.precision_at(data.Y[test], scores, 3))
    likely = metrics.propensities(data.Y[order[:100]])
    expected = metrics.PropensityScoredPrecisionAt(5, likely).update(data.Y[test], scores).get()
    assert frozen["psp@5"] == pytest.approx(100 * expected)
    learning = model.learn(data.X[test], data.Y[test])
    found = made.figures["bibtex"]["learning"]["p@1"]
    assert found == pytest.approx(100 * metrics.precision_at(data.Y[test], learning, 1))


def test_prequential_predicts_before_it_learns(at_hand):
    made = other_tables.prequential(["bibtex", "flags"])
    data, model = small(), LabelRanker(n_labels=7, seed=0)
    named = np.zeros(data.Y.shape, bool)
    for i, (x, y) in enumerate(zip(data.X, data.Y, strict=True)):
        named[i] = model.predict(x, optimize="macro-f1")
        model.learn(x, y)
    found = made.figures["bibtex"]["macro-f1"]
    expected = metrics.F1(7).update(data.Y, named)
    assert found["macro"] == pytest.approx(expected.macro)
    assert found["example"] == pytest.approx(expected.example)
    assert ".347" in made.table.markdown()


def test_nothing_at_hand_is_said(at_hand):
    with pytest.raises(ValueError, match="none of the sets flags is at hand"):
        other_tables.xc(["flags"])


@pytest.mark.parametrize("table", other_tables.TABLES)
def test_finished_sets_are_kept_and_rows_counted(at_hand, monkeypatch, tmp_path, table):
    make = other_tables.TABLES[table]
    seen = []
    first = make(["bibtex"], out=tmp_path, progress=lambda done, total: seen.append((done, total)))
    rows = 200 if table == "xc" else 150  # xc passes over the test rows twice
    assert seen[-1] == (rows, rows)

    class Refused:
        def __init__(self, **settings):
            raise AssertionError("a finished set is made again")

    with monkeypatch.context() as patch:
        patch.setattr(other_tables, "LabelRanker", Refused)
        assert make(["bibtex"], out=tmp_path) == first
        with pytest.raises(AssertionError, match="made again"):
            make(["bibtex"], out=tmp_path, fresh=True)
        patch.setattr(other_tables, "load", lambda name, download: small(name, n=140))
        with pytest.raises(AssertionError, match="made again"):  # other rows
            make(["bibtex"], out=tmp_path)


def test_ctrl_c_keeps_what_is_finished(monkeypatch, tmp_path):
    monkeypatch.setattr(other_tables, "available", lambda: {"bibtex": "here", "yeast": "here"})
    monkeypatch.setattr(other_tables, "load", lambda name, download: small(name))
    counted = []

    def stop_in_the_second(done, total):
        counted.append(done)
        if counted.count(1) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other_tables.prequential(["bibtex", "yeast"], out=tmp_path, progress=stop_in_the_second)
    assert [path.name.split("-")[1] for path in (tmp_path / "tables").iterdir()] == ["bibtex"]
