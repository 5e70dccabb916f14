"""Online boosting as River estimators: dict features that come and go, labels by name.

>>> from river import compose, preprocessing
>>> from boostline.learners import paper_trees
>>> from boostline.river import AdaOLMRClassifier
>>> model = preprocessing.StandardScaler() | AdaOLMRClassifier(paper_trees(10))
>>> model.learn_one({"length": 5.1, "width": 2.0}, {"sport": True, "music": False})
>>> sorted(model.predict_one({"length": 4.9, "width": 2.2}))
['music', 'sport']
"""

from boostline.river._classifiers import AdaOLMRClassifier, OnlineBMRClassifier

__all__ = ["AdaOLMRClassifier", "OnlineBMRClassifier"]
