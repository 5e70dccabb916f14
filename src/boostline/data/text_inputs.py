"""Files of texts as people name them: texts and tags to learn from, texts to be ranked, data sets of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boostline.contract.advice import advice
from boostline.data.dataset import Dataset
from boostline.data.inputs import Input, RowStream, named_labels, split_commas
from boostline.data.texts import text_blocks


def text_columns(given: Input) -> list[str]:
    """The columns that are put together to one text."""
    columns = split_commas(given.text)
    if not columns:
        raise ValueError(advice("text", "--text") + " must name a column")
    return columns


def texts_to_learn(given: Input, block: int) -> RowStream:
    """Blocks of texts and tags, as arrays of objects."""
    if not given.labels:
        raise ValueError(
            "--labels is not given, but with --text must name the column of the tags, or several columns of 0 and 1"
        )
    return RowStream(_blocks(given, block, named_labels(given.labels)), [], [])


def texts_to_score(
    given: Input, block: int, with_labels: bool = False
) -> Iterator[tuple[Any, Any]]:
    """The same for a model that has learned; rows need no tags then."""
    return _blocks(given, block, named_labels(given.labels or []) if with_labels else [])


def _blocks(given: Input, block: int, labels: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    options = given.options()
    for name in ("drop", "categories", "zero_based"):
        if options[name] is not None:
            raise ValueError(
                f"{advice(name, '--' + name.replace('_', '-'))} has no meaning with {advice('text', '--text')}"
            )
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


def dataset_of_texts(
    given: Input, test: str | None, train_rows: int | None
) -> tuple[Any, list[str]]:
    """A data set whose only feature is the number of the text, and the texts."""
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
