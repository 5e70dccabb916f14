"""Streams in which nearly every row brings a new tag: what was seen once is found again by its own word."""

import numpy as np
import pytest
from scipy import sparse

import boostline as bl

N_TAGS, D = 80, 600


def rows_and_tags(later, seed):
    """`later` new tags, then the same ones once more: each has a word of its own, beside four that say nothing."""
    rng = np.random.default_rng(seed)
    for first in range(0, N_TAGS, later):
        some = range(first, min(first + later, N_TAGS))
        for is_known in (False, True):
            for tag in some:
                yield sorted({tag, *rng.integers(N_TAGS, D, 4).tolist()}), tag, is_known


def shares_of_hits(later, seed):
    """How often the tag of a row comes first: by the model, and by counting how often each tag came with the words."""
    model = bl.LabelRanker(labels=["a", "b"], seed=0)
    counts = np.zeros((D, N_TAGS))
    hits = []
    for words, tag, is_known in rows_and_tags(later, seed):
        place = np.array([0, len(words)])
        x = sparse.csr_array((np.ones(len(words)), np.array(words), place), shape=(1, D))
        if is_known:
            counted = counts[words].sum(axis=0)
            newest = N_TAGS - 1 - counted[::-1].argmax()  # of those that came most often
            hits.append((model.rank(x, top=1)[0][0] == f"tag {tag}", newest == tag))
        else:
            model.add_labels([f"tag {tag}"])
        model.learn(x, [{f"tag {tag}"}])
        counts[words, tag] += 1
    return np.mean(hits[len(hits) // 2 :], axis=0)


BEHIND = pytest.mark.xfail(
    reason="of tags seen once ten rows before, counting finds .82 and the model .78 (five streams)"
)


@pytest.mark.gate
@pytest.mark.parametrize("later", [1, pytest.param(10, marks=BEHIND)])
def test_a_tag_seen_once_comes_first_again_more_often_than_by_counting(later):
    model, counting = np.mean([shares_of_hits(later, seed) for seed in range(3)], axis=0)
    assert model > counting > 0.5


@pytest.mark.gate
def test_the_word_decides_most_rows_though_exponents_of_the_pooled_vote_fall_below_0():
    assert np.mean([shares_of_hits(10, seed)[0] for seed in range(3)]) > 0.5
