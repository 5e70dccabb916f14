"""TextRanker: strings in, names of tags out."""

import copy
import pickle
import threading

import numpy as np
import pytest
from forging import forged, parts, refuse

import boostline as bl
from boostline.text import TextRanker

TOPICS = {
    "sport": ["ball", "goal", "team", "match"],
    "politics": ["vote", "law", "party", "debate"],
    "music": ["song", "band", "tune", "choir"],
}


def stream(n, seed=0):
    """Texts of one or two topics; the topics get known one after the other."""
    rng = np.random.default_rng(seed)
    texts, tags = [], []
    for i in range(n):
        chosen = rng.choice(list(TOPICS)[: 1 + i // 10], size=min(2, 1 + i // 10), replace=False)
        words = [str(rng.choice(TOPICS[topic])) for topic in chosen for _ in range(3)]
        texts.append(" ".join([*words, "the", f"number{i}"]))
        tags.append({str(topic) for topic in chosen} | ({f"tag{i}"} if i % 7 == 0 else set()))
    return texts, tags


def small(**settings):
    return TextRanker(learners=[bl.learners.SparseLinear()], n_columns=2**14, **settings)


def taught(n=100, **settings):
    model = small(**settings)
    model.learn(*stream(n))
    return model


def test_the_right_tag_comes_first():
    model = taught(200)
    assert model.rank("the goal of the TEAM", top=1) == ["sport"]
    assert model.rank(["a choir", "new law"], top=1) == [["music"], ["politics"]]
    assert sorted(model.rank("ball")) == sorted(model.labels)
    scores = model.score(["a choir", "new law"])
    assert scores.shape == (2, model.n_labels)
    assert model.labels[int(scores[0].argmax())] == "music"


def test_the_default_learns_and_ranks():
    model = TextRanker(n_columns=2**14)
    model.learn(*stream(120))
    assert model.rank("team, match and goal", top=1) == ["sport"]


def test_with_a_million_columns_as_they_are_by_default():
    model = TextRanker(learners=[bl.learners.SparseLinear()])
    model.learn(*stream(100))
    assert model.booster.n_features == 2**20
    assert model.memory_usage() < 2**24
    assert model.rank("song", top=1) == ["music"]


@pytest.mark.parametrize("pairs", [False, True])
def test_a_block_is_learned_as_its_texts_one_by_one(pairs):
    block, single = small(pairs=pairs), small(pairs=pairs)
    texts, tags = stream(200)
    scores = block.learn(texts, tags, return_scores=True)
    for i, (text, own) in enumerate(zip(texts, tags, strict=True)):
        before, room, score = single.n_labels, single.booster.n_labels, single.score(text)
        alone = single.learn(text, own, return_scores=True)
        if room == single.booster.n_labels:  # else the model grew, which changes scores a little
            np.testing.assert_array_equal(score, scores[i, :before])
        np.testing.assert_array_equal(alone, scores[i, : single.n_labels])
        assert (scores[i, before:] == -np.inf).all()
    assert single.labels == block.labels
    np.testing.assert_array_equal(single.score(texts), block.score(texts))


def test_however_a_stream_is_cut():
    texts, tags = stream(120)
    whole, cut = small(), small()
    whole.learn(texts, tags)
    for start, stop in ((0, 3), (3, 50), (50, 51), (51, 120)):
        cut.learn(texts[start:stop], tags[start:stop])
    np.testing.assert_array_equal(whole.score(texts), cut.score(texts))


@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_saved_and_loaded_it_goes_on_exactly(way, tmp_path):
    texts, tags = stream(160)
    model = small(pairs=True, characters=(3, 4), n_embedding=2)
    vectors = np.random.default_rng(1).normal(size=(160, 2)).astype(np.float32)
    model.learn(texts[:80], tags[:80], embedding=vectors[:80])
    if way == "file":
        model.save(tmp_path / "m.blm")
        other = bl.load(tmp_path / "m.blm")
    elif way == "pickle":
        other = pickle.loads(pickle.dumps(model))
    else:
        other = copy.deepcopy(model)
    assert type(other) is TextRanker
    assert other.labels == model.labels
    for one in (model, other):
        one.learn(texts[80:], tags[80:], embedding=vectors[80:])
    np.testing.assert_array_equal(
        model.score(texts, embedding=vectors), other.score(texts, embedding=vectors)
    )
    for one, name in ((model, "a"), (other, "b")):
        one.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_copy_does_not_learn_with_the_original():
    model = taught()
    other = copy.deepcopy(model)
    before = other.score("ball song")
    model.learn(["ball song new"] * 5, [{"fresh"}] * 5)
    np.testing.assert_array_equal(other.score("ball song"), before)
    assert "fresh" not in other.labels


def test_a_file_says_that_it_is_of_a_text_model(tmp_path):
    taught().save(tmp_path / "m.blm", extra={"rows": 3})
    assert bl.saving.read_header(tmp_path / "m.blm")["is_text"]
    model, extra = bl.saving.load_with_extra(tmp_path / "m.blm", n_threads=2)
    assert (model.n_threads, extra) == (2, {"rows": 3})
    assert b"number1" not in (tmp_path / "m.blm").read_bytes()  # no words of the texts


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tags", {"list": [{"value": "a"}, {"value": "a"}]}),
        ("tags", {"list": [{"value": 1}]}),
        ("tags", {"list": [{"value": f"t{i}"} for i in range(10_000)]}),
        ("n_columns", {"value": 2**15}),
        ("n_columns", {"value": 2**60}),
        ("n_documents", {"value": "many"}),
        ("columns", {"value": 7}),
        ("columns", {"array": "surrogate"}),
    ],
)
def test_a_forged_file_is_refused(key, value, tmp_path):
    taught().save(tmp_path / "m.blm")
    metadata, arrays = parts((tmp_path / "m.blm").read_bytes())
    metadata["text"]["dict"] = [
        [name, value if name == key else old] for name, old in metadata["text"]["dict"]
    ]
    refuse(tmp_path / "forged.blm", forged(metadata, arrays))


