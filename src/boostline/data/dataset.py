"""A data set in memory: features, labels, names, and where training ends and testing begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from boostline.contract.labels import unknown_values
from boostline.contract.numbers import whole_number
from boostline.contract.sparse import is_sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Matrix: TypeAlias = "NDArray[np.float64] | csr_matrix"
#: Of bools; of floats where something is unknown, which is NaN.
Indicator: TypeAlias = "NDArray[np.bool_] | NDArray[np.float64] | csr_matrix"

#: With more labels than this the readers keep Y as CSR: a row of so many bools is mostly zeros.
MAX_DENSE_LABELS = 1024


class Block(NamedTuple):
    """Consecutive rows: features ``X`` (n, d) and indicators ``Y`` (n, k)."""

    X: Matrix
    Y: Indicator


@dataclass(frozen=True)
class DatasetSummary:
    """Size of a data set and of its label sets.

    Print it to see a small table; `as_dict` is for programs.
    """

    name: str
    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    min_relevant: int
    mean_relevant: float
    max_relevant: int
    empty_train: int
    empty_test: int
    full_rows: int
    label_sets: int
    density: float
    missing: int

    def as_dict(self) -> dict[str, Any]:
        """All figures by name, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        rows = [
            ("train rows", f"{self.n_train}"),
            ("test rows", f"{self.n_test}"),
            ("features", f"{self.n_features}"),
            ("labels k", f"{self.n_labels}"),
            (
                "relevant labels, min / mean / max",
                f"{self.min_relevant} / {self.mean_relevant:.4f} / {self.max_relevant}",
            ),
            ("rows without a label, train / test", f"{self.empty_train} / {self.empty_test}"),
            ("rows with every label", f"{self.full_rows}"),
            ("different label sets", f"{self.label_sets}"),
            ("share of features not 0", f"{self.density:.4f}"),
            ("missing values", f"{self.missing}"),
        ]
        width = max(len(title) for title, _ in rows)
        return "\n".join([self.name, *(f"  {title:<{width}}  {value}" for title, value in rows)])


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their relevant labels, train rows first.

    Parameters
    ----------
    X
        Features, float64 ndarray or scipy CSR of shape (n, d); NaN is a missing value.
    Y
        Indicators of the relevant labels, bool ndarray (or CSR when k is large) of shape (n, k). If some labels are
        unknown, floats: 0.0, 1.0, or NaN for unknown.
    n_train
        The first `n_train` rows are for training, the rest for testing. Default: all rows.
    labels, features
        Names of the columns of `Y` and `X`. Default: ``"0", "1", ...``.
    name
        Name in tables.

    Examples
    --------
    >>> import numpy as np
    >>> from boostline.data import Dataset
    >>> data = Dataset(np.eye(3), np.array([[1, 0], [1, 1], [0, 0]]), n_train=2, labels=["a", "b"])
    >>> len(data), data.n_labels, len(data.test)
    (3, 2, 1)
    >>> [relevant.tolist() for x, relevant in data]
    [[True, False], [True, True], [False, False]]
    >>> data.describe().mean_relevant
    1.0

    """

    X: Matrix
    Y: Indicator
    n_train: int = -1
    labels: Sequence[str] = field(default=())
    features: Sequence[str] = field(default=())
    name: str = "data"

    def __post_init__(self) -> None:
        X = _as_matrix(self.X, "X").astype(np.float64, copy=False)
        Y = _as_indicator(self.Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but Y has {Y.shape[0]}")
        n, d, k = X.shape[0], X.shape[1], Y.shape[1]
        n_train = n if self.n_train == -1 else int(self.n_train)
        if not 0 <= n_train <= n:
            raise ValueError(f"n_train is {self.n_train}, but there are {n} rows")
        fields: dict[str, Any] = {
            "X": X,
            "Y": Y,
            "n_train": n_train,
            "labels": _names(self.labels, k, "labels"),
            "features": _names(self.features, d, "features"),
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        kind = "CSR" if is_sparse(self.X) else "dense"
        return (
            f"Dataset({self.name!r}, {self.n_train} train + {self.n_test} test rows, "
            f"{self.n_features} features ({kind}), {self.n_labels} labels)"
        )

    def __iter__(self) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Yield ``(x, relevant)``: a row (or a CSR matrix of one row) and k indicators."""
        for block in self.blocks(1024):
            yield from iterate_rows(block)

    @property
    def n_test(self) -> int:
        """Number of test rows."""
        return len(self) - self.n_train

    @property
    def n_features(self) -> int:
        """Number of columns of X (d)."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels (k)."""
        return int(self.Y.shape[1])

    @property
    def train(self) -> Dataset:
        """The train rows, as a view where the arrays allow it."""
        return self._part(slice(0, self.n_train), self.n_train)

    @property
    def test(self) -> Dataset:
        """The test rows, as a view where the arrays allow it."""
        return self._part(slice(self.n_train, len(self)), 0)

    def blocks(self, size: int = 1024) -> Iterator[Block]:
        """Yield consecutive blocks of at most `size` rows; no block spans train and test."""
        whole_number(size, "size", 1)
        for first, end in ((0, self.n_train), (self.n_train, len(self))):
            for start in range(first, end, size):
                rows = slice(start, min(start + size, end))
                yield Block(self.X[rows], self.Y[rows])

    def shuffled(self, seed: int) -> Dataset:
        """Return a copy with the rows shuffled within train and within test.

        The permutation depends on `seed` and the two sizes only (NumPy's Philox generator).
        """
        random = np.random.Generator(np.random.Philox(seed))
        order = np.concatenate(
            [random.permutation(self.n_train), self.n_train + random.permutation(self.n_test)]
        )
        return self._part(order, self.n_train)

    def describe(self) -> DatasetSummary:
        """Return the number of rows, features and labels, and how many labels a row has."""
        relevant: Any = self.Y == 1
        sizes = np.asarray(relevant.sum(axis=1)).ravel().astype(np.int64)
        values = self.X.data if is_sparse(self.X) else self.X
        cells = max(1, len(self) * self.n_features)
        return DatasetSummary(
            name=self.name,
            n_train=self.n_train,
            n_test=self.n_test,
            n_features=self.n_features,
            n_labels=self.n_labels,
            min_relevant=int(sizes.min(initial=self.n_labels if len(self) else 0)),
            mean_relevant=float(sizes.mean()) if len(self) else 0.0,
            max_relevant=int(sizes.max(initial=0)),
            empty_train=int((sizes[: self.n_train] == 0).sum()),
            empty_test=int((sizes[self.n_train :] == 0).sum()),
            full_rows=int((sizes == self.n_labels).sum()),
            label_sets=_count_label_sets(self.Y),
            density=float(np.count_nonzero(np.asarray(values)) / cells),
            missing=int(np.isnan(np.asarray(values)).sum()),
        )

    def _part(self, rows: Any, n_train: int) -> Dataset:
        return Dataset(self.X[rows], self.Y[rows], n_train, self.labels, self.features, self.name)


