"""Take model files apart and put them together again with a correct checksum, independently of the library's writer."""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boostline as bl
from boostline.saving import LoadError, load_with_extra
from boostline.saving.container import DTYPES, canonical_json

Arrays = Mapping[str, NDArray[Any]]

NAMES = {dtype: name for name, dtype in DTYPES.items()}


def header_length(content: bytes) -> int:
    return int.from_bytes(content[:8], "little")


def parts(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description and the arrays of a file."""
    length = header_length(content)
    header = json.loads(content[8 : 8 + length])
    metadata = json.loads(header.pop("__metadata__")["boostline"])
    data = content[8 + length :]
    arrays = {
        name: np.frombuffer(data[slice(*e["data_offsets"])], DTYPES[e["dtype"]]).reshape(e["shape"])
        for name, e in header.items()
    }
    return metadata, arrays


#: Numbers that nobody expects.
ODD = [0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**63 - 1, 1e308, -1e308, 1e-320, 1e17, 0.5]


def with_odd_numbers(
    arrays: Arrays, names: Sequence[str], rng: np.random.Generator
) -> dict[str, NDArray[Any]]:
    """The arrays with an odd number somewhere in one to three of those named."""
    odd = dict(arrays)
    for name in rng.choice(names, size=int(rng.integers(1, 4)), replace=False):
        array = arrays[name].copy()
        value = ODD[int(rng.integers(len(ODD)))]
        if array.dtype.kind != "f":
            info = np.iinfo(array.dtype)
            value = min(max(int(value), info.min), info.max) if abs(value) < 1e300 else 1
        with np.errstate(over="ignore"):
            array[int(rng.integers(len(array)))] = value
        odd[name] = array
    return odd


def is_harmless(path: str | os.PathLike[str], X: Any, Y: Any) -> bool:
    """Whether the file loads; a model that does must stand use, with finite scores."""
    try:
        model = bl.load(path)
    except LoadError:
        return False
    with np.errstate(all="ignore"):
        for scores in (model.score(X), model.learn(X, Y), model.score(X)):
            assert np.isfinite(scores).all()
    return True


def forged(metadata: Mapping[str, Any], arrays: Arrays) -> bytes:
    """A file of them, with a correct checksum."""
    metadata = {key: value for key, value in metadata.items() if key != "sha256"}
    text = canonical_json(metadata)
    digest = hashlib.sha256(f"{len(text)}|{text}".encode())
    header, body = {}, []
    place = 0
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        kind = NAMES[array.dtype]
        digest.update(f"{len(name)}|{name}|{kind}|{list(array.shape)}|".encode() + array.tobytes())
        offsets = [place, place + array.nbytes]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": offsets}
        body.append(array.tobytes())
        place += array.nbytes
    text = canonical_json({**metadata, "sha256": digest.hexdigest()})
    encoded = json.dumps({"__metadata__": {"boostline": text}, **header}).encode()
    return len(encoded).to_bytes(8, "little") + encoded + b"".join(body)


def raw(header: Any, body: bytes = b"") -> bytes:
    """A file with this header, or with these bytes in its place."""
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(encoded).to_bytes(8, "little") + encoded + body


def refuse(path: Path, content: bytes, words: str = "") -> str:
    """Fails unless a file with this content is refused, in an error that names it and matches the words."""
    path.write_bytes(content)
    try:
        load_with_extra(path)
    except LoadError as error:
        said = str(error)
    else:
        raise AssertionError("it loads")
    assert str(path) in said and re.search(words, said), said
    return said


def changed(array: NDArray[Any], place: int, value: Any) -> NDArray[Any]:
    """A copy with one number changed."""
    array = array.copy()
    array.reshape(-1)[place] = value
    return array
