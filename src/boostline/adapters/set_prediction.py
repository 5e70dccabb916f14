"""Label sets from probabilities, as the adapters to other libraries name them."""

from __future__ import annotations

import numpy as np

from boostline.array_types import FloatArray
from boostline.boosters import Booster
from boostline.boosters.aims import Aim


def logit(p: FloatArray) -> FloatArray:
    """Log-odds of probabilities strictly between 0 and 1."""
    return np.asarray(np.log(p) - np.log1p(-p))


def margins(booster: Booster, probabilities: FloatArray, aim: Aim) -> FloatArray:
    """Log-odds less those of the thresholds: above 0 exactly where ``booster.predict`` names a label."""
    thresholds = booster.thresholds(aim)
    found = logit(probabilities) - logit(thresholds)
    # Rounding does not decide.
    named = probabilities > thresholds
    return np.where(named == (found > 0), found, np.where(named, 1e-300, 0.0))
