"""What partial statistics are made of: sums that can be added in any order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from boostline.data.errors import need

FloatArray = NDArray[np.float64]

__all__ = ["FloatArray", "Kept", "Largest", "Moments", "long_row"]


@dataclass(frozen=True)
class Moments:
    """Counts, means and spreads of the features' non-zero values, as learners keep them (feature_scale.hpp).

    Attributes
    ----------
    n_rows : float
    n_nonzero, n_missing, mean, m2 : arrays (d,)
        m2 is the sum of squared deviations from the mean.

    Examples
    --------
    >>> import numpy as np
    >>> one = Moments.of_entries(1, 2, np.array([0]), np.array([1.0]))
    >>> two = Moments.of_entries(2, 2, np.array([0, 1, 0, 1]), np.array([3.0, np.nan, 5.0, 2.0]))
    >>> both = one + two
    >>> both.mean.tolist(), both.m2.tolist(), both.n_missing.tolist()
    ([3.0, 2.0], [8.0, 0.0], [0.0, 1.0])
    """

    n_rows: float
    n_nonzero: FloatArray
    n_missing: FloatArray
    mean: FloatArray
    m2: FloatArray

    @classmethod
    def none(cls, n_features: int) -> Self:
        """Of no rows."""
        return cls(0.0, *(np.zeros(n_features) for _ in range(4)))

    @classmethod
    def of_entries(cls, n_rows: int, n_features: int, columns: Any, values: FloatArray) -> Self:
        """Of the entries of n rows that are not zero."""
        missing = np.isnan(values)
        n_missing = np.bincount(columns[missing], minlength=n_features).astype(np.float64)
        columns, values = columns[~missing], values[~missing]
        n = np.bincount(columns, minlength=n_features).astype(np.float64)
        sums = np.bincount(columns, values, minlength=n_features)
        mean = np.divide(sums, n, out=np.zeros(n_features), where=n > 0)
        m2 = np.bincount(columns, (values - mean[columns]) ** 2, minlength=n_features)
        return cls(float(n_rows), n, n_missing, mean, np.where(n > 1, m2, 0.0))

    @classmethod
    def read(cls, arrays: dict[str, NDArray[Any]], prefix: str) -> Self:
        """From the arrays of a model's state."""
        names = ("n_nonzero", "n_missing", "mean", "m2")
        return cls(float(arrays[prefix + "n_rows"][0]), *(arrays[prefix + n] for n in names))

    def write(self, arrays: dict[str, NDArray[Any]], prefix: str) -> None:
        """Into the arrays of a model's state."""
        arrays[prefix + "n_rows"] = np.array([self.n_rows])
        for name in ("n_nonzero", "n_missing", "mean", "m2"):
            arrays[prefix + name] = np.ascontiguousarray(getattr(self, name))

    @property
    def nbytes(self) -> int:
        """Of the arrays."""
        return 8 + 4 * self.mean.nbytes

    def first(self, n_features: int) -> Moments:
        """Of the first features alone."""
        columns = (a[:n_features] for a in (self.n_nonzero, self.n_missing, self.mean, self.m2))
        return Moments(self.n_rows, *columns)

    def __add__(self, other: Moments) -> Moments:
        """Of both sets of rows (Chan, Golub and LeVeque, "Updating formulae", 1979)."""
        n = self.n_nonzero + other.n_nonzero
        some = n > 0
        zero = np.zeros(len(n))
        share = np.divide(other.n_nonzero, n, out=zero.copy(), where=some)
        delta = other.mean - self.mean
        mean = np.where(
            other.n_nonzero == 0,
            self.mean,
            np.where(self.n_nonzero == 0, other.mean, self.mean + delta * share),
        )
        m2 = self.m2 + other.m2 + delta**2 * self.n_nonzero * share
        return Moments(
            self.n_rows + other.n_rows,
            n,
            self.n_missing + other.n_missing,
            np.where(some, mean, 0.0),
            np.where(n > 1, m2, 0.0),
        )

    def without(self, part: Moments) -> Moments:
        """Of the rows that are not in `part`, which must be among these."""
        n = self.n_nonzero - part.n_nonzero
        some = n > 0
        sums = self.mean * self.n_nonzero - part.mean * part.n_nonzero
        mean = np.divide(sums, n, out=np.zeros(len(n)), where=some)
        share = np.divide(n, self.n_nonzero, out=np.zeros(len(n)), where=self.n_nonzero > 0)
        m2 = self.m2 - part.m2 - (mean - part.mean) ** 2 * part.n_nonzero * share
        return Moments(
            self.n_rows - part.n_rows,
            n,
            self.n_missing - part.n_missing,
            mean,
            np.where(n > 1, np.maximum(m2, 0.0), 0.0),
        )

    # As the core reads them.

    def means(self) -> FloatArray:
        """Of all values, zeros included."""
        n = self.n_rows - self.n_missing
        return self.mean * np.divide(self.n_nonzero, n, out=np.zeros(len(n)), where=n > 0)

    def inverse_deviations(self) -> FloatArray:
        """1 / deviation of all values; 0 for a feature that is constant but for rounding."""
        n = self.n_rows - self.n_missing
        with np.errstate(divide="ignore", invalid="ignore"):
            zeros = n - self.n_nonzero
            deviation = np.sqrt((self.m2 + self.mean**2 * (self.n_nonzero * zeros / n)) / n)
            varies = (n > 0) & (deviation > 1e-9 * np.abs(self.means())) & (deviation > 0)
            return np.where(varies, 1.0 / deviation, 0.0)

    def is_dense(self) -> NDArray[np.uint8]:
        """Not zero in more than half of the rows."""
        return (2.0 * self.n_nonzero > self.n_rows - self.n_missing).astype(np.uint8)


@dataclass(frozen=True)
class Kept:
    """The arrays of a learner of which one worker's are kept: that with the least number, which is random.

    Examples
    --------
    >>> import numpy as np
    >>> few, many = (Kept.drawn({"a": np.array([n])}, n, "tree 0") for n in (10, 1000))
    >>> (few + many).arrays["a"], (many + few).arrays["a"]
    (array([1000]), array([1000]))
    """

    number: float
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def drawn(cls, arrays: dict[str, NDArray[Any]], n_rows: int, name: str) -> Self:
        """For a worker with so many rows; the first of several exponential clocks, each as fast as its rows."""
        digest = hashlib.blake2b(name.encode(), digest_size=8)
        for key in sorted(arrays):
            digest.update(np.ascontiguousarray(arrays[key]).view(np.uint8).data)
        uniform = (int.from_bytes(digest.digest(), "little") + 1) / (2**64 + 1)
        return cls(float(-np.log(uniform) / n_rows) if n_rows else np.inf, arrays)

    def __add__(self, other: Kept) -> Kept:
        return other if other.number < self.number else self

    @property
    def nbytes(self) -> int:
        """Of the arrays."""
        return sum(array.nbytes for array in self.arrays.values())


@dataclass(frozen=True)
class Largest:
    """The largest values that any worker had."""

    values: FloatArray

    def __add__(self, other: Largest) -> Largest:
        return Largest(np.maximum(self.values, other.values))

    @property
    def nbytes(self) -> int:
        """Of the values."""
        return self.values.nbytes


def long_row(keys: NDArray[np.int64], values: Any, n: int) -> Any:
    """A long vector of which few entries are not zero."""
    sparse = need("scipy.sparse", "boostline.scale")
    return sparse.csr_array((values.astype(np.float64), keys, [0, len(keys)]), shape=(1, n))
