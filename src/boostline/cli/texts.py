"""Files of texts for the commands: what ``--text`` says, and how texts are learned, ranked and evaluated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from boostline.cli.options import split_commas
from boostline.cli.row_sources import Input, Rows, named_labels
from boostline.contract.label_sets import UNKNOWN, LabelLists, LabelSets

if TYPE_CHECKING:
    from boostline.text import TextRanker


def text_columns(given: Input) -> list[str]:
    """The columns that are put together to one text."""
    columns = split_commas(given.text)
    if not columns:
        raise typer.BadParameter("--text must name a column")
    return columns


def texts_to_learn(given: Input, block: int) -> Rows:
    """Blocks of texts and tags, as arrays of objects."""
    if not given.labels:
        raise ValueError(
            "--labels is not given, but with --text must name the column of the tags, or several columns of 0 and 1"
        )
    return Rows(_blocks(given, block, named_labels(given.labels)), [], [])


def texts_to_score(
    given: Input, block: int, with_labels: bool = False
) -> Iterator[tuple[Any, Any]]:
    """The same for a model that has learned; rows need no tags then."""
    return _blocks(given, block, named_labels(given.labels or []) if with_labels else [])


def _blocks(given: Input, block: int, labels: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    from boostline.data.texts import text_blocks

    options = given.options()
    for name in ("drop", "categories", "zero_based"):
        if options[name] is not None:
            raise typer.BadParameter(f"--{name.replace('_', '-')} has no meaning with --text")
    for texts, tags in text_blocks(
        given.source,
        text_columns(given),
        labels,
        size=block,
        format=given.reader().format,
        separator=given.separator or "|",
        delimiter=options["delimiter"],
        encoding=given.encoding,
    ):
        yield _objects(texts), _objects(tags)


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def learn_texts(model: TextRanker, texts: Any, tags: Any) -> tuple[Any, LabelSets]:
    """Learn; the scores from before, and the label sets, both for the places of the booster."""
    scores = model.learn(list(texts), list(tags), return_scores=True)
    assert scores is not None
    places = {tag: i for i, tag in enumerate(model.labels)}
    room = model.booster.n_labels
    below = np.full((len(scores), room), -1.0)  # scores are shares of 1: this is below all of them
    below[:, : scores.shape[1]] = np.where(np.isfinite(scores), scores, -1.0)
    told = [{places[tag]: value for tag, value in row.items()} for row in tags]
    relevant = [sorted(place for place, value in row.items() if value) for row in told]
    unknown = [
        [*sorted(p for p, value in row.items() if value is None), *range(len(places), room)]
        for row in told
    ]
    lists = LabelLists.of(relevant), LabelLists.of(unknown)
    return below, LabelSets(len(told), room, lists=lists)


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


def dataset_of_texts(
    given: Input, test: str | None, train_rows: int | None
) -> tuple[Any, list[str]]:
    """A data set whose only feature is the number of the text, and the texts."""
    from dataclasses import replace

    from boostline.data import Dataset

    texts: list[str] = []
    tags: list[dict[str, Any]] = []
    sizes = []
    for source in (given.source, *([] if test is None else [test])):
        for some, own in texts_to_learn(replace(given, source=source), 1024):
            texts += list(some)
            tags += list(own)
        sizes.append(len(texts))
    labels = sorted({tag for row in tags for tag in row})
    if len(labels) < 2:
        raise ValueError(f"{given.name} has {len(labels)} tags, but ranking needs at least 2")
    place = {tag: i for i, tag in enumerate(labels)}
    Y = np.zeros((len(texts), len(labels)))
    for i, row in enumerate(tags):
        for tag, value in row.items():
            Y[i, place[tag]] = np.nan if value is None else value
    known = not np.isnan(Y).any()
    n_train = train_rows if test is None else sizes[0]
    return (
        Dataset(
            np.arange(len(texts), dtype=np.float64)[:, None],
            Y.astype(np.bool_) if known else Y,
            len(texts) if n_train is None else n_train,
            labels=labels,
            features=["text"],
            name=given.name,
        ),
        texts,
    )
