"""Why, in words: which words of a text made the score of a tag, and where they stand."""

import numpy as np
import pytest

from boostline.inspect import Explanation, explain
from boostline.text import TextRanker


@pytest.fixture(scope="module")
def tagger():
    model = TextRanker(n_columns=2**14)
    for _ in range(20):
        model.learn(
            ["the invoice is wrong", "cannot log in", "the red car"],
            [{"billing"}, {"login"}, {"car"}],
        )
    return model


def test_words_that_speak_for_a_tag_are_found(tagger):
    why = explain(tagger, "My Invoice, and the red line", "billing")
    assert isinstance(why, Explanation)
    assert why.features[0].name == "invoice"
    assert why.features[0].part > 0
    against = {part.name for part in why.features if part.part < 0}
    assert "red" in against
    assert why.name == "billing"
    assert tagger.rank("My Invoice, and the red line")[why.rank - 1] == "billing"
    assert why.score == tagger.score("My Invoice, and the red line")[0]


def test_parts_are_shares_of_the_exact_sum(tagger):
    why = explain(tagger, "the invoice of the car", "car")
    (parts,) = why.linear
    assert parts.score == pytest.approx(parts.rest + parts.parts.sum())
    of_column = dict(zip(parts.index.tolist(), parts.parts, strict=True))
    total = sum(map(abs, of_column.values()))
    for part in why.features:
        assert part.value is None and str(part) == part.name
        assert part.part == pytest.approx(of_column.get(part.feature, 0.0) / total)


def test_words_are_highlighted_where_they_stand(tagger):
    why = explain(tagger, "<b>INVOICE</b> & red", "billing")
    assert "[INVOICE]" in why.marked()
    assert "~red~" in why.marked()
    html = why.html()
    assert html.startswith("&lt;b&gt;<mark class=")
    assert "INVOICE</mark>&lt;/b&gt; &amp; " in html
    assert "\x1b[1;32mINVOICE\x1b[0m" in why.terminal()
    for text in (why.marked().translate({ord(c): None for c in "[]~"}),):
        assert text == "<b>INVOICE</b> & red"


@pytest.mark.parametrize("text", ["", "\ud800", "nothing known", "東京 ﬁnvoice", "a\x00b"])
def test_odd_texts_are_explained(tagger, text):
    why = explain(tagger, text, "billing")
    assert why.marked().translate({ord(c): None for c in "[]~"}) == text
    assert why.to_dict()["text"] == text


def test_past_texts_that_speak_for_a_tag(tagger):
    rows = explain(tagger, "invoice", "billing").rows
    assert rows
    assert all(
        (row.row - 1) % 3 == 0 for row in rows if row.part > 0.01
    )  # every third text is about invoices


def test_an_embedding_is_one_feature():
    rng = np.random.default_rng(0)
    model = TextRanker(n_columns=2**10, n_embedding=8)
    vectors = rng.normal(size=(2, 8))
    for _ in range(20):
        model.learn(["same", "same"], [{"a"}, {"b"}], embedding=vectors)
    why = explain(model, "same", "a", embedding=vectors[0])
    assert why.features[0].name == "(embedding)"
    assert why.features[0].part > 0.5


def test_bad_calls_are_refused(tagger):
    with pytest.raises(TypeError, match="x is a list, but must be one text"):
        explain(tagger, ["a"], "billing")
    with pytest.raises(ValueError, match="label is 'biling' \\(is 'billing' meant"):
        explain(tagger, "a", "biling")
