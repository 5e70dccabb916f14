"""The paper's two boosting algorithms: one schema (Algorithm 1), two sets of details."""

from boostline.boosters._booster import Booster
from boostline.boosters.ada_olmr import AdaOLMR
from boostline.boosters.online_bmr import OnlineBMR

__all__ = ["AdaOLMR", "Booster", "OnlineBMR"]
