"""Why this tag for this text: which of its words made the score, and where they stand."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from boostline.contract.labels import LabelSpace
from boostline.inspect.explanations import Explanation, explain_row
from boostline.inspect.parts import FeaturePart
from boostline.text.words import Span

# Colours of the terminal: bold green for what speaks for the tag, red for what speaks against it.
_FOR, _AGAINST, _PLAIN = "\x1b[1;32m", "\x1b[31m", "\x1b[0m"
# Words that matter less than this, compared with the one that matters most, are not highlighted.
_LEAST = 0.2


@dataclass(frozen=True)
class TextExplanation(Explanation):
    """An `Explanation` of a text. Its ``features`` are the terms of the text, by what they add to the score.

    Attributes
    ----------
    text : str
    spans : list of (start, stop, part)
        Where the terms stand in the text, and what they add.

    Examples
    --------
    >>> from boostline.inspect import explain
    >>> from boostline.text import TextRanker
    >>> tagger = TextRanker()
    >>> tagger.learn(["red wine", "old bread", "red wine", "old bread"], [{"drink"}, {"food"}] * 2)
    >>> why = explain(tagger, "Red apple wine", "drink")
    >>> sorted(part.name for part in why.features[:2])
    ['red', 'wine']
    >>> why.marked()
    '[Red] apple [wine]'
    """

    text: str = ""
    spans: list[tuple[int, int, float]] = field(default_factory=list)

    def html(self) -> str:
        """Return the text as HTML, with words marked by how much they add."""
        pieces = []
        for piece, strength in self._pieces():
            if strength == 0.0:
                pieces.append(escape(piece))
                continue
            side = "for" if strength > 0 else "against"
            pieces.append(
                f'<mark class="{side}" style="--strength: {abs(strength):.2f}">{escape(piece)}</mark>'
            )
        return "".join(pieces)

    def terminal(self) -> str:
        """Return the text for a terminal, with colours."""
        return "".join(
            piece if strength == 0.0 else f"{_FOR if strength > 0 else _AGAINST}{piece}{_PLAIN}"
            for piece, strength in self._pieces()
        )

    def marked(self) -> str:
        """Return the text without colours: [words for it], and ~words against it~."""
        return "".join(
            piece if strength == 0.0 else (f"[{piece}]" if strength > 0 else f"~{piece}~")
            for piece, strength in self._pieces()
        )

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "text": self.text, "spans": self.spans}

    def _pieces(self) -> list[tuple[str, float]]:
        """Pieces of the text, and how much each adds, from -1 to 1; 0 for what is not highlighted."""
        strength = np.zeros(len(self.text) + 1)
        for start, stop, part in self.spans:
            strength[start:stop] += part
        strongest = np.abs(strength).max()
        if strongest > 0:
            strength /= strongest
        strength[np.abs(strength) < _LEAST] = 0.0
        cuts = [0, *(np.flatnonzero(np.diff(strength[:-1])) + 1).tolist(), len(self.text)]
        return [
            (self.text[start:stop], float(strength[start]))
            for start, stop in itertools.pairwise(cuts)
            if stop > start
        ]


def explain_text(
    model: Any, text: Any, tag: Any, *, embedding: Any = None, by_feature: bool = True
) -> TextExplanation:
    """`explain` for a `boostline.text.TextRanker`; with the embedding of the text if it has one."""
    if not isinstance(text, str):
        raise TypeError(f"x is a {type(text).__name__}, but must be one text")
    index = LabelSpace(model.n_labels, model.labels).index(tag, f"label is {tag!r}")
    row = model.rows(text, embedding=embedding)
    features, booster = model.text_features, model.booster
    spans = list(features.words.spans(text)) if by_feature else []
    columns = features.columns_of([span.term for span in spans])
    assert isinstance(row.native, tuple)
    stored = set(row.native[1].tolist())
    by_column: dict[int, list[Span]] = {}
    for span, column in zip(spans, columns.tolist(), strict=True):
        if column in stored:
            by_column.setdefault(column, []).append(span)
    groups = [np.array([column]) for column in by_column]
    has_embedding = by_feature and embedding is not None
    if has_embedding:
        groups.append(np.arange(features.n_embedding))
    found, shares = explain_row(booster, row, index, groups, model.n_labels)
    names = [" / ".join(dict.fromkeys(span.name for span in own)) for own in by_column.values()]
    columns_and_names = [*zip(by_column, names, strict=True), (0, "(embedding)")]
    parts = [
        FeaturePart(column, name, None, float(part))
        for (column, name), part in zip(columns_and_names, shares, strict=False)
    ]
    places = [
        (span.start, span.stop, part.part)
        for own, part in zip(by_column.values(), parts, strict=False)
        for span in own
    ]
    return TextExplanation(
        **found,
        name=model.labels[index],
        features=sorted(parts, key=lambda part: -abs(part.part)),
        text=text,
        spans=places,
    )
