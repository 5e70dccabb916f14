"""Boosters: one schema (Algorithm 1), and the details of three algorithms.

`LabelRanker` is ours and the one to use; `AdaOLMR` and `OnlineBMR` are the paper's, exactly.
"""

from boostline.boosters.ada_olmr import AdaOLMR
from boostline.boosters.booster import Booster
from boostline.boosters.label_ranker import LabelRanker
from boostline.boosters.online_bmr import OnlineBMR

__all__ = ["AdaOLMR", "Booster", "LabelRanker", "OnlineBMR"]
