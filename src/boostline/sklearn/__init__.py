"""scikit-learn estimators.

>>> from sklearn.datasets import make_multilabel_classification
>>> from boostline.sklearn import LabelRankerClassifier
>>> X, Y = make_multilabel_classification(600, n_classes=4, random_state=0)
>>> model = LabelRankerClassifier(random_state=0).fit(X[:400], Y[:400])
>>> model.predict(X[400:]).shape
(200, 4)
"""

from boostline.sklearn.classifiers import (
    AdaOLMRClassifier,
    LabelRankerClassifier,
    OnlineBMRClassifier,
)
from boostline.sklearn.scorers import ranking_scorer
from boostline.sklearn.shown_labels import ExplorerClassifier
from boostline.sklearn.texts import TextRankerClassifier

__all__ = [
    "AdaOLMRClassifier",
    "ExplorerClassifier",
    "LabelRankerClassifier",
    "OnlineBMRClassifier",
    "TextRankerClassifier",
    "ranking_scorer",
]
