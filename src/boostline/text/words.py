"""From a text to its terms: words, pairs of words, and characters where words are not divided by spaces.

Texts are normalised first (Unicode's NFKC and case folding), so that "Ｃafé", "café" and "CAFÉ" are one word, however
they are encoded. Terms are numbers of 32 bits (CRC-32), which is all that features need; `spans` says where in the
text each term stands, for people.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from boostline.contract.numbers import whole_number

#: Only so many characters of a text are read: one text cannot take over the memory.
MOST_CHARACTERS = 2**20


def _class_of(*ranges: tuple[int, int]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


# Scripts without spaces between words: Thai and Lao, Burmese, Khmer, kana and bopomofo, Chinese characters.
_SPACELESS = _class_of(
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3040, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
# Accents and vowel signs belong to the word, but are no letters to Python's \w.
_MARKS = "".join(
    chr(code)
    for first, last in ((0x0300, 0x1FFF), (0xA800, 0xABFF))
    for code in range(first, last)
    if unicodedata.category(chr(code)).startswith("M")
)
# C++ and C# are words of their own.
_ASCII_WORD = re.compile(rb"[a-z0-9_]+(?:\+\+|#)?")
_WORD = re.compile(rf"[\w{_MARKS}]+(?:\+\+|#)?")
_HAS_SPACELESS = re.compile(f"[{_SPACELESS}]")
# A run without spaces, or a word.
_RUN = re.compile(f"([{_SPACELESS}]+)|(?:(?![{_SPACELESS}])[\\w{_MARKS}])+(?:\\+\\+|#)?")
_CHUNK = re.compile(r"\S+")
# Soft hyphens, joiners and marks of direction, which are invisible.
_INVISIBLE = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x2060, 0x2065), 0xFEFF])
#: Lengths of the n-grams of characters that stand for words in scripts without spaces.
_SPACELESS_LENGTHS = (1, 3)
# Keeps n-grams of characters apart from words that look the same.
_CHARACTERS = zlib.crc32(b"\x00characters\x00")


class Span(NamedTuple):
    """A term, and where in the text it stands."""

    term: int
    name: str
    start: int
    stop: int


@dataclass(frozen=True)
class Words:
    """How a text is divided into terms.

    Parameters
    ----------
    pairs
        Whether two words in succession are a term as well.
    characters
        Shortest and longest n-grams of characters within words to add, such as (3, 5); None for none. Scripts without
        spaces between words are divided into characters in any case.

    Examples
    --------
    >>> [span.name for span in Words(pairs=True).spans("The Café, the CAFE\u0301")]
    ['the', 'café', 'the café', 'the', 'café the', 'café', 'the café']
    """

    pairs: bool = False
    characters: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.pairs, bool):
            raise TypeError(f"pairs is {self.pairs!r}, but must be True or False")
        if self.characters is None:
            return
        if not isinstance(self.characters, list | tuple) or len(self.characters) != 2:
            raise TypeError(
                f"characters is {self.characters!r}, but must be the shortest and the longest length, such as (3, 5)"
            )
        low = whole_number(self.characters[0], "characters[0]", 1, 16)
        high = whole_number(self.characters[1], "characters[1]", low, 16)
        object.__setattr__(self, "characters", (low, high))

    def terms(self, text: str) -> list[int]:
        """The terms of a text as often as they occur, in no particular order."""
        text = text[:MOST_CHARACTERS]
        if text.isascii():
            words = _ASCII_WORD.findall(text.lower().encode())
        elif _HAS_SPACELESS.search(normal := _normalised(text)):
            return [span.term for span in self.spans(text)]
        else:
            words = [word.encode() for word in _WORD.findall(normal)]
        crc = zlib.crc32
        terms = found = [crc(word) for word in words]
        if self.pairs:
            found = terms + [
                crc(b" " + word, before) for before, word in zip(terms, words[1:], strict=False)
            ]
        if self.characters is not None:
            found = found + [
                crc(gram.encode(), _CHARACTERS)
                for word in words
                for gram, _ in _grams(f"<{word.decode()}>", self.characters)
            ]
        return found

    def spans(self, text: str) -> Iterator[Span]:
        """The same terms with their places in the text, in the order of their last characters' words."""
        before: Span | None = None  # the last word
        for chunk in _CHUNK.finditer(text[:MOST_CHARACTERS]):
            normal = _normalised(chunk.group())
            as_it_was = len(normal) == len(chunk.group())
            for run in _RUN.finditer(normal):
                start = chunk.start() + run.start() if as_it_was else chunk.start()
                stop = chunk.start() + run.end() if as_it_was else chunk.end()
                if run.group(1) is not None:
                    before = None
                    for gram, at in _grams(run.group(), _SPACELESS_LENGTHS):
                        first = start + at if as_it_was else start
                        last = first + len(gram) if as_it_was else stop
                        yield Span(zlib.crc32(gram.encode()), gram, first, last)
                    continue
                word = Span(zlib.crc32(run.group().encode()), run.group(), start, stop)
                yield word
                if self.pairs and before is not None:
                    pair = zlib.crc32(b" " + word.name.encode(), before.term)
                    yield Span(pair, f"{before.name} {word.name}", before.start, word.stop)
                before = word
                if self.characters is not None:
                    for gram, at in _grams(f"<{word.name}>", self.characters):
                        first = max(start, start + at - 1) if as_it_was else start
                        last = min(stop, start + at - 1 + len(gram)) if as_it_was else stop
                        yield Span(zlib.crc32(gram.encode(), _CHARACTERS), gram, first, last)


def _normalised(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).translate(_INVISIBLE).casefold()
    return unicodedata.normalize("NFKC", text)


def _grams(text: str, lengths: tuple[int, int]) -> Iterator[tuple[str, int]]:
    """The n-grams of the characters of a text, and where they begin."""
    for n in range(lengths[0], lengths[1] + 1):
        for at in range(len(text) - n + 1):
            yield text[at : at + n], at
