"""Models in a real MLflow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from neighbours import environment

pytestmark = [pytest.mark.slow, pytest.mark.process]

PROGRAM = """
import mlflow, numpy as np, pandas as pd
import boostline as bl, boostline.mlflow

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("wxyz"))
Y = X.to_numpy()[:, :3] > 0.5
model = bl.LabelRanker(labels=["a", "b", "c"], seed=0)
model.learn(X, Y)

bl.mlflow.save_model(model, "saved", input_example=X[:2])
served = mlflow.pyfunc.load_model("saved")
assert (served.predict(X[:3]).to_numpy() == model.score(X[:3])).all()
assert list(served.predict(X[:3]).columns) == ["a", "b", "c"]
assert served.predict(X[:3], params={"top": 2})["labels"].tolist() == model.rank(X[:3], top=2)
assert "pickle" not in open("saved/MLmodel").read()

mlflow.set_tracking_uri("sqlite:///mlflow.db")
with mlflow.start_run():
    info = bl.mlflow.log_model(model, "ranker", input_example=X[:2], registered_model_name="tags")
for uri in (info.model_uri, "models:/tags/1"):
    again = bl.mlflow.load_model(uri)
    again.learn(X[:5], Y[:5])
    expected = bl.load("saved/model.blm")
    expected.learn(X[:5], Y[:5])
    assert (again.score(X) == expected.score(X)).all()

for wrong, error in (("a string", TypeError), (model, FileExistsError)):
    try:
        bl.mlflow.save_model(wrong, "saved")
    except error as told:
        print(told)
    else:
        raise AssertionError(wrong)
"""


def test_a_model_is_saved_logged_served_and_goes_on(tmp_path: Path) -> None:
    python, variables = environment(tmp_path, "mlflow")
    done = subprocess.run(
        [python, "-c", PROGRAM],
        cwd=tmp_path,
        env=variables,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "must be a model of boostline" in done.stdout
    assert "must be a folder that is new or empty" in done.stdout
