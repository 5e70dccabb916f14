"""Headers that no writer writes get a LoadError: no crash, no hang, no large allocation."""

import pytest
from forging import raw, refuse

pytestmark = pytest.mark.usefixtures("limited_memory")


def entry(dtype="F64", shape=(1,), place=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(place)}


HEADER_ATTACKS = {
    "length of exabytes": b"\xff" * 8 + b"{}",
    "length beyond the file": (10**6).to_bytes(8, "little") + b"{}",
    "no JSON": raw(b"nothing"),
    "a list": raw(b"[]"),
    "deep nesting": raw(b"[" * 100_000 + b"]" * 100_000),
    "deep objects": raw(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "not UTF-8": raw(b'{"a\xff": 1}'),
    "a huge number": raw(b'{"a": ' + b"9" * 100_000 + b"}"),
    "no metadata": raw({"x": entry()}, bytes(8)),
    "metadata as list": raw({"__metadata__": []}),
    "metadata of numbers": raw({"__metadata__": {"boostline": 7}}),
    "empty metadata": raw({"__metadata__": {"boostline": ""}}),
    "deep metadata": raw({"__metadata__": {"boostline": "[" * 100_000}}),
    "a key twice": raw(
        b'{"__metadata__": {"boostline": "{}"}, "__metadata__": {"boostline": "{}"}}'
    ),
    "other metadata": raw({"__metadata__": {"boostline": "{}", "format": "pt"}}),
    "shape of exabytes": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(shape=(2**40, 2**20), place=(0, 2**63))}
    ),
    "empty but endless shape": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(shape=(2**62, 2**62, 0), place=(0, 0))}
    ),
    "a hundred axes": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(shape=(1,) * 100)}, bytes(8)
    ),
    "negative shape": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(shape=(-1, -1))}, bytes(8)
    ),
    "shape of truth": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(shape=(True,))}, bytes(8)
    ),
    "unknown type": raw({"__metadata__": {"boostline": "{}"}, "x": entry("BF16")}, bytes(8)),
    "type of another kind": raw({"__metadata__": {"boostline": "{}"}, "x": entry([])}, bytes(8)),
    "backwards": raw({"__metadata__": {"boostline": "{}"}, "x": entry(place=(8, 0))}, bytes(8)),
    "overlap": raw(
        {"__metadata__": {"boostline": "{}"}, "x": entry(), "y": entry(place=(4, 12))}, bytes(12)
    ),
    "a gap": raw({"__metadata__": {"boostline": "{}"}, "x": entry(place=(8, 16))}, bytes(16)),
    "beyond the end": raw({"__metadata__": {"boostline": "{}"}, "x": entry()}, bytes(4)),
    "an entry too much": raw(
        {"__metadata__": {"boostline": "{}"}, "x": {**entry(), "strides": [0]}}, bytes(8)
    ),
    "an entry of text": raw({"__metadata__": {"boostline": "{}"}, "x": "F64"}),
}


@pytest.mark.parametrize("attack", HEADER_ATTACKS)
def test_impossible_headers_are_refused(attack, tmp_path):
    refuse(tmp_path / "m.blm", HEADER_ATTACKS[attack])
