"""Text models for code that knows labels by their places: recorders of training runs, and evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostline.contract.label_sets import UNKNOWN, LabelSets
from boostline.contract.labels import LabelSpace
from boostline.text.ranker import TextRanker


def learn_texts(model: TextRanker, texts: Any, tags: Any) -> tuple[Any, LabelSets]:
    """Learn; the scores from before, and the label sets, both for the places of the booster."""
    scores = model.learn(list(texts), list(tags), return_scores=True)
    assert scores is not None
    places = {tag: i for i, tag in enumerate(model.labels)}
    room = model.booster.n_labels
    below = np.full((len(scores), room), -1.0)  # scores are shares of 1: this is below all of them
    below[:, : scores.shape[1]] = np.where(np.isfinite(scores), scores, -1.0)
    to_come = dict.fromkeys(range(len(places), room))  # None: unknown
    known = [{places[tag]: value for tag, value in row.items()} | to_come for row in tags]
    return below, LabelSpace(room).read(known, len(known), False)


class TextsByNumber:
    """A text model for evaluations, whose rows are the numbers of texts."""

    blocks_are_rows = True

    def __init__(self, model: TextRanker, texts: list[str]) -> None:
        self._model = model
        self._texts = texts
        self.n_labels, self.labels = model.n_labels, model.labels

    def learn(self, x: Any, relevant: Any, unknown: Any = None) -> Any:
        scores = self._model.learn(
            self._named(x), self._tags(relevant, unknown), return_scores=True
        )
        return scores if np.ndim(relevant) > 1 else scores[0]  # type: ignore[index]

    def learn_with_probabilities(self, x: Any, relevant: Any, unknown: Any = None) -> Any:
        found = self._model.learn_with_probabilities(self._named(x), self._tags(relevant, unknown))
        return found if np.ndim(relevant) > 1 else [one[0] for one in found]

    def score(self, x: Any) -> Any:
        return self.scores_and_probabilities(x)[0]

    def scores_and_probabilities(self, x: Any) -> Any:
        found = self._model.scores_and_probabilities(self._named(x))
        return found if np.ndim(x) > 1 else [one[0] for one in found]

    def _tags(self, relevant: Any, unknown: Any) -> list[dict[str, bool | None]]:
        indicator = np.atleast_2d(relevant)
        codes = np.where(indicator, 1, 0)
        if unknown is not None:
            codes[np.atleast_2d(unknown)] = UNKNOWN
        truth = {1: True, 0: False, UNKNOWN: None}
        return [{self.labels[i]: truth[int(row[i])] for i in np.flatnonzero(row)} for row in codes]

    def _named(self, x: Any) -> list[str]:
        return [self._texts[int(number)] for number in np.ravel(x)]
