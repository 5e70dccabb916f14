"""The container of a saved model: named arrays and one text, in the safetensors format.

    8 bytes     length n of the header, little endian
    n bytes     header, JSON: {"__metadata__": {"boostline": text}, name: {"dtype", "shape", "data_offsets"}, ...}
    the rest    the arrays' bytes, one after the other

Any safetensors library reads these files. Reading and writing are done here nevertheless: the library maps the file
into memory and hands out whole copies, whereas a model is to be loaded in little more than its own size, and its
header is JSON of any depth from anybody. Nothing is allocated before the file is known to hold it, and arrays pass in
pieces, so that neither way takes a second copy of a model.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from boostline.saving.errors import LoadError

KEY = "boostline"
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in DTYPES.items()}

# Parsed JSON takes some ten times its own size in memory.
MAX_HEADER_BYTES = 64 * 2**20
_CHUNK = 2**20
_ALIGNMENT = 8


@dataclass(frozen=True)
class Entry:
    """Where an array lies in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Stored:
    """An array to be written: what it is, and a function that hands its bytes to another, piece by piece."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    pour: Callable[[Callable[[memoryview], object]], object]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def read(self) -> NDArray[Any]:
        """The array itself."""
        array = np.empty(self.shape, self.dtype)
        room, at = bytes_of(array), 0

        def take(piece: memoryview) -> None:
            nonlocal at
            room[at : at + len(piece)] = piece
            at += len(piece)

        self.pour(take)
        return array


def stored(name: str, array: NDArray[Any]) -> Stored:
    """An array in memory, to be written under this name."""
    if dtype_name(array.dtype) is None:
        raise TypeError(f"{name} is an array of {array.dtype}, which the format does not have")
    # order="C" keeps arrays without axes as they are, where ascontiguousarray gives them one
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return Stored(plain.dtype, plain.shape, lambda take: take(bytes_of(plain)))


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """The format's name of a NumPy type; None if the format does not have it."""
    return _NAMES.get(dtype.newbyteorder("<"))


def canonical_json(value: Any) -> str:
    """The one text that stands for `value`: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, allow_nan=False, separators=(",", ":"))


def write(file: BinaryIO, metadata: Mapping[str, Any], arrays: Mapping[str, Stored]) -> None:
    """Write arrays and metadata; the same content gives the same bytes.

    ``sha256`` is added to the metadata: of their canonical JSON and of every array's name, type, shape and bytes.
    """
    # Wide types first, so that every array starts at a multiple of its own width, as readers that map the file like.
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    digest = _start_digest(canonical_json(metadata))
    for name in sorted(arrays):
        _describe(digest, name, arrays[name].dtype, arrays[name].shape)
        arrays[name].pour(digest.update)
    text = canonical_json({**metadata, "sha256": digest.hexdigest()})
    header: dict[str, Any] = {"__metadata__": {KEY: text}}
    position = 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes],
        }
        position += array.nbytes
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % _ALIGNMENT)
    if len(encoded) > MAX_HEADER_BYTES:
        raise ValueError(
            f"the model's description has {len(encoded)} bytes, more than the {MAX_HEADER_BYTES} of the format"
        )
    file.write(len(encoded).to_bytes(8, "little"))
    file.write(encoded)
    for name in order:
        arrays[name].pour(file.write)


class ArrayFile:
    """An open file whose header has been read and checked; arrays are read one by one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        size = os.fstat(file.fileno()).st_size
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise LoadError("it is incomplete, or not a model")
        if length > MAX_HEADER_BYTES:
            raise LoadError(f"its header claims {length} bytes")
        header = _parse(file.read(length), "header")
        self._text = _text(header.pop("__metadata__", None))
        self._first = 8 + length
        self.entries = {name: _entry(name, value) for name, value in header.items()}
        _check_places(self.entries, size - self._first)

    def metadata(self) -> dict[str, Any]:
        """The JSON object beside the arrays, in the one form in which it is written."""
        metadata = _parse(self._text.encode(), "description")
        if canonical_json(metadata) != self._text:
            raise LoadError("its description has been changed")
        return metadata

    def check_digest(self, metadata: Mapping[str, Any]) -> None:
        """Raise unless arrays and metadata are those that were written."""
        rest = {key: value for key, value in metadata.items() if key != "sha256"}
        digest = _start_digest(canonical_json(rest))
        buffer = memoryview(bytearray(_CHUNK))
        for name in sorted(self.entries):
            entry = self.entries[name]
            _describe(digest, name, entry.dtype, entry.shape)
            self._file.seek(self._first + entry.start)
            left = entry.stop - entry.start
            while left:
                part = buffer[: min(left, _CHUNK)]
                self._fill(part)
                digest.update(part)
                left -= len(part)
        if digest.hexdigest() != metadata.get("sha256"):
            raise LoadError("it is damaged: its SHA-256 is not the one that was written")

    def read_into(self, name: str, first: int, buffer: memoryview) -> None:
        """Fill a buffer with the bytes of an array from the given one on."""
        entry = self.entries[name]
        if first + len(buffer) > entry.stop - entry.start:
            raise LoadError(f"the array {name!r} is too short")
        self._file.seek(self._first + entry.start + first)
        self._fill(buffer)

    def read(self, name: str) -> NDArray[Any]:
        """Read one array."""
        if name not in self.entries:
            raise LoadError(f"it has no array {name!r}")
        entry = self.entries[name]
        array = np.empty(entry.shape, entry.dtype)
        self._file.seek(self._first + entry.start)
        self._fill(bytes_of(array))
        if entry.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
            raise LoadError(f"the array {name!r} has a bool that is neither 0 nor 1")
        return array

    def _fill(self, view: memoryview) -> None:
        if self._file.readinto(view) != len(view):  # type: ignore[attr-defined]
            raise LoadError("it is incomplete")


def bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, which has its values in one piece."""
    return array.reshape(-1).view(np.uint8).data


def _start_digest(text: str) -> Any:
    digest = hashlib.sha256()
    digest.update(f"{len(text)}|{text}".encode())
    return digest


def _describe(digest: Any, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    digest.update(f"{len(name)}|{name}|{_NAMES[dtype]}|{list(shape)}|".encode())


def _parse(encoded: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(encoded.decode("utf-8"), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise LoadError(f"its {what} is damaged: {error}") from error
    if not isinstance(value, dict):
        raise LoadError(f"its {what} is not a JSON object")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key occurs twice")
    return value


def _text(metadata: Any) -> str:
    if not isinstance(metadata, dict) or not isinstance(metadata.get(KEY), str):
        raise LoadError("it is not a boostline model: its header has no boostline entry")
    if len(metadata) != 1:
        raise LoadError("its header has entries besides boostline's")
    return str(metadata[KEY])


def _entry(name: str, value: Any) -> Entry:
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise LoadError(f"the array {name!r} has a wrong description")
    shape, offsets = value["shape"], value["data_offsets"]
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            raise LoadError(f"the array {name!r} has an invalid shape or position")
    if not isinstance(value["dtype"], str) or value["dtype"] not in DTYPES:
        raise LoadError(f"the array {name!r} is of the unknown type {value['dtype']!r}")
    dtype = DTYPES[value["dtype"]]
    # NumPy refuses more axes, and counts elements in 63 bits even of arrays that are empty.
    if len(shape) > 32 or any(n >= 2**60 for n in shape):
        raise LoadError(f"the array {name!r} has an impossible shape")
    if len(offsets) != 2 or offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:
        raise LoadError(f"the array {name!r} does not fit its position")
    return Entry(dtype, tuple(shape), offsets[0], offsets[1])


def _check_places(entries: Mapping[str, Entry], size: int) -> None:
    """Every byte belongs to exactly one array."""
    position = 0
    for entry in sorted(entries.values(), key=lambda e: (e.start, e.stop)):
        if entry.start != position:
            raise LoadError("its arrays overlap or leave gaps")
        position = entry.stop
    if position != size:
        raise LoadError(f"it has {size} bytes of arrays, but must have {position}")
