"""The named sets are the paper's: figures of Table 2, MULAN's files and splits."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io.arff
import scipy.sparse

from boostline import data
from boostline.data import DownloadError
from boostline.data.named_sets import NAMED_SETS
from boostline.data.river_yeast import find_river_yeast, load_river_yeast

# name: train, test, features, labels, |Y| min, mean, max, rows without label train, test.
# The paper's Table 2 and the README of the data (measured with other software).
TABLE = {
    "emotions": (391, 202, 72, 6, 1, 1.8685, 3, 0, 0),
    "scene": (1211, 1196, 294, 6, 1, 1.0740, 3, 0, 0),
    "yeast": (1500, 917, 103, 14, 1, 4.2371, 11, 0, 0),
    "mediamill": (30993, 12914, 120, 101, 0, 4.3756, 18, 1189, 541),
    "m-reduced": (1500, 500, 120, 101, 0, 4.3940, 13, 53, 22),
    "enron": (1123, 579, 1001, 53, 1, 3.3784, 12, 0, 0),
    "bibtex": (4880, 2515, 1836, 159, 1, 2.4019, 28, 0, 0),
    "delicious": (12920, 3185, 500, 983, 0, 19.0200, 25, 10, 4),
}


@pytest.mark.gate
@pytest.mark.parametrize("name", TABLE)
def test_figures_are_those_of_table_2(name: str, shared_data: Path) -> None:
    loaded = data.load(name)
    figures = loaded.describe()
    assert (
        figures.n_train,
        figures.n_test,
        figures.n_features,
        figures.n_labels,
        figures.min_relevant,
        round(figures.mean_relevant, 4),
        figures.max_relevant,
        figures.empty_train,
        figures.empty_test,
    ) == TABLE[name]
    assert figures.full_rows == 0 and figures.missing == 0
    assert loaded.Y.dtype == np.bool_ and loaded.X.dtype == np.float64
    assert scipy.sparse.issparse(loaded.X) == (name in ("enron", "bibtex", "delicious"))
    assert list(NAMED_SETS) == list(TABLE)


@pytest.mark.parametrize("name", ["emotions", "yeast"])
def test_values_are_those_scipy_reads(name: str, shared_data: Path) -> None:
    with gzip.open(shared_data / name / f"{name}-train.arff.gz", "rt") as file:
        table, meta = scipy.io.arff.loadarff(file)
    loaded = data.load(name).train
    X = np.array([table[feature] for feature in loaded.features]).T
    Y = np.array([table[label] == b"1" for label in loaded.labels]).T
    assert np.array_equal(loaded.X, X) and np.array_equal(loaded.Y, Y)
    # The xml of yeast lists the labels in another order: the arff's columns decide.
    assert loaded.features + loaded.labels == meta.names()


def test_sparse_rows_are_those_of_the_file(shared_data: Path) -> None:
    loaded = data.load("enron")
    with gzip.open(shared_data / "enron" / "enron-train.arff.gz", "rt") as file:
        lines = file.read().splitlines()
    rows = lines[lines.index("@data") + 1 :]
    names = [line.split()[1] for line in lines if line.startswith("@attribute")]
    for number in (0, 1, 500, 1122):
        given = {names[int(pair.split()[0])] for pair in rows[number].strip("{}").split(",")}
        row = loaded.X[number]
        seen = {loaded.features[column] for column in row.indices}
        seen |= {loaded.labels[column] for column in np.flatnonzero(loaded.Y[number])}
        assert seen == given and set(row.data) == {1.0}


@pytest.mark.gate
def test_mediamill_train_loads_in_under_two_seconds(shared_data: Path) -> None:
    took = []
    for _ in range(3):
        start = time.process_time()
        loaded = data.load(shared_data / "mediamill" / "mediamill-train.arff.gz")
        took.append(time.process_time() - start)
    assert len(loaded) == 30993
    assert min(took) < 2.0


def test_yeast_from_river_is_mulans(shared_data: Path) -> None:
    wheel = find_river_yeast()
    if wheel is None:
        pytest.skip("river 0.26 or later is not installed")
    river, mulan = load_river_yeast(wheel), data.load("yeast")
    assert np.array_equal(river.X, mulan.X) and np.array_equal(river.Y, mulan.Y)
    assert river.n_train == mulan.n_train
    assert (river.features, river.labels) == (mulan.features, mulan.labels)


def test_another_yeast_in_rivers_wheel_is_refused(tmp_path: Path) -> None:
    wheel = find_river_yeast()
    if wheel is None:
        pytest.skip("river 0.26 or later is not installed")
    with gzip.open(wheel, "rt") as file:
        lines = file.read().splitlines()
    (tmp_path / "a.csv").write_text("\n".join([lines[0].replace("Att7,", "Att,"), *lines[1:]]))
    with pytest.raises(data.DataError, match="does not have the columns of MULAN's yeast"):
        load_river_yeast(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("\n".join(lines[:-1]))
    with pytest.raises(data.DataError, match="has 2416 rows, not 2417"):
        load_river_yeast(tmp_path / "b.csv")


def test_yeast_needs_no_files_where_river_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if find_river_yeast() is None:
        pytest.skip("river 0.26 or later is not installed")
    monkeypatch.delenv("BOOSTLINE_DATA", raising=False)
    monkeypatch.setenv("BOOSTLINE_CACHE", str(tmp_path))
    assert data.available()["yeast"] == "river" and data.available()["scene"] is None
    assert data.load("yeast").describe().max_relevant == TABLE["yeast"][6]


def test_a_missing_set_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BOOSTLINE_DATA", raising=False)
    monkeypatch.setenv("BOOSTLINE_CACHE", str(tmp_path))
    with pytest.raises(DownloadError, match=r"emotions-train\.arff.*put them into the folder"):
        data.load("emotions", download=False)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="named sets are emotions, scene"):
        data.load("emotion")


def test_options_of_files_are_refused_for_named_sets() -> None:
    with pytest.raises(ValueError, match="labels cannot be used with the named data set 'yeast'"):
        data.load("yeast", labels=["Class1"])
