"""`boostline.text` for River: dicts with a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from boostline.contract.rows import Rows
from boostline.river.classifiers import LabelRankerClassifier
from boostline.text.columns import text_in
from boostline.text.features import TextFeatures
from boostline.text.words import Words


class TextPlaces:
    """Turns the texts of dicts into rows, with the methods of `FeaturePlaces`."""

    def __init__(
        self, features: TextFeatures, text: str | Sequence[str], embedding: str | None
    ) -> None:
        self.features = features
        self.capacity = features.n_features
        self.names: list[Any] = []
        self._text = text
        self._embedding = embedding

    def admitted(self, x: Mapping[Any, Any], grow: Callable[[int], bool]) -> Rows:
        """The row of an example that is learned."""
        return self.features.learn(self._counted(x))

    def row(self, x: Mapping[Any, Any]) -> Rows:
        """The row of an example."""
        return self.features.rows(self._counted(x))

    def _counted(self, x: Mapping[Any, Any]) -> Any:
        vector = None if self._embedding is None else x.get(self._embedding)
        return self.features.count([text_in(x, self._text)], None if vector is None else [vector])


@dataclass(eq=False, repr=False)
class TextRankerClassifier(LabelRankerClassifier):
    """`boostline.text.TextRanker` as a River multi-label classifier: ``{"body": "some text"}``.

    Parameters
    ----------
    learners, drift
        As in `boostline.text.TextRanker`.
    max_bytes
        As in `boostline.LabelRanker`; the counts of words take 4 bytes for each of ``n_columns`` beside it.
    labels, absent, n_threads, seed
        As in `LabelRankerClassifier`, which also describes the other parameters.
    text
        The name of the text in the dicts, or several, which are put together. Other values are not looked at.
    embedding
        The name of an embedding, a list or array of ``n_embedding`` numbers.
    pairs, characters, n_columns, n_embedding
        As in `boostline.text.TextRanker`.

    Examples
    --------
    >>> model = TextRankerClassifier(text="body")
    >>> for _ in range(20):
    ...     model.learn_one({"body": "wrong invoice"}, {"billing": True, "login": False})
    ...     model.learn_one({"body": "cannot log in"}, {"billing": False, "login": True})
    >>> model.predict_one({"body": "the invoice"})
    {'billing': True, 'login': False}
    """

    _: KW_ONLY
    text: str | Sequence[str] = "text"
    embedding: str | None = None
    pairs: bool = False
    characters: tuple[int, int] | None = None
    n_columns: int = 2**20
    n_embedding: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        features = TextFeatures(
            Words(self.pairs, self.characters), self.n_columns, self.n_embedding
        )
        self._features = TextPlaces(features, self.text, self.embedding)  # type: ignore[assignment]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"n_columns": 2**10}