def test_columns_of_words_have_no_names(tmp_path):
    # Found by fuzzing: such a file loaded, and every call failed.
    small().save(tmp_path / "m.blm")
    metadata, arrays = parts((tmp_path / "m.blm").read_bytes())
    metadata["config"]["features"] = ["a"]
    refuse(tmp_path / "forged.blm", forged(metadata, arrays))


def test_a_model_that_has_learned_nothing(tmp_path):
    model = small()
    assert model.rank("anything") == []
    assert model.rank(["a", "b"], top=2) == [[], []]
    assert model.score("a").shape == (0,)
    model.save(tmp_path / "m.blm")
    other = bl.load(tmp_path / "m.blm")
    other.learn("ball", {"sport"})
    assert other.rank("ball") == ["sport"]


def test_tags_that_are_known_from_the_start():
    model = small(labels=["b", "a"])
    assert model.labels == ["b", "a"]
    assert len(model.rank("anything")) == 2
    model.add_labels(["c", "a"])
    assert model.labels == ["b", "a", "c"]


def test_thousands_of_tags_come_while_it_runs():
    model = small()
    for _ in range(2):
        model.learn([f"w{i}" for i in range(1000)], [{f"t{i}"} for i in range(1000)])
    assert model.n_labels == 1000
    ranked = model.rank("w7")
    assert len(ranked) == 1000 == len(set(ranked))
    assert model.rank("w999", top=1) == ["t999"]


def test_texts_of_the_first_tag_are_learned_before_there_is_another():
    model = small()
    for _ in range(20):
        model.learn("ball and goal", {"sport"})
    model.learn("song", {"music"})
    assert model.rank("goal", top=1) == ["sport"]
    assert model.rank("song", top=1) == ["music"]


def test_tags_that_are_not_known_teach_nothing():
    texts, tags = stream(100)
    told, silent = small(labels=list(TOPICS)), small(labels=list(TOPICS))
    told.learn(texts, [{**dict.fromkeys(TOPICS, False), **dict.fromkeys(t, True)} for t in tags])
    silent.learn(texts, [dict.fromkeys(TOPICS) for _ in tags])
    assert told.rank("band", top=1) == ["music"]
    assert np.ptp(silent.score("band")) == pytest.approx(0.0, abs=1e-12)


def test_embeddings_are_learned_beside_words():
    rng = np.random.default_rng(0)
    vectors = np.tile(rng.normal(size=(2, 384)), (50, 1)).astype(np.float32)
    model = small(n_embedding=384)
    model.learn(["same words"] * 100, [{"a"}, {"b"}] * 50, embedding=vectors)
    assert model.rank("same words", top=1, embedding=vectors[0]) == ["a"]
    assert model.rank(["same words"] * 2, top=1, embedding=vectors[[0, 99]]) == [["a"], ["b"]]
    assert len(model.rank("same words")) == 2  # without is allowed


@pytest.mark.parametrize("text", ["", " \n ", "\x00", "\ud800 \udfff", "💥" * 100, "a" * 2_000_000])
def test_odd_texts_are_learned_and_ranked(text, tmp_path):
    model = taught()
    model.learn([text, text], [{"odd"}, set()])
    assert len(model.rank(text)) == model.n_labels
    model.save(tmp_path / "m.blm")
    np.testing.assert_array_equal(bl.load(tmp_path / "m.blm").score(text), model.score(text))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((3, {"a"}), "text is a int, but must be a string or a list of strings"),
        ((b"bytes", {"a"}), "text is a bytes"),
        (({"body": "x"}, {"a"}), "text is a dict"),
        ((["ok", None], [{"a"}, {"b"}]), r"text\[1\] is a NoneType, None, but must be a string"),
        ((["ok", 5.0], [{"a"}, {"b"}]), r"text\[1\] is a float"),
        (("x", "sport"), "tags is a str"),
        (("x", {"a", 3}), "tags has 3, but tags must be strings"),
        (("x", {""}), "tags has an empty string"),
        (("x", ["a", "a"]), "tags has label 'a' twice"),
        (("x", 7), "tags is a int"),
        ((["x", "y"], [{"a"}]), "tags has 1 sets, but must have one for each of the 2 texts"),
        ((["x", "y"], {"a", "b"}), "tags is a set, but for several texts must be a list"),
        ((["x", "y"], [{"new"}, {"a": "yes"}]), "for label 'a'"),
    ],
)
def test_bad_calls_are_refused_and_change_nothing(arguments, error, tmp_path):
    model = taught()
    model.save(tmp_path / "before")
    with pytest.raises((TypeError, ValueError), match=error):
        model.learn(*arguments)
    model.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


