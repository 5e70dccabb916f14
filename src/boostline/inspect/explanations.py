"""Why this label for this row: what learners, features and rows of the past add to its score."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from boostline.array_types import FloatArray
from boostline.contract.labels import LabelSpace
from boostline.contract.rows import Rows, read_rows
from boostline.inspect.learner_rows import names_of_votes
from boostline.inspect.parts import (
    FeaturePart,
    PastRow,
    evidence_of,
    feature_groups,
    removals,
    strongest_rows,
)
from boostline.models.diagnostics import Evidence

# Colours of the terminal: bold green for what speaks for the tag, red for what speaks against it.
_FOR, _AGAINST, _PLAIN = "\x1b[1;32m", "\x1b[31m", "\x1b[0m"
# Words that matter less than this, compared with the one that matters most, are not highlighted.
_LEAST = 0.2


@dataclass(frozen=True)
class Explanation:
    """The result of `explain`.

    Attributes
    ----------
    label : int
    name : Any
        The label's name, or its index.
    score : float
        The label's score; the sum of `shares`.
    rank : int
        Its place in the ranking, 1 is the best.
    shares : ndarray (N,)
        What each learner adds to the score: its factor times its vote for the label. Learners that are not listened
        to add 0.
    lifts : ndarray (N,)
        The same, less what the learner adds to the average label: what moves this label up or down among the others.
    names : list of str
        What each learner is.
    features : list of FeaturePart
        The evidence of each feature of the row for the label or against it, the most important first: its share in
        the scores of the linear members; without such members, in how much lower the score is without it.
    linear : list of Evidence
        For each member that is linear (`SparseLinear`, `Linear`, `Ridge`) its own score of the label, as an exact sum
        over features.
    rows : list of PastRow
        The past rows that speak most for or against the label, by members that remember rows (`Kernel`,
        `Neighbours`, `SparseLinear`).
    text : str or None
        The text that was ranked; its ``features`` are words.
    spans : list of (start, stop, part)
        Where the words stand in the text, and what they add.

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

    label: int
    name: Any
    score: float
    rank: int
    shares: FloatArray
    lifts: FloatArray
    names: list[str]
    features: list[FeaturePart] = field(default_factory=list)
    linear: list[Evidence] = field(default_factory=list)
    rows: list[PastRow] = field(default_factory=list)
    text: str | None = None
    spans: list[tuple[int, int, float]] = field(default_factory=list)

    def top(self, n: int = 5) -> list[int]:
        """Return the learners that move the label most, up or down."""
        order = np.argsort(-np.abs(self.lifts), kind="stable")
        return [int(i) for i in order[:n]]

    def html(self) -> str:
        """Return the explained text as HTML, with words marked by how much they add."""
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
        """Return the explained text for a terminal, with colours."""
        return "".join(
            piece if strength == 0.0 else f"{_FOR if strength > 0 else _AGAINST}{piece}{_PLAIN}"
            for piece, strength in self._pieces()
        )

    def marked(self) -> str:
        """Return the explained text without colours: [words for it], and ~words against it~."""
        return "".join(
            piece if strength == 0.0 else (f"[{piece}]" if strength > 0 else f"~{piece}~")
            for piece, strength in self._pieces()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as values for JSON."""
        return {
            "label": self.label,
            "name": self.name,
            "score": self.score,
            "rank": self.rank,
            "shares": self.shares.tolist(),
            "lifts": self.lifts.tolist(),
            "learners": self.names,
            "features": [part.to_dict() for part in self.features],
            "rows": [row.to_dict() for row in self.rows],
        } | ({} if self.text is None else {"text": self.text, "spans": self.spans})

    def _pieces(self) -> list[tuple[str, float]]:
        """Pieces of the text, and how much each adds, from -1 to 1; 0 for what is not highlighted."""
        text = self.text or ""
        strength = np.zeros(len(text) + 1)
        for start, stop, part in self.spans:
            strength[start:stop] += part
        strongest = np.abs(strength).max()
        if strongest > 0:
            strength /= strongest
        strength[np.abs(strength) < _LEAST] = 0.0
        cuts = [0, *(np.flatnonzero(np.diff(strength[:-1])) + 1).tolist(), len(text)]
        return [
            (text[start:stop], float(strength[start]))
            for start, stop in itertools.pairwise(cuts)
            if stop > start
        ]


def explain(
    model: Any,
    x: Any,
    label: Any,
    *,
    names: Sequence[str] | None = None,
    embedding: Any = None,
) -> Explanation:
    """Explain the score of a label for one row, by learners, features, and past rows.

    A model without linear members scores the row once without each of its features.

    Parameters
    ----------
    model
        A booster, or a `boostline.text.TextRanker`.
    x
        One row of features, or a text.
    label
        The label, by name or by index.
    names
        Names of the features; default: the model's, or their numbers.
    embedding
        Of a text, if the model has embeddings.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline.inspect import explain
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> model = bl.LabelRanker(n_labels=4)
    >>> _ = model.learn(X, X > 0.5)
    >>> why = explain(model, [2.0, -1.0, -1.0, -1.0], 0, names=["a", "b", "c", "d"])
    >>> why.features[0].name
    'a'
    >>> bool(np.isclose(why.shares.sum(), model.score([2.0, -1.0, -1.0, -1.0])[0]))
    True
    """
    if model.takes_texts:
        return _explain_text(model, x, label, embedding)
    index = LabelSpace(model.n_labels, model.labels).index(label, f"label is {label!r}")
    row = read_rows(x, model.features)
    if row.n != 1:
        raise ValueError(f"x has {row.n} rows, but must be one row (d,)")
    groups = feature_groups(row, model.features if names is None else names)
    found, shares = _explain_row(model, row, index, [group.columns for group in groups])
    parts = [
        FeaturePart(int(group.columns[0]), group.name, group.value, float(share))
        for group, share in zip(groups, shares, strict=True)
    ]
    return Explanation(
        **found,
        name=index if model.labels is None else model.labels[index],
        features=sorted(parts, key=lambda part: -abs(part.part)),
    )


def _explain_row(
    model: Any, row: Rows, label: int, groups: Sequence[Any], n_labels: int | None = None
) -> tuple[dict[str, Any], FloatArray]:
    """Fields of an `Explanation` among the first ``n_labels``, and the parts of groups of features."""
    linear: list[Evidence] = []
    past: list[Evidence] = []
    parts = np.zeros(0)
    if groups:
        linear, past = model.evidence(row, label)
        evidence = evidence_of(linear, model.learner_weights, row.n_features)
        if evidence is None:
            parts = removals(model, row, label, groups)
        else:
            parts = np.array([evidence[group].sum() for group in groups])
    scores = np.asarray(model.score(row)).reshape(-1)[:n_labels]
    own = model.contributions(row).reshape(-1, model.n_labels)[:, :n_labels]
    order = np.argsort(-scores, kind="stable")
    return {
        "label": label,
        "score": float(scores[label]),
        "rank": int(np.flatnonzero(order == label)[0]) + 1,
        "shares": own[:, label],
        "lifts": own[:, label] - own.mean(axis=1),
        "names": names_of_votes(model),
        "linear": linear,
        "rows": strongest_rows(past, model.learner_weights),
    }, parts


def _explain_text(model: Any, text: Any, tag: Any, embedding: Any) -> Explanation:
    """`explain` for a `boostline.text.TextRanker`."""
    if not isinstance(text, str):
        raise TypeError(f"x is a {type(text).__name__}, but must be one text")
    index = LabelSpace(model.n_labels, model.labels).index(tag, f"label is {tag!r}")
    row = model.rows(text, embedding=embedding)
    features, booster = model.text_features, model.booster
    spans = list(features.words.spans(text))
    columns = features.columns_of([span.term for span in spans])
    assert isinstance(row.native, tuple)
    stored = set(row.native[1].tolist())
    by_column: dict[int, list[Any]] = {}
    for span, column in zip(spans, columns.tolist(), strict=True):
        if column in stored:
            by_column.setdefault(column, []).append(span)
    groups = [np.array([column]) for column in by_column]
    if embedding is not None:
        groups.append(np.arange(features.n_embedding))
    found, shares = _explain_row(booster, row, index, groups, model.n_labels)
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
    return Explanation(
        **found,
        name=model.labels[index],
        features=sorted(parts, key=lambda part: -abs(part.part)),
        text=text,
        spans=places,
    )
