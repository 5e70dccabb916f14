"""Models in MLflow: saved, logged and loaded like those of its own flavours, and served by its `pyfunc`.

A model is stored in boostline's own file, which is safe to load from a stranger, and not as a pickle. Needs
``mlflow`` (or ``mlflow-skinny``), which is not among boostline's extras since it brings its own versions of many
packages.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostline.models import Booster
from boostline.saving import load

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FLAVOR", "load_model", "log_model", "save_model"]

FLAVOR = "boostline"
_FILE = "model.blm"


def save_model(
    model: Booster,
    path: str | Path,
    *,
    mlflow_model: Any = None,
    input_example: Any = None,
    signature: Any = None,
) -> None:
    """Write an MLflow model: a folder with the model's file and MLflow's description.

    Parameters
    ----------
    model
        A `LabelRanker`, `AdaOLMR` or `OnlineBMR`.
    path
        The folder, which must be new or empty.
    mlflow_model
        MLflow's description, which `log_model` passes.
    input_example
        Rows as they will be ranked; the signature is derived from them if none is given.
    signature
        MLflow's signature.
    """
    from mlflow import pyfunc
    from mlflow.models import Model

    import boostline

    if not isinstance(model, Booster):
        raise TypeError(f"model is {type(model).__name__}, but must be a model of boostline")
    folder = Path(path)
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"path is {folder}, but must be a folder that is new or empty")
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / _FILE)
    description = Model() if mlflow_model is None else mlflow_model
    if signature is None and input_example is not None:
        signature = _signature(model, input_example)
    description.signature = signature
    requirements = [f"boostline=={boostline.__version__}", "pandas"]
    pyfunc.add_to_model(
        description, loader_module="boostline.mlflow", data=_FILE, pip_requirements=requirements
    )
    description.add_flavor(FLAVOR, boostline_version=boostline.__version__, data=_FILE)
    (folder / "requirements.txt").write_text("\n".join(requirements) + "\n", encoding="utf-8")
    description.save(str(folder / "MLmodel"))


def log_model(
    model: Booster, name: str = "model", *, input_example: Any = None, **named: Any
) -> Any:
    """Log a model to the active run; return MLflow's `ModelInfo`.

    ``registered_model_name`` and other arguments of MLflow's ``Model.log`` may be named.
    """
    from mlflow.models import Model

    if input_example is not None:
        named.setdefault("signature", _signature(model, input_example))
    return Model.log(
        name=name, artifact_path=None, flavor=sys.modules[__name__], model=model, **named
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Booster:
    """Load a model that goes on learning exactly where it was."""
    from mlflow.artifacts import download_artifacts

    folder = download_artifacts(artifact_uri=model_uri, dst_path=dst_path)
    model: Booster = load(_file(Path(folder)))
    return model


class _Scores:
    """What ``mlflow.pyfunc`` calls: the scores of every label."""

    def __init__(self, model: Booster) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """A frame with a column per label; ``params={"top": 3}`` gives the best labels instead, best first."""
        import pandas as pd

        index = model_input.index if isinstance(model_input, pd.DataFrame) else None
        if top := int((params or {}).get("top") or 0):
            return pd.DataFrame(
                {"labels": [list(row) for row in self.model.rank(model_input, top=top)]},
                index=index,
            )
        names = self.model.labels or [str(i) for i in range(self.model.n_labels)]
        return pd.DataFrame(np.atleast_2d(self.model.score(model_input)), index, names)


def _load_pyfunc(path: str) -> _Scores:
    """MLflow's door: ``mlflow.pyfunc.load_model`` calls it with the folder, or the file in it."""
    return _Scores(load(_file(Path(path))))


def _file(path: Path) -> Path:
    return path / _FILE if path.is_dir() else path


def _signature(model: Booster, rows: Any) -> Any:
    """What goes in and what comes out; ``top`` is 0 for the scores of all labels."""
    from mlflow.models import infer_signature

    return infer_signature(rows, _Scores(model).predict(rows), params={"top": 0})
