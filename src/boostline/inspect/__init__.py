"""Inspect a model: which learners matter, which features its trees use, why a label is ranked where it is.

==================  ==========================================================================
`learners`          every learner: weight, loss, how much it is used, size
`feature_splits`    which features the trees split on
`explain`           what learners, features, words and past rows add to a label's score
`tree_path`         the decisions of one tree for a row
`label_table`       which labels are ranked badly
`Recorder`          weights and loss along the stream
`html_report`       everything on one HTML page
==================  ==========================================================================
"""

from boostline.inspect.explanations import Explanation, Step, explain, tree_path
from boostline.inspect.feature_rows import FeatureRow, feature_splits
from boostline.inspect.label_rows import LabelLosses, LabelRow, label_table
from boostline.inspect.learner_rows import LearnerRow, learners, listened
from boostline.inspect.parts import FeaturePart, PastRow
from boostline.inspect.recorder import Recorder, Recording
from boostline.inspect.report import html_report
from boostline.inspect.summaries import summary
from boostline.inspect.texts import TextExplanation, explain_text
from boostline.models.evidence import Evidence

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
    "Step",
    "TextExplanation",
    "explain",
    "explain_text",
    "feature_splits",
    "html_report",
    "label_table",
    "learners",
    "listened",
    "summary",
    "tree_path",
]
