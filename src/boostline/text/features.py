"""Texts as sparse rows: terms are hashed to columns and weighed by how rare they are (tf-idf), all of it online.

A term's column is a hash of its characters, so there is no vocabulary to keep. What is kept is in how many of the texts
learned so far each column occurred. A text is weighed with the counts of the texts before it, so a block gives the same
rows as its texts one by one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import FloatArray
from boostline.contract.numbers import whole_number
from boostline.contract.rows import Rows
from boostline.text.words import Words

_MOST_DOCUMENTS = 2**32 - 1  # a count has 32 bits
# Fibonacci hashing: the highest bits of the product depend on all bits of the term.
_MIXER = np.uint32(0x9E3779B1)
# Weights are multiples of 1 / 4096: their logarithms may differ in the last bit from machine to machine, and the sum of
# their squares is exact in any order.
_GRAIN = 4096.0


class Counted(NamedTuple):
    """One text, before it is weighed: the columns of its terms, how often each occurs, and its embedding."""

    columns: NDArray[np.int64]
    counts: NDArray[np.int64]
    embedding: FloatArray | None


class TextFeatures:
    """Turns texts into rows, and counts in how many texts each word occurs.

    Parameters
    ----------
    words
        How texts are divided into terms.
    n_columns
        Number of columns that terms are hashed to, a power of 2.
    n_embedding
        Length of the vectors that may stand beside texts. Their columns come first.

    Examples
    --------
    >>> features = TextFeatures()
    >>> rows = features.learn(features.count(["red wine", "red meat"]))
    >>> rows.n, rows.n_features, features.n_documents
    (2, 1048576, 2)
    """

    def __init__(
        self, words: Words | None = None, n_columns: int = 2**20, n_embedding: int = 0
    ) -> None:
        self.words = Words() if words is None else words
        self.n_columns = whole_number(n_columns, "n_columns", 2**8, 2**28)
        if self.n_columns & (self.n_columns - 1):
            raise ValueError(f"n_columns is {n_columns}, but must be a power of 2, such as {2**20}")
        self.n_embedding = whole_number(n_embedding, "n_embedding", 0, 2**16)
        self.n_documents = 0
        self._counts: NDArray[np.uint32] = np.zeros(self.n_columns, np.uint32)
        self._shift = np.uint32(33 - self.n_columns.bit_length())

    @property
    def n_features(self) -> int:
        """Length of a row."""
        return self.n_embedding + self.n_columns

    def memory_usage(self) -> int:
        """Bytes of the counts."""
        return self._counts.nbytes

    def columns_of(self, terms: Sequence[int]) -> NDArray[np.int64]:
        """The columns of terms; those of the embedding are before them."""
        hashed = (np.array(terms, dtype=np.uint32) * _MIXER) >> self._shift
        return hashed.astype(np.int64) + self.n_embedding

    def count(self, texts: Any, embeddings: Any = None, name: str = "text") -> list[Counted]:
        """Check texts and embeddings, and count their terms. Changes nothing."""
        vectors = self._read_embeddings(embeddings, len(texts))
        counted = []
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"{name}[{i}] is {_shown(text)}, but must be a string")
            columns, counts = np.unique(self.columns_of(self.words.terms(text)), return_counts=True)
            counted.append(Counted(columns, counts, None if vectors is None else vectors[i]))
        return counted

    def known_words(self, texts: Sequence[Counted]) -> NDArray[np.int64]:
        """How many different terms of each text occurred in the texts learned so far."""
        counts = [np.count_nonzero(self._counts[one.columns - self.n_embedding]) for one in texts]
        return np.array(counts, dtype=np.int64)

    def rows(self, texts: Sequence[Counted]) -> Rows:
        """The rows of texts, weighed by what has been learned."""
        return self._together([self._weighed(text) for text in texts])

    def learn(self, texts: Sequence[Counted]) -> Rows:
        """The same rows, each weighed before its words are counted."""
        weighed = []
        for text in texts:
            weighed.append(self._weighed(text))
            if self.n_documents < _MOST_DOCUMENTS:
                self._counts[text.columns - self.n_embedding] += np.uint32(1)
                self.n_documents += 1
        return self._together(weighed)

    def unlearn(self, texts: Sequence[Counted]) -> None:
        """Take back what the last texts added to the counts."""
        for text in texts:
            self._counts[text.columns - self.n_embedding] -= np.uint32(1)
            self.n_documents -= 1

    def _weighed(self, text: Counted) -> tuple[NDArray[np.int64], FloatArray]:
        seen = self._counts[text.columns - self.n_embedding] + 1.0
        # The root, because a product of two texts has it twice. It ranks better than the whole logarithm.
        rarity = np.sqrt(math.log(self.n_documents + 2.0) - np.log(seen))
        values = np.rint((1.0 + np.log(text.counts)) * rarity * _GRAIN) / _GRAIN
        columns = text.columns
        if not (kept := values > 0.0).all():  # a word of all texts
            columns, values = columns[kept], values[kept]
        if len(values):
            values = values / math.sqrt(float(np.add.reduce(values * values)))
        if text.embedding is None:
            return columns, values
        vector = text.embedding
        stored = np.flatnonzero(vector)
        return np.concatenate([stored, columns]), np.concatenate([vector[stored], values])

    def _together(self, rows: Sequence[tuple[NDArray[np.int64], FloatArray]]) -> Rows:
        start = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.array([len(columns) for columns, _ in rows], np.int64), out=start[1:])
        columns = np.concatenate([columns for columns, _ in rows] or [np.zeros(0, np.int64)])
        values = np.concatenate([values for _, values in rows] or [np.zeros(0)])
        return Rows((start, columns, values), self.n_features)

    def _read_embeddings(self, embeddings: Any, n: int) -> FloatArray | None:
        """Vectors of length 1."""
        if embeddings is None:
            return None
        if not self.n_embedding:
            raise ValueError(
                "embedding is given, but the model was made without; n_embedding must be its length"
            )
        vectors = np.asarray(embeddings)
        if vectors.dtype.kind not in "fiu":
            raise TypeError(f"embedding has dtype {vectors.dtype}, but must have numbers")
        if vectors.shape != (n, self.n_embedding):
            raise ValueError(
                f"embedding has shape {vectors.shape}, but must have {(n, self.n_embedding)}: n_embedding numbers for "
                "each text"
            )
        vectors = vectors.astype(np.float64)
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
        if not np.isfinite(largest).all():
            raise ValueError("embedding has a value that is infinite or NaN, but must have numbers")
        vectors /= np.where(largest > 0.0, largest, 1.0)  # so that no square overflows
        # fsum is exact, so that the bits do not depend on the machine.
        lengths = [math.sqrt(math.fsum((row * row).tolist())) or 1.0 for row in vectors]
        return np.asarray(vectors / np.array(lengths)[:, None])

    # State.

    def state(self) -> dict[str, Any]:
        """All that there is to save, as values and arrays."""
        columns = np.flatnonzero(self._counts)
        return {
            "pairs": self.words.pairs,
            "characters": None if self.words.characters is None else list(self.words.characters),
            "n_columns": self.n_columns,
            "n_embedding": self.n_embedding,
            "n_documents": self.n_documents,
            "columns": columns.astype(np.int32),
            "counts": self._counts[columns],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> TextFeatures:
        """Make them again; everything is checked, since a file may come from a stranger."""
        words = Words(state["pairs"], state["characters"])
        made = cls(words, state["n_columns"], state["n_embedding"])
        made.n_documents = whole_number(state["n_documents"], "n_documents", 0, _MOST_DOCUMENTS)
        columns, counts = state["columns"], state["counts"]
        for name, array, kind in (("columns", columns, np.int32), ("counts", counts, np.uint32)):
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise ValueError(f"{name} of the text is no array of {np.dtype(kind)}")
        if len(columns) != len(counts):
            raise ValueError(f"the text has {len(columns)} columns, but {len(counts)} counts")
        if len(columns) and not (
            columns[0] >= 0 and columns[-1] < made.n_columns and (np.diff(columns) > 0).all()
        ):
            raise ValueError("columns of the text do not ascend within n_columns")
        if len(counts) and not 1 <= counts.min() <= counts.max() <= made.n_documents:
            raise ValueError("counts of the text are not between 1 and n_documents")
        made._counts[columns] = counts
        return made


def _shown(value: Any) -> str:
    text = repr(value)
    return f"a {type(value).__name__}, {text if len(text) <= 60 else text[:57] + '...'}"
