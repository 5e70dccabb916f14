"""How good a model's probabilities are on rows that it has not learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.metrics import calibration_error, expected_calibration_error, log_loss

_BLOCK = 1024


@dataclass(frozen=True)
class ProbabilityReport:
    """The result of `judge_probabilities`.

    Attributes
    ----------
    log_loss
        Mean of -ln p over rows and labels.
    calibration_error
        Of the labels with the highest probabilities of each row.
    expected_error
        The calibration error that perfect probabilities would have on so many rows.
    """

    log_loss: float
    calibration_error: float
    expected_error: float

    @property
    def ratio(self) -> float:
        """Calibration error over the expected one: near 1 is as good as it gets."""
        return self.calibration_error / self.expected_error if self.expected_error else np.nan

    def __str__(self) -> str:
        return (
            f"log loss {self.log_loss:.4f}, calibration error {self.calibration_error:.4f} "
            f"(a perfect model: {self.expected_error:.4f})"
        )


def judge_probabilities(
    model: Any, X: Any, Y: Any, *, top: int = 5, n_bins: int = 15, unknown: Any = None
) -> ProbabilityReport:
    """Log loss and calibration error of a model's probabilities; the model does not change.

    Parameters
    ----------
    model
        Has ``probabilities(X)`` (boostline's models) or ``predict_proba(X)`` (scikit-learn's).
    X, Y, unknown
        Rows that the model has not learned, their relevant labels, and labels that are not known.
    top, n_bins
        As in `boostline.metrics.calibration_error`.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline import evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 4))
    >>> Y = X + rng.normal(size=X.shape) > 1
    >>> model = bl.LabelRanker(4, learners=[bl.learners.Linear()])
    >>> _ = model.learn(X[:2000], Y[:2000])
    >>> evaluate.judge_probabilities(model, X[2000:], Y[2000:]).log_loss < 0.5
    True
    """
    ask = getattr(model, "probabilities", None) or getattr(model, "predict_proba", None)
    if ask is None:
        raise TypeError(
            f"model is a {type(model).__name__}, but must have probabilities(X) or predict_proba(X)"
        )
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    take = X.iloc if hasattr(X, "iloc") else X
    found = [np.atleast_2d(ask(take[i : i + _BLOCK])) for i in range(0, n, _BLOCK)]
    P = np.concatenate(found)
    return ProbabilityReport(
        log_loss=log_loss(Y, P, unknown),
        calibration_error=calibration_error(Y, P, top=top, n_bins=n_bins, unknown=unknown),
        expected_error=expected_calibration_error(P, top=top, n_bins=n_bins),
    )
