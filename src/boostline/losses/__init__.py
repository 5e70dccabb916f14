"""Losses of a score vector against a set of relevant labels (Section 3.1 of the paper).

Most losses are sums over pairs of a relevant label l and an irrelevant label r::

    L^Y(s) = w_Y * sum over pairs of pair(d),    d = s[r] - s[l],    w_Y = 1 / (|Y| |Y^c|)

so a loss is its function ``pair`` of one number. Two properties decide what may be done with it:

- *proper* (the paper's word): ``pair`` never decreases, so a higher score of a relevant label
  never hurts. Without it the costs of OnlineBMR lie outside the paper's set.
- *convex*: needed by the general bound of OnlineBMR unless every vote is a single label.

`check_use` refuses a loss that a booster cannot use, and says why.
"""

from boostline.losses.built_in import (
    Exponential,
    Hinge,
    Logistic,
    Loss,
    PairLoss,
    Rank,
    check_use,
    get,
)
from boostline.losses.user_written import MOST_LEARNERS, GeneralLoss, PairwiseLoss

__all__ = [
    "MOST_LEARNERS",
    "Exponential",
    "GeneralLoss",
    "Hinge",
    "Logistic",
    "Loss",
    "PairLoss",
    "PairwiseLoss",
    "Rank",
    "check_use",
    "get",
]
