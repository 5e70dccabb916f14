"""The models.

`LabelRanker` is our own and recommended; `AdaOLMR` and `OnlineBMR` are the paper's algorithms,
and `TopkBMR` and `TopkAdaptive` those of its sequel, which hear only of the labels that they have shown.
"""

from boostline.models.ada_olmr import AdaOLMR
from boostline.models.booster import Booster
from boostline.models.label_ranker import LabelRanker
from boostline.models.online_bmr import OnlineBMR
from boostline.models.topk_adaptive import TopkAdaptive
from boostline.models.topk_bmr import TopkBMR
from boostline.models.topk_booster import Shown
from boostline.models.topk_explorer import Explorer

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
