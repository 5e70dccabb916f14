"""The figures that the whole command must reach; slow."""

import pytest

from boostline.lab import reproduce
from boostline.lab.reproduce import paper_tables

# A plain implementation by other people, file order, 10 to 30 seeds (the project's mathematics
# notes), and how far the mean of ten seeds may be from it.
FIGURES = {
    "emotions": (0.157, 0.157, 0.010),
    "scene": (0.084, 0.075, 0.004),
    "yeast": (0.186, 0.183, 0.004),
    "m-reduced": (0.062, 0.061, 0.004),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_small_sets_in_file_order(data_folder, name, tmp_path):
    made = reproduce.run(name, tmp_path, edges=[0.01], orders=["file"], report=False)
    ada, bmr, allowed = FIGURES[name]
    assert made.summary.cell(name, "ada_olmr", "file").mean == pytest.approx(ada, abs=allowed)
    assert made.summary.cell(name, "online_bmr", "file").mean == pytest.approx(bmr, abs=allowed)


@pytest.mark.slow
def test_mediamill_with_both_algorithms(data_folder, tmp_path):
    options = {"edges": [0.005], "orders": ["file"], "seeds": 1, "report": False}
    made = reproduce.run("mediamill", tmp_path, **options)
    assert made.summary.cell("mediamill", "ada_olmr", "file").mean == pytest.approx(
        0.048, abs=0.002
    )
    assert made.summary.cell("mediamill", "online_bmr", "file").mean == pytest.approx(
        0.047, abs=0.002
    )
    [row] = paper_tables.table2(made.summary).rows
    assert row[-1] == "yes"
    # Its key frames come in the order of the film. The counts' loss is that of eight lines of NumPy.
    counts = made.summary.cell("mediamill", "decayed_counts", "file").mean
    assert counts == pytest.approx(0.0342, abs=5e-5)
    assert made.summary.measured_by_order() == ["mediamill"]
