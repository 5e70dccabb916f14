"""The model of the tests of `boostline.scale`."""

from __future__ import annotations

from typing import Any

import boostline as bl
from boostline.learners import Committee, Generations, Kernel, Linear, Recency, Ridge, Stack
from boostline.learners.scorers import Scorer

LABELS = [f"tag_{j}" for j in range(6)]


def small_model(**settings: Any) -> bl.LabelRanker:
    """Members of every kind of rule, with few landmarks, so that a small sample will do."""
    members: list[Scorer] = [Kernel(n_landmarks=80), Linear(), Ridge(), Ridge(forgetting=0.99)]
    members += [Stack(reads=("kernel", "linear")), Generations(Linear(), length=100)]
    return bl.LabelRanker(labels=LABELS, learners=[Committee(members), Recency(1.0)], **settings)
