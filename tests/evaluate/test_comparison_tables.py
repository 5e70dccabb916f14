"""A comparison as a frame, Markdown, LaTeX and a picture; wrappers of scikit-learn's models."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import boostline as bl
from boostline import evaluate
from boostline.evaluate import baselines
from boostline.learners import Linear

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    data = SimpleNamespace(X=X, Y=X + 0.5 * rng.normal(size=X.shape) > 0.3, n_train=250)
    models = {
        "linear": lambda seed: bl.LabelRanker(4, learners=[Linear()], seed=seed),
        "counts_only": lambda seed: baselines.DecayedCounts(4),
    }
    return evaluate.compare(models, data, seeds=[0, 1], metrics=["rank_loss", "precision@1"])


def test_the_frame_has_every_run(result):
    frame = result.frame()
    assert len(frame) == 2 * 2 * 2
    means = frame.groupby(["model", "order"])["precision@1"].mean()
    for key in result.runs:
        assert means[key] == pytest.approx(result.mean(*key, "precision@1"))


def test_markdown_and_latex_have_the_cells_of_the_table(result):
    markdown, latex = result.markdown(), result.latex()
    assert markdown.count("\n|") == 5
    assert r"counts\_only &" in latex
    assert r"$\pm$" in latex
    assert latex.count("&") == 5 * 8  # model, order, five metrics, two times
    assert result._repr_html_() == result.html() and "<table" in result.html()
    lines = result.csv().splitlines()
    assert lines[0].startswith("model,order,seed,rank_loss,precision@1,micro_f1")
    assert len(lines) == 1 + 8
    figure = f"{result.mean('linear', 'file'):.4f}"
    assert figure in markdown and figure in latex


def test_the_picture_is_drawn(result, tmp_path):
    pytest.importorskip("matplotlib")
    result.plot(tmp_path / "compared.svg")
    assert (
        "counts_only" in (tmp_path / "compared.svg").read_text()
        or (tmp_path / "compared.svg").stat().st_size > 1000
    )


def test_the_same_rows_are_compared(result):
    run = result.runs["linear", "shuffled"][0]
    assert run.values["rank_loss"].mean() == pytest.approx(run.rank_loss)
    pair = [result.runs[m, "shuffled"][0].values["rank_loss"] for m in ("linear", "counts_only")]
    assert stats.wilcoxon(*pair).pvalue < 0.001


def test_models_of_scikit_learn_are_peers():
    neural = pytest.importorskip("sklearn.neural_network")
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3)) * [1, 10, 100]
    Y = X / [1, 10, 100] > 0.4
    online = evaluate.SklearnPeer(
        neural.MLPClassifier((8,), learning_rate_init=0.01, random_state=0),
        3,
        scaler=StandardScaler(),
    )
    trees = ExtraTreesClassifier(20, random_state=0)
    with pytest.raises(TypeError, match="without partial_fit, so it must be fitted"):
        evaluate.SklearnPeer(trees, 3)
    batch = evaluate.SklearnPeer(trees.fit(X[:200], Y[:200].astype(int)), 3)
    found = evaluate.prequential(
        {"online": online, "batch": batch}, zip(X[200:], Y[200:], strict=True)
    )
    assert found.runs["batch"].rank_loss < 0.1
    assert 0 < found.runs["online"].rank_loss < 0.6
    np.testing.assert_array_equal(
        batch.score(X[:5]), np.column_stack([p[:, 1] for p in trees.predict_proba(X[:5])])
    )
