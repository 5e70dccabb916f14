"""`boostline.text` for scikit-learn: a frame with a column of texts, or a list of strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.rows import Rows
from boostline.sklearn.classifiers import LabelRankerClassifier
from boostline.text.columns import embeddings_of, texts_of
from boostline.text.features import Counted, TextFeatures
from boostline.text.words import Words


class TextRows:
    """Texts that become rows when they are asked for: how words are weighed depends on what was learned by then."""

    def __init__(self, features: TextFeatures, counted: list[Counted]) -> None:
        self.shape = (len(counted), features.n_features)
        self.is_learned = False  # whether asking for rows counts their words, the first time
        self._features = features
        self._counted = counted
        self._is_new = np.ones(len(counted), dtype=np.bool_)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Rows:
        places = np.arange(len(self))[rows]
        if not self.is_learned:
            return self._features.rows([self._counted[i] for i in places])
        parts = []
        for i in places:
            one = [self._counted[i]]
            parts.append(self._features.learn(one) if self._is_new[i] else self._features.rows(one))
            self._is_new[i] = False
        return Rows.concat(parts)


@dataclass(eq=False, repr=False)
class TextRankerClassifier(LabelRankerClassifier):
    """`boostline.text.TextRanker` for scikit-learn: tags of texts, multi-label or one class per text.

    Parameters
    ----------
    learners, drift
        As in `boostline.text.TextRanker`.
    max_bytes
        As in `boostline.LabelRanker`; the counts of words take 4 bytes for each of ``n_columns`` beside it.
    text
        The column of a frame that has the texts, or several, which are put together. None: X is a list, array or
        series of strings.
    embedding
        Columns of a frame that are an embedding of the text.
    pairs, characters, n_columns
        As in `boostline.text.TextRanker`.
    n_passes, shuffle, random_state, n_jobs
        As in `LabelRankerClassifier`, which also describes the other parameters and the attributes.

    Attributes
    ----------
    text_features_ : boostline.text.TextFeatures
        How texts become rows.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> frame = pd.DataFrame({"body": ["wrong invoice", "cannot log in"] * 20, "id": range(40)})
    >>> Y = np.array([[1, 0], [0, 1]] * 20)
    >>> model = TextRankerClassifier(text="body", random_state=0).fit(frame, Y)
    >>> model.predict(pd.DataFrame({"body": ["the invoice", "log in"]}))
    array([[1, 0],
           [0, 1]])
    """

    _: KW_ONLY
    text: str | Sequence[str] | None = None
    embedding: Sequence[str] | None = None
    pairs: bool = False
    characters: tuple[int, int] | None = None
    n_columns: int = 2**20

    text_features_: TextFeatures = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.two_d_array = False
        return tags

    def _features(self, X: Any, *, reset: bool) -> Any:
        texts = texts_of(X, self.text)
        vectors: NDArray[Any] | None = embeddings_of(X, self.embedding)
        if reset:
            n_embedding = 0 if self.embedding is None else len(self.embedding)
            words = Words(self.pairs, self.characters)
            self.text_features_ = TextFeatures(words, self.n_columns, n_embedding)
        return TextRows(self.text_features_, self.text_features_.count(texts, vectors, "X"))

    def _checked(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        rows, y, weights = super()._checked(X, y, sample_weight, reset=reset)
        rows.is_learned = True
        return rows, y, weights
