"""The models.

`LabelRanker` is our own and recommended; `AdaOLMR` and `OnlineBMR` are the paper's algorithms. `Explorer` chooses which
labels to show, and learns from feedback on those.
"""

from boostline.models.ada_olmr import AdaOLMR
from boostline.models.base import Booster
from boostline.models.explorer import Explorer, Shown
from boostline.models.label_ranker import LabelRanker
from boostline.models.online_bmr import OnlineBMR

__all__ = [
    "AdaOLMR",
    "Booster",
    "Explorer",
    "LabelRanker",
    "OnlineBMR",
    "Shown",
]
