"""A model for each key: the same as learning its rows alone, resumed exactly, whoever dies on the way."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scale_models
from scale_models import COLOURS as LABELS
from scale_models import tenant_model as small
from scale_models import tenants

import boostline as bl
from boostline import scale
from boostline.metrics import rank_loss

pd = pytest.importorskip("pandas")


def alone(frame, key):
    rows = frame[frame["tenant"] == key]
    model = small()
    model.learn(rows[list("abcd")].to_numpy(), rows[LABELS].to_numpy())
    return model


def assert_same(a, b):
    one, two = a.state()["arrays"], b.state()["arrays"]
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], name)


def test_each_key_is_learned_alone(tmp_path):
    frame = tenants()
    done = scale.learn_by_key(frame, key="tenant", store=tmp_path / "store", model=small())
    store = scale.ModelStore(tmp_path / "store")
    keys = sorted(frame["tenant"].unique())
    assert sorted(store) == keys and len(store) == done.n_keys == 20 and done.n_rows == 600
    for key in keys[:5]:
        assert store[key].features == list("abcd")
        assert_same(store[key], alone(frame, key))
    assert not list((tmp_path / "store").glob(".*"))
    with pytest.raises(KeyError):
        store["nobody"]


@pytest.mark.gate
def test_files_resume_and_append(tmp_path):
    frame = tenants()
    for part, first in enumerate(range(0, 600, 200)):
        frame.iloc[first : first + 200].to_parquet(tmp_path / f"{part}.parquet")
    store = scale.ModelStore(tmp_path / "store")
    options: dict = {"key": "tenant", "store": store, "model": small(), "n_buckets": 3}
    begun = scale.learn_by_key(tmp_path / "0.parquet", **options)
    assert begun.n_rows == 200
    both = scale.learn_by_key([tmp_path / "0.parquet", tmp_path / "1.parquet"], **options)
    assert both.n_rows == 200  # the first 200 are learned already
    nothing = scale.learn_by_key([tmp_path / "0.parquet", tmp_path / "1.parquet"], **options)
    assert nothing.n_rows == 0 and nothing.n_skipped == nothing.n_keys
    scale.learn_by_key(tmp_path / "2.parquet", append=True, **options)
    for key in frame["tenant"].unique():
        assert_same(store[key], alone(frame, key))
    with pytest.raises(ValueError, match=r"has learned \d+ rows that are not the first ones"):
        scale.learn_by_key(tmp_path / "1.parquet", **options)


@pytest.mark.gate
def test_a_shared_prior_helps_keys_with_few_rows(tmp_path):
    frame = tenants(2400, 60)
    history, later = frame.iloc[:1200], frame.iloc[1200:]
    prior = small()
    prior.learn(history[list("abcd")], history[LABELS])
    losses = {}
    for name, start in (("alone", small()), ("prior", prior)):
        few = later.groupby("tenant").head(8)
        scale.learn_by_key(few, key="tenant", store=tmp_path / name, model=start)
        rest = later.drop(index=few.index)
        store = scale.ModelStore(tmp_path / name)
        each = [
            rank_loss(rows[LABELS].to_numpy(), store[key].score(rows[list("abcd")]))
            for key, rows in rest.groupby("tenant")
        ]
        losses[name] = float(np.mean(each))
    assert losses["prior"] < losses["alone"] - 0.02


def test_what_does_not_fit_is_refused(tmp_path):
    frame = tenants(50, 3)
    with pytest.raises(ValueError, match="key is 'customer', but the frame has no such column"):
        scale.learn_by_key(frame, key="customer", store=tmp_path, model=small())
    frame.loc[frame.index[7], "tenant"] = None
    with pytest.raises(ValueError, match="partition 0:8: the key is missing"):
        scale.learn_by_key(frame, key="tenant", store=tmp_path, model=small())
    with pytest.raises(ValueError, match="model has no names of labels"):
        scale.learn_by_key(frame, key="tenant", store=tmp_path, model=bl.LabelRanker(3))


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from scale_models import tenant_model
from boostline import scale
if __name__ == "__main__":
    scale.learn_by_key(sys.argv[2], key="tenant", store=sys.argv[3], model=tenant_model(), n_jobs=2)
"""


@pytest.mark.process
def test_a_kill_at_any_moment_loses_nothing(tmp_path, environment_for_workers):
    frame = tenants(1500, 150)
    frame.to_parquet(tmp_path / "rows.parquet")
    store = tmp_path / "store"
    here = os.path.dirname(os.path.abspath(scale_models.__file__))
    (tmp_path / "program").write_text(PROGRAM)
    command = [sys.executable, tmp_path / "program", here, tmp_path / "rows.parquet", store]
    job = subprocess.Popen(command, env=environment_for_workers, start_new_session=True)
    end = time.monotonic() + 60
    while len(list(store.glob("??/*.blm"))) < 30:
        assert time.monotonic() < end and job.poll() is None
        time.sleep(0.005)
    os.killpg(job.pid, signal.SIGKILL)  # with its workers
    job.wait()
    n_saved = len(scale.ModelStore(store))
    assert 30 <= n_saved < 150
    done = scale.learn_by_key(tmp_path / "rows.parquet", key="tenant", store=store, model=small())
    assert done.n_skipped == n_saved and done.n_keys == 150
    whole = scale.ModelStore(store)
    for key in list(frame["tenant"].unique())[::10]:
        assert_same(whole[key], alone(frame, key))
    shutil.rmtree(store)
