"""Streams in which nearly every row brings a new tag: what was seen once is found again by its own word."""

import numpy as np
import pytest
from scipy import sparse

import boostline as bl


@pytest.mark.gate
@pytest.mark.parametrize("later", [1, 10])
def test_a_tag_seen_once_is_ranked_first_when_its_word_comes_again(later):
    """Exponents of the pooled vote fall below 0 here; the word decides most rows all the same."""
    rng = np.random.default_rng(0)
    n_tags, d = 80, 600
    model = bl.LabelRanker(labels=["a", "b"], seed=0)
    order = []
    for first in range(0, n_tags, later):  # `later` new tags, then the same ones once more
        some = list(range(first, min(first + later, n_tags)))
        order += [(tag, False) for tag in some] + [(tag, True) for tag in some]
    hits = []
    for tag, is_known in order:
        words = sorted({tag, *rng.integers(n_tags, d, 4).tolist()})
        place = np.array([0, len(words)])
        x = sparse.csr_array((np.ones(len(words)), np.array(words), place), shape=(1, d))
        if is_known:
            hits.append(model.rank(x, top=1)[0][0] == f"tag {tag}")
        else:
            model.add_labels([f"tag {tag}"])
        model.learn(x, [{f"tag {tag}"}])
    assert np.mean(hits[len(hits) // 2 :]) > 0.75
