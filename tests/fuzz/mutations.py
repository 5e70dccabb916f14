"""Damage to bytes: what a bad disk, an editor, a foreign exporter or an attacker does to a file."""

from __future__ import annotations

import numpy as np

#: Pieces with a meaning in some format, put where nobody expects them.
PIECES: tuple[bytes, ...] = (
    *(b"?", b"-?", b"{", b"}", b"{}", b"'", b'"', b"\\", b",", b";", b":", b"%", b"#", b"|", b"="),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\t", b" ", b"\x0b", b"\x0c", b"\x85", b"\xa0", b"\x00"),
    *(
        b"\xff",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xe2\x80\xa8",
        b"\xed\xa0\x80",
    ),
    *(b"0", b"1", b"-1", b"+1", b"1e0", b"1e400", b"-1e400", b"1e155", b"1e-400", b"-0", b"0x10"),
    *(b"1_000", b"1,5", b"NaN", b"nan", b"inf", b"-inf", b"Infinity", b"true", b"None", b"null"),
    *(b"NA", b"#N/A", b"2147483648", b"99999999999999999999", b"9" * 400, b"1" + b"0" * 5000),
    *(b"@data", b"@attribute", b"@attribute a {0,1}\n", b"@attribute a {}\n", b"@relation r\n"),
    *(b"@attribute a string\n", b"@attribute a date\n", b"@end", b"@attribute 'a numeric\n"),
    *(b"{0 1}", b"{0 1, 0 1}", b"{99 1}", b"{1e0 1}", b"{-1 1}", b"{ }", b"{0}", b"0 ,"),
    *(b"2000000000:1", b"0:1", b"1:", b":1", b"1:1 1:1", b"5:1 2:1", b"qid:3", b"-1:1", b"1:nan"),
    *(b"3 4 5\n", b"0 0 0\n", b"1000000000 1000000000 1000000000\n", b"7,7", b",", b"1,", b"inf "),
    *(
        b'{"features": [1], "labels": []}\n',
        b'{"features": {}, "labels": ["a"]}\n',
        b'"features": {},',
    ),
    *(b'{"a": 1, "a": 2}', b'{"features": {"a": 1, "a": 2}, "labels": []}\n', b"[[[[", b"[" * 3000),
    *(b'{"features": null, "labels": null}\n', b'{"features": {"a": [1]}, "labels": [1]}\n'),
    *(b"\\u0000", b"\\ud800", b"\\x41", b"1e999", b"-", b"+", b"."),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"&amp;",
        b"&b;",
        b"<label name='x'/>",
        b"<label/>",
        b"]]>",
    ),
    *(
        b"<?xml version='1.0' encoding='no-such'?>",
        b"<?xml version='1.0' encoding='utf-16'?>",
        b"<a>" * 500,
    ),
    *(b" " * 2000, b"," * 2000, b"\n" * 500, b"a" * 3000, b"\t " * 300, b'"' * 301, b"{" * 500),
)

#: Bytes of a piece that is repeated until it is long.
LONG = 300_000


def mutated(rng: np.random.Generator, content: bytes, times: int) -> bytes:
    """The content after so many changes."""
    for _ in range(times):
        content = _changed(rng, bytearray(content))
    return content


def _changed(rng: np.random.Generator, content: bytearray) -> bytes:
    place = int(rng.integers(len(content) + 1))
    stop = min(len(content), place + int(rng.choice([1, 2, 5, 20, 200])))
    what = rng.integers(10)
    if what == 0 and content:
        content[place % len(content)] ^= 1 << int(rng.integers(8))
    elif what == 1 and content:
        content[place % len(content)] = int(rng.integers(256))
    elif what in (2, 3, 4):
        content[place:place] = PIECES[rng.integers(len(PIECES))]
    elif what == 5:
        content[place:stop] = PIECES[rng.integers(len(PIECES))]
    elif what == 6:
        del content[place:stop]
    elif what == 7:
        content[place:place] = content[place:stop] * int(rng.choice([1, 2, 50]))
    elif what == 9 and rng.random() < 0.1:  # what is not linear in length takes too long now
        piece = PIECES[rng.integers(len(PIECES))]
        content[place:place] = piece * (LONG // len(piece))
    elif what == 8:
        return _lines_changed(rng, bytes(content))
    elif rng.random() < 0.3:
        return bytes(content[:place])
    return bytes(content)


def _lines_changed(rng: np.random.Generator, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    a, b = rng.integers(len(lines), size=2)
    what = rng.integers(6)
    if what == 0:
        lines[a], lines[b] = lines[b], lines[a]
    elif what == 1:
        del lines[a]
    elif what == 2:
        lines.insert(int(a), lines[b])
    else:  # a cell of another line, or another piece, for a cell
        end = lines[a][len(lines[a].rstrip()) :]
        cells, others = lines[a].rstrip().split(b","), lines[b].rstrip().split(b",")
        other = others[rng.integers(len(others))] if what < 4 else PIECES[rng.integers(len(PIECES))]
        cells[rng.integers(len(cells))] = other
        lines[a] = b",".join(cells) + end
    return b"".join(lines)
