"""The bound of LabelRanker. The derivation is in docs/theory.md."""

from __future__ import annotations

from typing import Any

from boostline.lab.theory.bound import Bound
from boostline.lab.theory.history import History


def label_ranker(model: Any) -> Bound:
    """Bound of the rank loss of a LabelRanker: that of the best fixed mixture of its votes, and what it lost on it.

    Rows count c b <= 1, where b = ln(1 + |Y^c| / |Y|) and c = min(1, 1/b): all alike but for those with many relevant
    labels. The bound is the sum of c (mean over Y of -ln s[l] - ln |Y|), theorem 11. Its two terms are the loss that no
    fixed mixture could have gone below, and the most that a fixed mixture could have gained: the regret.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> X = np.random.default_rng(0).normal(size=(2000, 5))
    >>> model = bl.LabelRanker(5, seed=0)
    >>> _ = model.learn(X, np.eye(5, dtype=bool)[X.argmax(axis=1)])
    >>> bound = label_ranker(model)
    >>> bound.holds, bound.vacuous, bound.terms["regret"] < bound.total / 2
    (True, False, True)
    """
    history = History.of(model)
    if history.surrogate is None or history.regret is None:
        raise ValueError(f"model is an {history.algorithm}; this bound is LabelRanker's")
    total, suffered, weight = history.surrogate
    return Bound(
        name="LabelRanker, mixture",
        statement="sum c b (rank loss) <= sum c (mean_Y -ln s - ln |Y|) <= best mixture's + regret",
        total=total,
        suffered=suffered,
        rounds=history.ranked_rounds,
        trivial=weight / 2,
        terms={
            "best mixture": total - history.regret,
            "regret": history.regret,
            "weight of rows": weight,
        },
    )
