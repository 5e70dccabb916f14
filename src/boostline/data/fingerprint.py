"""A checksum of rows, to recognise those that a model has learned."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boostline.contract.sparse import is_sparse


@dataclass
class Fingerprint:
    """A checksum of rows that does not depend on how they are cut into blocks."""

    sums: dict[str, int] = field(default_factory=dict)

    def update(self, X: Any, Y: Any) -> None:
        for name, matrix in (("x", X), ("y", Y)):
            if matrix.dtype == object:  # texts, and their tags
                for value in matrix:
                    content = value if isinstance(value, str) else repr(sorted(value.items()))
                    encoded = content.encode("utf-8", "surrogatepass")
                    self._add(name, np.frombuffer(b"%d|%b" % (len(encoded), encoded), np.uint8))
            elif is_sparse(matrix):
                csr = matrix.tocsr()
                self._add(f"{name}.values", _label_codes(csr.data) if name == "y" else csr.data)
                self._add(f"{name}.columns", np.asarray(csr.indices, dtype=np.int64))
                self._add(f"{name}.sizes", np.diff(csr.indptr).astype(np.int64))
            else:
                self._add(name, _label_codes(matrix) if name == "y" else np.asarray(matrix))

    def _add(self, name: str, array: Any) -> None:
        content = np.ascontiguousarray(array).view(np.uint8).data
        self.sums[name] = zlib.crc32(content, self.sums.get(name, 0))


def _label_codes(values: Any) -> Any:
    """0, 1, and -1 for unknown. A block has floats if it has unknown labels: that depends on where it was cut."""
    array = np.asarray(values)
    return (
        array if array.dtype == np.bool_ else np.where(np.isnan(array), -1, array).astype(np.int8)
    )
