"""The models.

`LabelRanker` is our own and recommended; `AdaOLMR` and `OnlineBMR` are the paper's algorithms.
"""

from boostline.boosters.ada_olmr import AdaOLMR
from boostline.boosters.booster import Booster
from boostline.boosters.label_ranker import LabelRanker
from boostline.boosters.online_bmr import OnlineBMR

__all__ = ["AdaOLMR", "Booster", "LabelRanker", "OnlineBMR"]
