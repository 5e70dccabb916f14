"""Values in the text of an ARFF file, quoted or not, and rows taken apart into them.

The patterns are possessive (``*+``): what they have taken they never give back, so that the time is
linear in the length of the text, whatever is in it. Blanks are ASCII only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

BLANKS = " \t\r\n\f\v"

_BLANK = r"[ \t\r\n\f\v]"
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


@cache
def _value(stops: str) -> str:
    """Pattern of a value: single-quoted, double-quoted, or up to one of `stops`."""
    single, double = (rf"{q}((?:[^{q}\\]++|\\.)*+){q}{_BLANK}*+" for q in "'\"")
    return rf"{_BLANK}*+(?:{single}|{double}|(?!['\"])([^{stops}]*+))"


_INDEX = re.compile(rf"{_BLANK}*+([0-9]++){_BLANK}++")
_PAIR = re.compile(rf"{_INDEX.pattern}{_value(',}%')}(,?)", re.DOTALL)
_CLOSE = re.compile(rf"{_BLANK}*+\}}{_BLANK}*+(%.*+)?", re.DOTALL)


def read_value(text: str, position: int, stops: str) -> tuple[str | None, int]:
    """Read the value at `position`; an unquoted one ends before one of `stops`.

    Returns the value (None is a missing one) and the position of what follows it and its blanks.
    """
    match = re.compile(_value(stops), re.DOTALL).match(text, position)
    if match is None:
        column = len(text) - len(text[position:].lstrip(BLANKS)) + 1
        raise ValueError(f"has a quote at column {column} that is never closed")
    return _found(match[1], match[2], match[3]), match.end()


def _found(single: str | None, double: str | None, plain: str | None) -> str | None:
    if plain is None:
        return _ESCAPED.sub(lambda m: _ESCAPES.get(m[1], m[1]), single or double or "")
    text = plain.rstrip(BLANKS)
    return None if text == "?" else text


def split_dense(row: str) -> list[str | None]:
    """Values of a dense row; None is a missing one.

    Examples
    --------
    >>> split_dense(r"1, 'a, b', ? % note")
    ['1', 'a, b', None]

    """
    values: list[str | None] = []
    position = -1
    while position < 0 or row[position : position + 1] == ",":
        value, position = read_value(row, position + 1, ",%")
        values.append(value)
    if row[position : position + 1] not in ("", "%"):
        raise ValueError(f"has {row[position]!r} directly after a closing quote")
    return values


def split_sparse(row: str) -> Iterator[tuple[int, str | None]]:
    """Pairs of a sparse row ``{index value, ...}``; what is left out is not among them.

    Examples
    --------
    >>> list(split_sparse("{0 2.5, 3 'a, b', 4 ?}"))
    [(0, '2.5'), (3, 'a, b'), (4, None)]

    """
    position = 1
    while pair := _PAIR.match(row, position):
        index, single, double, plain, comma = pair.groups()
        yield int(index), _found(single, double, plain)
        position = pair.end()
        if not comma:
            break
    close = _CLOSE.match(row, position)
    if close is not None and close.end() == len(row):
        return
    if close is not None or "}" not in row[position:]:
        raise ValueError("the sparse row does not end with }: it is incomplete or damaged")
    if (start := _INDEX.match(row, position)) is not None:
        read_value(row, start.end(), ",}%")  # says what is wrong with its quote
    given = row[position : position + 30].rstrip(BLANKS + "}")
    raise ValueError(f"the sparse row has {given!r}, but must have 'index value'")
