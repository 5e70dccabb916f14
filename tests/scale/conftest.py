"""History in files, a small model, and a Dask cluster for the tests of this folder."""

import os

import numpy as np
import pytest
from scale_models import LABELS, small_model

import boostline as bl
from boostline.lab import synthetic


@pytest.fixture(scope="session")
def table():
    """3,000 rows: 12 features, 6 labels."""
    data = synthetic.noisy(3000, d=12, k=6, n_train=2400)
    return np.asarray(data.X), np.asarray(data.Y, dtype=bool)


@pytest.fixture(scope="session")
def history(table, tmp_path_factory):
    """The first 2,400 rows in eight Parquet files, with an id."""
    pd = pytest.importorskip("pandas")
    X, Y = table
    folder = tmp_path_factory.mktemp("history")
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    frame[LABELS] = Y
    frame.insert(0, "id", [f"row-{i}" for i in range(len(X))])
    for part, first in enumerate(range(0, 2400, 300)):
        frame.iloc[first : first + 300].to_parquet(folder / f"part-{part}.parquet")
    return folder


@pytest.fixture
def model():
    return small_model()


@pytest.fixture(scope="session")
def environment_for_workers():
    """That of this process, and one thread for NumPy's products."""
    limits = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    folder = os.path.dirname(os.path.dirname(os.path.abspath(bl.__file__)))
    return {**os.environ, "PYTHONPATH": folder, **limits}


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, environment_for_workers):
    pytest.importorskip("distributed")
    from dask_cluster import Cluster

    made = Cluster(tmp_path_factory.mktemp("dask"), environment_for_workers)
    yield made
    made.close()
