"""Texts divided into terms: the same words however they are encoded, and places that are right."""
# ruff: noqa: RUF001 - characters that look like others are the point here

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostline.text import Words
from boostline.text.words import MOST_CHARACTERS


def names(text, **settings):
    return [span.name for span in Words(**settings).spans(text)]


def test_words_are_folded_and_normalised():
    assert names("STRASSE straße ＡＢＣ") == ["strasse", "strasse", "abc"]
    assert names("cafe\u0301") == names("caf\u00e9") == ["café"]
    assert names("C++, C# and c; snake_case don't 3.5") == [
        *("c++", "c#", "and", "c", "snake_case", "don", "t", "3", "5")
    ]


def test_words_of_scripts_with_vowel_signs_stay_whole():
    assert names("नमस्ते दुनिया") == ["नमस्ते", "दुनिया"]


def test_invisible_characters_do_not_divide_words():
    assert names("co\u00adoperate zero\u200bwidth") == ["cooperate", "zerowidth"]


def test_scripts_without_spaces_are_divided_into_characters():
    assert names("東京都") == ["東", "京", "都", "東京", "京都", "東京都"]
    assert names("go東京") == ["go", "東", "京", "東京"]
    assert "สวั" in names("สวัสดี")
    assert names("안녕 세상") == ["안녕", "세상"]  # Korean has spaces


def test_pairs_are_words_in_succession():
    assert names("a b c", pairs=True) == ["a", "b", "a b", "c", "b c"]
    assert names("a 東 b", pairs=True) == ["a", "東", "b"]


def test_characters_are_n_grams_within_words():
    assert names("ab c", characters=(2, 3)) == [
        "ab",
        "<a",
        "ab",
        "b>",
        "<ab",
        "ab>",
        "c",
        "<c",
        "c>",
        "<c>",
    ]


def test_an_n_gram_of_characters_is_not_the_word_that_looks_like_it():
    by_name = {}
    for span in Words(characters=(2, 2)).spans("ab"):
        by_name.setdefault(span.name, set()).add(span.term)
    assert len(by_name["ab"]) == 2


TEXTS = st.text(
    st.sampled_from("aBß é\u0301東京ー かก\n\t.+#_3½﷽\u00adﬁ\x00\ud800नि\u200d𠀀İ")
    | st.characters(),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.booleans(), st.none() | st.just((2, 4)))
def test_the_quick_way_finds_the_same_terms_as_the_one_with_places(text, pairs, characters):
    words = Words(pairs, characters)
    spans = list(words.spans(text))
    assert sorted(words.terms(text)) == sorted(span.term for span in spans)
    assert all(0 <= span.start < span.stop <= len(text) for span in spans)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_the_form_of_unicode_does_not_matter(text):
    words = Words(True, (2, 3))
    terms = sorted(words.terms(text))
    for form in ("NFC", "NFD"):
        assert sorted(words.terms(unicodedata.normalize(form, text))) == terms


def test_places_are_those_of_the_word():
    text = "The Ｃafé — größe"
    assert [text[span.start : span.stop] for span in Words().spans(text)] == [
        "The",
        "Ｃafé",
        "größe",
    ]
    # one character that becomes several: the whole of what stands between spaces
    text = "10㎏ x"
    assert [text[span.start : span.stop] for span in Words().spans(text)] == ["10㎏", "x"]


def test_of_a_huge_text_the_beginning_is_read():
    text = "word " * (MOST_CHARACTERS // 4)
    assert len(Words().terms(text)) == -(-MOST_CHARACTERS // 5)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"pairs": 1}, "pairs is 1, but must be True or False"),
        ({"characters": 3}, "characters is 3, but must be the shortest"),
        ({"characters": (3,)}, "but must be the shortest"),
        ({"characters": (5, 3)}, r"characters\[1\] is 3, but must be between 5 and 16"),
    ],
)
def test_bad_settings_are_refused(settings, error):
    with pytest.raises((TypeError, ValueError), match=error):
        Words(**settings)
