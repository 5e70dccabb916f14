"""Rows of texts: hashed, weighed online, the same in blocks and one by one."""

import math
from collections import Counter

import numpy as np
import pytest

from boostline.text import TextFeatures, Words

TEXTS = [
    "red wine and red meat",
    "white wine",
    "",
    "red red red",
    "meat and fish",
    "fish fish wine",
]


def dense(features, rows):
    return rows.dense[:, features.n_embedding :]


def by_hand(texts):
    """The weights of the words of each text, with the counts of the texts before it, in plain Python."""
    seen: Counter[str] = Counter()
    for n, text in enumerate(texts):
        counts = Counter(text.split())
        raw = {
            word: (1 + math.log(c)) * math.sqrt(math.log((n + 2) / (seen[word] + 1)))
            for word, c in counts.items()
        }
        length = math.sqrt(sum(v * v for v in raw.values()))
        yield {word: v / length for word, v in raw.items()}
        seen.update(set(counts))


def test_rows_are_root_of_idf_times_log_of_counts():
    features = TextFeatures()
    rows = features.learn(features.count(TEXTS))
    assert rows.n == len(TEXTS)
    matrix = rows.dense
    for row, weights in zip(matrix, by_hand(TEXTS), strict=True):
        assert np.count_nonzero(row) == len(weights)
        for word, weight in weights.items():
            [column] = features.columns_of(Words().terms(word))
            assert row[column] == pytest.approx(
                weight, rel=2e-3
            )  # weights are multiples of 1 / 4096


def test_a_block_gives_the_rows_of_its_texts_one_by_one():
    block, single = TextFeatures(n_columns=2**12), TextFeatures(n_columns=2**12)
    together = dense(block, block.learn(block.count(TEXTS)))
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(dense(single, single.rows(single.count([text])))[0], row)
        np.testing.assert_array_equal(dense(single, single.learn(single.count([text])))[0], row)
    np.testing.assert_array_equal(block.state()["counts"], single.state()["counts"])


def test_what_was_learned_last_can_be_taken_back():
    features, other = TextFeatures(n_columns=2**12), TextFeatures(n_columns=2**12)
    counted = features.count(TEXTS)
    features.learn(counted)
    features.unlearn(counted[3:])
    other.learn(counted[:3])
    for name, value in other.state().items():
        np.testing.assert_array_equal(features.state()[name], value, err_msg=name)


def test_a_state_made_again_goes_on_in_the_same_way():
    features = TextFeatures(Words(True, (2, 3)), n_columns=2**12, n_embedding=3)
    features.learn(features.count(TEXTS, np.ones((len(TEXTS), 3))))
    twin = TextFeatures.from_state(features.state())
    rows = [one.learn(one.count(TEXTS, np.eye(6, 3))).dense for one in (features, twin)]
    np.testing.assert_array_equal(*rows)
    assert twin.words == features.words


def test_embeddings_come_first_with_length_1():
    features = TextFeatures(n_columns=2**10, n_embedding=4)
    vectors = np.array(
        [[3.0, 0, 4, 0], [0, 0, 0, 0], [1e-30, 0, 0, 0], [1e30, 0, 0, 0]], np.float32
    )
    rows = features.rows(features.count(["a", "b", "", "c"], vectors)).dense
    expected = [[0.6, 0, 0.8, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_allclose(rows[:, :4], expected, rtol=1e-7)
    np.testing.assert_allclose((rows[:, 4:] ** 2).sum(axis=1), [1, 1, 0, 1])


def test_hashed_columns_are_spread_evenly():
    features = TextFeatures(n_columns=2**12)
    columns = features.columns_of([Words().terms(f"word{i}")[0] for i in range(2**12)])
    # Of as many words as columns a share of 1 / e of the columns stays empty if hashes are as good as random.
    assert len(set(columns.tolist())) / 2**12 == pytest.approx(1 - math.exp(-1), abs=0.03)
    assert columns.min() >= 0
    assert columns.max() < 2**12


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"n_columns": 1000}, "n_columns is 1000, but must be a power of 2"),
        ({"n_columns": 2}, "n_columns is 2, but must be between"),
        ({"n_columns": "8"}, "n_columns is '8', but must be a whole number"),
        ({"n_embedding": -1}, "n_embedding is -1"),
    ],
)
def test_bad_settings_are_refused(settings, error):
    with pytest.raises((TypeError, ValueError), match=error):
        TextFeatures(**settings)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"n_columns": 2**40}, "n_columns is"),
        ({"n_documents": -1}, "n_documents is"),
        ({"n_documents": 1}, "counts of the text are not between"),
        ({"columns": np.array([1, 1, 2], np.int32)}, "counts"),
        ({"columns": np.array([9, 1], np.int32)}, "do not ascend"),
        ({"columns": np.array([1, 300], np.int32)}, "do not ascend"),
        ({"columns": np.array([1.0, 2.0])}, "no array of int32"),
        ({"columns": [1, 2]}, "no array of int32"),
        ({"counts": np.array([0, 1], np.uint32)}, "counts of the text are not between"),
        ({"pairs": "yes"}, "pairs is 'yes'"),
        ({"characters": [0, 99]}, "characters"),
    ],
)
def test_a_forged_state_is_refused(change, error):
    features = TextFeatures(n_columns=256)
    features.learn(features.count(["one", "two two", "one"]))
    state = features.state()
    assert len(state["columns"]) == 2
    with pytest.raises((TypeError, ValueError), match=error):
        TextFeatures.from_state({**state, **change})
