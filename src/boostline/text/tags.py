"""Texts and their tags as users give them, and the texts that wait to be learned together."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from boostline.contract.frames import distinct
from boostline.contract.label_sets import UNKNOWN, LabelLists, LabelSets
from boostline.contract.labels import distinct_labels, read_told


def read_texts(text: Any, embedding: Any) -> tuple[bool, list[Any], Any]:
    """Whether it is one text, texts as a list, and embeddings as a block."""
    if isinstance(text, str):
        return True, [text], None if embedding is None else np.asarray(embedding)[None]
    if isinstance(text, bytes | Mapping | Set) or not hasattr(text, "__len__"):
        raise TypeError(
            f"text is a {type(text).__name__}, but must be a string or a list of strings"
        )
    return False, list(text), embedding


def read_tags(tags: Any, n: int, is_single: bool) -> list[dict[str, int]]:
    """What is known of the tags of each text: 1 for relevant, 0 for irrelevant, UNKNOWN."""
    if is_single:
        return [_tag_set(tags, "tags")]
    if isinstance(tags, str | bytes | Mapping | Set) or not hasattr(tags, "__len__"):
        raise TypeError(
            f"tags is a {type(tags).__name__}, but for several texts must be a list with the tags of each"
        )
    if len(tags) != n:
        raise ValueError(f"tags has {len(tags)} sets, but must have one for each of the {n} texts")
    return [_tag_set(one, f"tags[{i}]") for i, one in enumerate(tags)]


def _tag_set(tags: Any, name: str) -> dict[str, int]:
    # Files have columns of arrays.
    if isinstance(tags, np.ndarray) and tags.dtype.kind in "OUT":
        tags = tags.tolist()
    known = distinct_labels(read_told(tags, name), name)
    checked_tags(known, name)
    return known


def checked_tags(tags: Any, name: str) -> list[str]:
    if isinstance(tags, str):
        raise TypeError(f"{name} is {tags!r}, but must be a list of tags")
    for tag in tags:
        if not isinstance(tag, str):
            raise TypeError(f"{name} has {tag!r}, but tags must be strings")
        if not tag:
            raise ValueError(f"{name} has an empty string, but a tag must have a name")
    return distinct(tags, name)


class Waiting:
    """Texts to be learned in one call: what is known of their tags, by place."""

    def __init__(self, first: int) -> None:
        self.first = first  # the place of the first text in the call
        self.known: list[dict[int, int]] = []
        self.n_before: list[int] = []  # tags known before each text
        self._n_after: list[int] = []

    def add(self, known: dict[int, int], n_before: int, n_after: int) -> None:
        self.known.append(known)
        self.n_before.append(n_before)
        self._n_after.append(n_after)

    def label_sets(self, n_labels: int) -> LabelSets:
        """Of tags that are not known by then nothing is known.

        Except where a text would have nothing to rank, because all tags that are known are its own: then the next tag
        to come is irrelevant to it.
        """
        relevant, unknown = [], []
        for row, n in zip(self.known, self._n_after, strict=True):
            relevant.append(sorted(place for place, code in row.items() if code == 1))
            unclear = sorted(place for place, code in row.items() if code == UNKNOWN)
            alone = len(relevant[-1]) + len(unclear) == n
            unknown.append([*unclear, *range(n + alone, n_labels)])
        lists = LabelLists.of(relevant), LabelLists.of(unknown)
        return LabelSets(len(self.known), n_labels, lists=lists)
