"""scikit-learn's own checks, with every expected failure listed and justified."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from boostline.learners import paper_trees
from boostline.sklearn import (
    AdaOLMRClassifier,
    ExplorerClassifier,
    LabelRankerClassifier,
    OnlineBMRClassifier,
)

ORDER_MATTERS = (
    "The check compares a weighted data set with a shuffled one of repeated rows. An online learner depends on the "
    "order of its rows, so no two orders give the same model. In the same order whole weights are repeated rows, and "
    "weight 0 is a row left out: test_sklearn_classifiers.test_whole_weights_are_repeated_rows."
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}
# The default, and others. Few trees keep the checks quick. They run on the same code as a hundred.
ESTIMATORS = [
    LabelRankerClassifier(random_state=0),
    OnlineBMRClassifier(random_state=0),
    AdaOLMRClassifier(paper_trees(20), random_state=0),
    AdaOLMRClassifier(paper_trees(20), expert="draw", optimize="macro-f1"),
    OnlineBMRClassifier(paper_trees(20), random_state=0),
    ExplorerClassifier(random_state=0),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
@pytest.mark.gate
def test_scikit_learns_checks(estimator, check):
    check(estimator)
