"""Which members of the default take part at which size: docs/learners.md has the table."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import boostline as bl
from boostline.learners import Committee, Kernel, OutputNeighbours, SparseLinear

TABLE = ["kernel", "linear", "neighbours", "output_neighbours"]
FOLLOWERS = ["tracker", "tracker_2", "recent_kernel"]
SPARSE = ["sparse_linear", "centroids"]


def resolved(n_labels, n_features, members=None) -> Any:
    committee = Committee() if members is None else Committee(members)
    (found,) = committee.resolve(n_features, np.random.default_rng(0), n_labels)
    return found


@pytest.mark.parametrize(
    ("n_labels", "n_features", "expected"),
    [
        (6, 72, TABLE + FOLLOWERS),
        (101, 399, TABLE + FOLLOWERS),
        (101, 400, TABLE + FOLLOWERS + SPARSE),
        (159, 1836, ["kernel", "linear", "output_neighbours", "recent_kernel", *SPARSE]),
        (983, 500, ["kernel", "linear", "output_neighbours", "sparse_linear"]),
        (320, 10_000, SPARSE),
        (5000, 300, ["sparse_linear"]),
        (1000, 2**20, ["sparse_linear"]),
    ],
)
def test_members_by_size(n_labels, n_features, expected):
    found = resolved(n_labels, n_features)
    assert found.names == [name for name in Committee().names if name in expected]


def test_members_are_smaller_where_labels_are_many():
    found = resolved(983, 500)
    kernel = next(m for m in found.members if isinstance(m, Kernel))
    memory = next(m for m in found.members if isinstance(m, OutputNeighbours)).memory
    assert kernel.n_landmarks * (kernel.n_landmarks + 983) <= 2_000_000
    assert memory * 983 <= 4_000_000


@pytest.mark.parametrize(
    ("n_labels", "given", "expected"),
    [
        (1024, {}, (0.3, 8)),
        (1025, {}, (0.5, 12)),
        (9000, {}, (0.5, 8)),
        (1025, {"C": 0.2, "n_replays": 3}, (0.2, 3)),
    ],
)
def test_rows_count_more_where_labels_are_many_unless_somebody_chose_how_much(
    n_labels, given, expected
):
    found = resolved(n_labels, 500, [SparseLinear(**given)])
    assert [(m.C, m.n_replays) for m in found.members] == [expected]


def test_a_committee_without_sparse_members_is_used_at_any_size():
    """Sizes choose between members; whoever names a single kind gets it."""
    assert resolved(5000, 2**20, [Kernel()]).names == ["kernel"]
    assert resolved(2, 3, [SparseLinear()]).names == ["sparse_linear"]


def test_with_very_many_labels_there_are_as_few_votes_as_can_be():
    """Every vote takes time in proportion to the labels."""
    model = bl.LabelRanker(9000)
    model.learn(sparse.csr_array(np.eye(3, 500)), [{1}, {2}, {3}], return_scores=False)
    assert model.n_learners == 1


def test_a_hashing_vectorizers_columns_and_a_thousand_labels_work_out_of_the_box():
    X = sparse.random_array((60, 2**20), density=4e-5, format="csr", rng=0)
    model = bl.LabelRanker(1000)
    model.learn(X, [{i % 1000, 7 * i % 1000} for i in range(60)], return_scores=False)
    assert model.memory_usage() < 20e6  # 2^20 x 1,000 numbers are 4 GB
    assert model.rank(X[0], top=5)[0] == 0


def test_learners_none_of_which_takes_part_are_an_error_and_no_model_that_cannot_be_loaded(
    tmp_path,
):
    model = bl.AdaOLMR(3, learners=[bl.learners.Recency(most_labels=1)])
    for use in (lambda: model.score([1.0, 2.0]), lambda: model.learn([1.0, 2.0], {0})):
        with pytest.raises(
            ValueError, match="learners is recency, none of which can be used with 3"
        ):
            use()
    model.save(tmp_path / "m.blm")
    assert bl.load(tmp_path / "m.blm").n_features is None


def test_a_member_that_reads_from_nobody_is_refused():
    with pytest.raises(ValueError, match="reads is empty, but must name"):
        OutputNeighbours(reads=())