@pytest.mark.parametrize(
    ("embedding", "error"),
    [
        ([1.0, 2.0, 3.0], r"embedding has shape \(1, 3\), but must have \(1, 2\)"),
        ([np.nan, 1.0], "infinite or NaN"),
        ([np.inf, 1.0], "infinite or NaN"),
        (["a", "b"], "must have numbers"),
    ],
)
def test_bad_embeddings_are_refused(embedding, error):
    model = small(n_embedding=2)
    with pytest.raises((TypeError, ValueError), match=error):
        model.learn("x", {"a"}, embedding=embedding)
    with pytest.raises(ValueError, match="the model was made without"):
        small().learn("x", {"a"}, embedding=[1.0, 2.0])
    assert model.clock == 0


def test_bad_weights_and_tops_are_refused():
    model = taught()
    with pytest.raises(ValueError, match="weight has the value 2"):
        model.learn("x", {"a"}, weight=2.0)
    with pytest.raises(ValueError, match="top is 0"):
        model.rank("x", top=0)
    with pytest.raises(TypeError, match="labels is 'ab'"):
        TextRanker("ab")


def test_when_learning_fails_words_and_tags_of_the_row_are_not_kept():
    class Learner:
        fails = False

        def predict(self, x):
            return np.full(self.k, 1 / self.k)

        def learn(self, x, relevant, costs, weight):
            if self.fails:
                raise RuntimeError("no")

        def grow_labels(self, k):
            self.k = k

        def reset(self):
            pass

        k = 16

    learner = Learner()
    model = TextRanker(learners=[learner], n_columns=2**10)
    model.learn("a b", {"x"})
    learner.fails = True
    with pytest.raises(RuntimeError):
        model.learn(["a c", "d"], [{"x", "y"}, {"z"}])
    assert model.text_features.n_documents == model.clock == 1
    assert model.labels == ["x"]
    learner.fails = False
    model.learn("d", {"z"})
    assert model.labels == ["x", "z"]


def test_texts_are_ranked_while_others_are_learned():
    model = taught()
    texts, tags = stream(300, seed=1)
    faults = []

    def rank():
        for text in texts:
            ranked = model.rank(text, top=3)
            if len(set(ranked)) != 3 or not set(ranked) <= set(model.labels):
                faults.append(ranked)

    ranking = threading.Thread(target=rank)
    ranking.start()
    for text, own in zip(texts, tags, strict=True):
        model.learn(text, own | {f"new {text}"})
    ranking.join()
    assert not faults


def test_probabilities_and_sets_of_tags_are_the_boosters():
    model = taught(200)
    texts = ["the goal of the team", "a vote in the party"]
    likely = model.probabilities(texts)
    rows = model.rows(texts)
    np.testing.assert_array_equal(likely, model.booster.probabilities(rows)[:, : model.n_labels])
    np.testing.assert_array_equal(model.probabilities(texts[0]), likely[0])
    for optimize in ("micro-f1", "macro-f1", 0.3):
        found = model.predict(texts, optimize)
        named = model.booster.predict(rows, optimize)[:, : model.n_labels]
        for tags, row, chosen in zip(found, likely, named, strict=True):
            assert set(tags) == {model.labels[i] for i in np.flatnonzero(chosen)}
            places = [model.labels.index(tag) for tag in tags]
            assert (np.diff(row[places]) <= 0).all()  # best first
        assert model.predict(texts[0], optimize) == found[0]


def test_tags_may_be_made_known_before_they_are_learned():
    model = taught(30)
    known = model.labels
    model.add_labels([f"later{i}" for i in range(100)])  # more than there is room for
    assert model.labels == [*known, *(f"later{i}" for i in range(100))]
    model.learn("a new word", {"later99"})
    assert len(model.rank("a new word")) == len(known) + 100
    assert repr(model) == f"TextRanker({len(known) + 100} tags, 31 texts learned)"


def test_less_memory_than_the_counts_of_words_take_is_refused():
    with pytest.raises(ValueError, match="with fewer n_columns it can be less"):
        small(max_bytes=1000)


def test_a_text_without_a_known_word_says_so():
    tagger = TextRanker()
    assert tagger.known_words("red wine") == 0
    tagger.learn(["red wine", "old bread and red meat"], [{"drink"}, {"food"}])
    assert tagger.known_words("Red, RED wine!") == 2
    assert tagger.known_words(["", "Brot", "bread"]).tolist() == [0, 0, 1]
    with_vectors = TextRanker(n_embedding=3)
    with_vectors.learn("red", {"a"}, embedding=np.ones(3))
    assert with_vectors.known_words("red blue") == 1
