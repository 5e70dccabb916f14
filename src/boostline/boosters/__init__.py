"""The models.

`LabelRanker` is our own and recommended; `AdaOLMR` and `OnlineBMR` are the paper's algorithms,
and `TopkBMR` and `TopkAdaptive` those of its sequel, which hear only of the labels that they have shown.
"""

from boostline.boosters.ada_olmr import AdaOLMR
from boostline.boosters.booster import Booster
from boostline.boosters.label_ranker import LabelRanker
from boostline.boosters.online_bmr import OnlineBMR
from boostline.boosters.topk_adaptive import TopkAdaptive
from boostline.boosters.topk_bmr import TopkBMR
from boostline.boosters.topk_booster import Shown
from boostline.boosters.topk_explorer import Explorer

__all__ = [
    "AdaOLMR",
    "Booster",
    "Explorer",
    "LabelRanker",
    "OnlineBMR",
    "Shown",
    "TopkAdaptive",
    "TopkBMR",
]
