"""Inspect a model: which learners matter, which features its trees use, why a label is ranked where it is.

==================  ==========================================================================
`learners`          every learner: weight, loss, how much it is used, size
`feature_splits`    which features the trees split on
`explain`           what learners, features, words and past rows add to a label's score
`labels`            which labels are ranked badly
`Recorder`          weights and loss along the stream
`html_report`       everything on one HTML page
==================  ==========================================================================
"""

from boostline.inspect.explanations import Explanation, explain
from boostline.inspect.label_rows import LabelLosses, LabelRow, labels
from boostline.inspect.learner_rows import (
    FeatureRow,
    LearnerRow,
    feature_splits,
    learners,
    listened,
)
from boostline.inspect.page import html_report
from boostline.inspect.parts import FeaturePart, PastRow
from boostline.inspect.recorder import Recorder, Recording
from boostline.inspect.summaries import summary
from boostline.models.diagnostics import Evidence

__all__ = [
    "Evidence",
    "Explanation",
    "FeaturePart",
    "FeatureRow",
    "LabelLosses",
    "LabelRow",
    "LearnerRow",
    "PastRow",
    "Recorder",
    "Recording",
    "explain",
    "feature_splits",
    "html_report",
    "labels",
    "learners",
    "listened",
    "summary",
]
