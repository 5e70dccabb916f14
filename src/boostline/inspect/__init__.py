"""Inspect a model: which learners matter, which features its trees use, why a label is ranked where it is.

==================  ==========================================================================
`learners`          every learner: weight, edge, how much it is used, size
`feature_splits`    which features the trees split on
`explain`           each learner's share of one label's score for one row
`tree_path`         the decisions of one tree for a row
`label_table`       which labels are ranked badly
`Recorder`          weights, edges and loss along the stream
`html_report`       everything on one HTML page
==================  ==========================================================================
"""

from boostline.inspect.explanations import Explanation, Step, explain, tree_path
from boostline.inspect.feature_rows import FeatureRow, feature_splits
from boostline.inspect.label_rows import LabelLosses, LabelRow, label_table
from boostline.inspect.learner_rows import LearnerRow, learners, listened
from boostline.inspect.recorder import Recorder, Recording
from boostline.inspect.report import html_report
from boostline.inspect.summaries import summary

__all__ = [
    "Explanation",
    "FeatureRow",
    "LabelLosses",
    "LabelRow",
    "LearnerRow",
    "Recorder",
    "Recording",
    "Step",
    "explain",
    "feature_splits",
    "html_report",
    "label_table",
    "learners",
    "listened",
    "summary",
    "tree_path",
]