class Blocks(ABC):
    """Blocks of rows that come one after the other, and what is known of them beforehand.

    Attributes
    ----------
    name : str
        Name of the file, or of the problem.
    features, labels : list of str
        Names of the columns of X and Y.

    """

    name: str
    features: list[str]
    labels: list[str]

    @property
    def n_features(self) -> int:
        """Number of columns of X (d)."""
        return len(self.features)

    @property
    def n_labels(self) -> int:
        """Number of labels (k)."""
        return len(self.labels)

    @abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """Yield blocks ``(X, Y)``; the last one may be shorter."""

    def rows(self) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Yield single rows ``(x, relevant)``: a row of X and k bools."""
        for block in self:
            yield from iterate_rows(block)


def iterate_rows(block: Block) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Rows of one block as ``(x, relevant)``."""
    X, Y = block
    indicators: NDArray[Any] = Y if isinstance(Y, np.ndarray) else Y.toarray()
    for row in range(len(indicators)):
        yield (X[row] if isinstance(X, np.ndarray) else X[row : row + 1]), indicators[row]


def _as_matrix(value: Any, name: str) -> Any:
    """Two-dimensional, dense or CSR."""
    if is_sparse(value):
        return value.tocsr()
    array = np.asarray(value)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, but must have 2 (rows, columns)")
    return array


def _as_indicator(value: Any) -> Any:
    """Bools; floats if something is unknown (NaN)."""
    matrix = _as_matrix(value, "Y")
    values = np.asarray(matrix.data if is_sparse(matrix) else matrix)
    if values.dtype == np.bool_:
        return matrix
    is_partly = unknown_values(values, values == 1, "Y") is not None
    return matrix.astype(np.float64 if is_partly else np.bool_, copy=False)


def _names(names: Sequence[str], count: int, what: str) -> list[str]:
    if len(names) == 0 and count:
        return [str(index) for index in range(count)]
    if len(names) != count:
        raise ValueError(f"{what} has {len(names)} names, but there are {count} columns")
    return [str(name) for name in names]


def _count_label_sets(Y: Any) -> int:
    if is_sparse(Y):
        ordered = Y.sorted_indices()
        bounds = zip(ordered.indptr[:-1], ordered.indptr[1:], strict=True)
        return len(
            {ordered.indices[a:b].tobytes() + ordered.data[a:b].tobytes() for a, b in bounds}
        )
    return len({row.tobytes() for row in (np.packbits(Y, axis=1) if Y.dtype == np.bool_ else Y)})
