"""A label that is missing in a file is unknown, as NaN is everywhere, also to the shell; wherever blocks are cut."""

from __future__ import annotations

import io

import numpy as np
import pytest
from scipy import sparse

import boostline as bl
from boostline.cli import main
from boostline.data import Dataset
from boostline.data.fingerprint import Fingerprint

nan = np.nan
WANTED = np.array([[1, 0, nan], [nan, 1, 0], [0, 1, 1], [1, 1, 0]], dtype=float)
X = np.array([[0.5], [1.5], [2.5], [3.5]])
ARFF = "@relation r\n@attribute x real\n" + "".join(f"@attribute {n} {{0,1}}\n" for n in "abc")
FILES = {
    "f.csv": "x,a,b,c\n0.5,1,0,\n1.5,?,true,0\n2.5,0,1,1\n3.5,1,1,0\n",
    "f.arff": ARFF + "@data\n0.5,1,0,?\n1.5,?,1,0\n2.5,0,1,1\n3.5,1,1,0\n",
    "g.arff": ARFF + "@data\n{0 0.5,1 1,3 ?}\n{0 1.5,1 ?,2 1}\n{0 2.5,2 1,3 1}\n{0 3.5,1 1,2 1}\n",
    "f.jsonl": '{"features": {"x": 0.5}, "labels": {"a": true, "b": false, "c": null}}\n'
    '{"features": {"x": 1.5}, "labels": {"a": null, "b": true}}\n'
    '{"features": {"x": 2.5}, "labels": ["b", "c"]}\n'
    '{"features": {"x": 3.5}, "labels": {"a": true, "b": true}}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_readers_give_nan(name, tmp_path):
    (tmp_path / name).write_text(FILES[name])
    data = bl.data.load(tmp_path / name, labels=["a", "b", "c"])
    np.testing.assert_array_equal(data.Y, WANTED)
    assert data.train.Y.dtype == np.float64
    for size in (1, 2, 3):
        stream = bl.data.stream(tmp_path / name, labels=["a", "b", "c"], block=size)
        parts = [np.asarray(Y, dtype=float) for _, Y in stream]
        np.testing.assert_array_equal(np.concatenate(parts), WANTED)


def test_parquet_too(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {"x": X[:, 0]} | {
        name: pa.array([None if np.isnan(v) else int(v) for v in column])
        for name, column in zip("abc", WANTED.T, strict=True)
    }
    pq.write_table(pa.table(columns), tmp_path / "f.parquet")
    data = bl.data.load(tmp_path / "f.parquet", labels=["a", "b", "c"])
    np.testing.assert_array_equal(data.Y, WANTED)


@pytest.mark.parametrize("block", ["1", "3"])
def test_the_shell_learns_what_learn_learns(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.csv").write_text(FILES["f.csv"])
    with pytest.raises(SystemExit) as done:
        main(["train", "f.csv", "--labels", "a,b,c", "--model", "m.blm", "--algorithm", "ada_olmr",
              "--learners", "paper:3", "--block", block])  # fmt: skip
    assert done.value.code == 0
    model = bl.AdaOLMR(labels=["a", "b", "c"], learners=bl.learners.paper_trees(3))
    model.learn(X, WANTED)
    arrays = bl.load(tmp_path / "m.blm").state()["arrays"]
    for name, array in model.state()["arrays"].items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name)


def test_the_checksum_of_rows_does_not_depend_on_where_they_are_cut():
    """A block has floats only if it has unknown labels."""

    def of(*blocks):
        sums = Fingerprint()
        for rows in blocks:
            Y = WANTED[rows]
            sums.update(X[rows], Y if np.isnan(Y).any() else Y.astype(bool))
        return sums.sums

    whole = of(slice(0, 4))
    assert whole == of(slice(0, 2), slice(2, 4)) == of(slice(0, 1), slice(1, 4))
    plain = Fingerprint()
    plain.update(X, WANTED == 1)
    assert plain.sums != whole


def test_data_sets_hold_what_is_unknown():
    data = Dataset(X, WANTED, 2)
    assert data.describe().mean_relevant == 6 / 4 and data.describe().label_sets == 4
    relevant = [y for _, y in data]
    np.testing.assert_array_equal(relevant, WANTED)
    many = Dataset(X, sparse.csr_matrix(WANTED), 2)
    assert many.describe() == data.describe()
    assert Dataset(X, np.nan_to_num(WANTED)).Y.dtype == np.bool_


def test_many_labels_stay_sparse():
    rows = '{"features": {"x": 1}, "labels": {"7": null, "9": true}}\n' * 2
    names = [str(i) for i in range(2000)]
    data = bl.data.load(io.BytesIO(rows.encode()), format="jsonl", labels=names, features=["x"])
    assert sparse.issparse(data.Y) and np.isnan(data.Y[0, 7]) and data.Y[1, 9] == 1
