"""River estimators: features as dicts, which may appear and disappear, and labels by name.

>>> from river import compose, preprocessing
>>> from boostline.river import LabelRankerClassifier
>>> model = preprocessing.StandardScaler() | LabelRankerClassifier()
>>> model.learn_one({"length": 5.1, "width": 2.0}, {"sport": True, "music": False})
>>> sorted(model.predict_one({"length": 4.9, "width": 2.2}))
['music', 'sport']
"""

from boostline.river.classifiers import (
    AdaOLMRClassifier,
    LabelRankerClassifier,
    OnlineBMRClassifier,
)
from boostline.river.ranking_metrics import RankingMetric
from boostline.river.shown_labels import ExplorerClassifier
from boostline.river.texts import TextRankerClassifier

__all__ = [
    "AdaOLMRClassifier",
    "ExplorerClassifier",
    "LabelRankerClassifier",
    "OnlineBMRClassifier",
    "RankingMetric",
    "TextRankerClassifier",
]
