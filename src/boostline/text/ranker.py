"""Rank the tags of texts: strings in, names out, online."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from boostline import _core
from boostline.array_types import FloatArray
from boostline.contract.numbers import Optimize, read_weights, whole_number
from boostline.contract.rows import Rows
from boostline.learners import SparseRanker
from boostline.models import LabelRanker
from boostline.models.base import ranked_labels
from boostline.text.features import Counted, TextFeatures
from boostline.text.tags import Waiting, checked_tags, read_tags, read_texts
from boostline.text.words import Words

# The compiled model has room for tags to come, because making room takes a copy of it: at least this many places, and
# one for every 8 known tags.
LEAST_SPARE, _SPARE_SHARE = 16, 8


class TextRanker:
    """Learn the tags of texts one by one, and rank the tags of new texts at any time.

    Words are hashed to ``n_columns`` columns and weighed by how rare they are among the texts so far, and a
    `boostline.LabelRanker` learns from that. Tags get known when they first occur. The memory is bounded, and a saved
    model goes on exactly where it was.

    Parameters
    ----------
    labels
        Tags that are known from the start. Others are added when they are learned.
    pairs
        Whether two words in succession count as a term as well.
    characters
        Shortest and longest n-grams of characters within words to use too, such as (3, 5): for texts with many
        spelling mistakes or long compound words. Chinese, Japanese, Thai and other scripts without spaces are divided
        into characters in any case.
    n_columns
        Number of columns that words are hashed to, a power of 2.
    n_embedding
        Length of the vectors that you pass as ``embedding``; 0 for none.
    learners
        ``"auto"`` for `boostline.learners.SparseRanker`, or learners of your own.
    drift, seed, n_threads
        As in `boostline.LabelRanker`.
    max_bytes
        The most memory that the model may take, counts of words included; see `boostline.LabelRanker`.

    Examples
    --------
    >>> from boostline import TextRanker
    >>> tagger = TextRanker()
    >>> for _ in range(5):
    ...     tagger.learn("The invoice has a wrong amount", {"billing"})
    ...     tagger.learn(["I cannot log in", "Password is not accepted"], [{"login"}, {"login", "urgent"}])
    >>> tagger.rank("wrong invoice", top=1)
    ['billing']
    >>> tagger.labels
    ['billing', 'login', 'urgent']
    """

    #: As of every model: see `boostline.models.Booster`.
    takes_texts = True

    def __init__(
        self,
        labels: Sequence[str] = (),
        *,
        pairs: bool = False,
        characters: tuple[int, int] | None = None,
        n_columns: int = 2**20,
        n_embedding: int = 0,
        learners: Any = "auto",
        drift: str | None = "restart",
        max_bytes: int | None = None,
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        # The place of each tag in the booster, in the order in which the tags became known.
        self._tags = {tag: i for i, tag in enumerate(checked_tags(labels, "labels"))}
        self._features = TextFeatures(Words(pairs, characters), n_columns, n_embedding)
        self._booster = LabelRanker(
            with_spare(len(self._tags)),
            learners=text_learners(learners),
            drift=drift,
            max_bytes=_left_for_booster(max_bytes, self._features.memory_usage()),
            seed=seed,
            n_threads=n_threads,
        )
        self._lock = _core.TurnLock()

    # Learning and ranking.

    def learn(
        self,
        text: str | Sequence[str],
        tags: Any,
        *,
        embedding: Any = None,
        weight: Any = 1.0,
        return_scores: bool = False,
    ) -> FloatArray | None:
        """Learn one text or several. A block gives exactly what single calls give.

        Parameters
        ----------
        text
            A string, or a sequence of strings.
        tags
            The tags of the text: a set, list or tuple of strings. Tags that are not in it are irrelevant. If it is not
            known of all tags whether they are relevant, a dict from tags to True, False or None. For several texts a
            list with one of these for each.
        embedding
            A vector for the text, (n_embedding,), or for several (n, n_embedding).
        weight
            Importance in [0, 1]: one number, or one per text.
        return_scores
            Whether to return the scores that each text had before it was learned, (k,) or (n, k), with -inf for tags
            that were not known by then.
        """
        is_single, scores = self._learn_all(text, tags, embedding, weight, return_scores, False)
        if not return_scores:
            return None
        return np.asarray(scores[0, 0] if is_single else scores[:, 0])

    def learn_with_probabilities(
        self, text: str | Sequence[str], tags: Any, *, embedding: Any = None, weight: Any = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Learn as `learn` does; return scores and probabilities from before each text was learned.

        Both are -inf for tags that were not known by then.
        """
        is_single, found = self._learn_all(text, tags, embedding, weight, True, True)
        return (found[0, 0], found[0, 1]) if is_single else (found[:, 0], found[:, 1])

    def _learn_all(
        self,
        text: Any,
        tags: Any,
        embedding: Any,
        weight: Any,
        return_scores: bool,
        with_probabilities: bool,
    ) -> tuple[bool, FloatArray]:
        """Whether it was a single text, and what was said of each before it was learned, (n, 1 or 2, k)."""
        is_single, texts, vectors = read_texts(text, embedding)
        known = read_tags(tags, len(texts), is_single)
        weights = read_weights(weight, len(texts))
        counted = self._features.count(texts, vectors)
        how = (return_scores, with_probabilities)
        with self._lock:
            waiting = Waiting(0)
            found: list[FloatArray] = []
            for i, row in enumerate(known):
                new = sorted(tag for tag in row if tag not in self._tags)
                n_before = len(self._tags)
                if n_before + len(new) >= self._booster.n_labels:
                    # The texts before this one are learned by the model as it was.
                    found += self._learn(waiting, counted, weights, *how)
                    self._make_room(n_before + len(new))
                    waiting = Waiting(i)
                self._tags |= {tag: n_before + i for i, tag in enumerate(new)}
                places = {self._tags[tag]: code for tag, code in row.items()}
                waiting.add(places, n_before, len(self._tags))
            found += self._learn(waiting, counted, weights, *how)
            n_labels = len(self._tags)
        filled = [_filled(row, n_labels) for row in found]
        return is_single, np.array(filled).reshape(-1, 1 + with_probabilities, n_labels)

    def _learn(
        self,
        waiting: Waiting,
        counted: list[Counted],
        weights: FloatArray,
        return_scores: bool,
        with_probabilities: bool,
    ) -> list[FloatArray]:
        """Learn the texts that wait; what was said of the tags that were known before each, (1 or 2, k)."""
        part = slice(waiting.first, waiting.first + len(waiting.known))
        if not waiting.known:
            return []
        before = self._booster.clock
        rows = self._features.learn(counted[part])
        try:
            sets = waiting.label_sets(self._booster.n_labels)
            if with_probabilities:
                found: Any = self._booster.learn_with_probabilities(
                    rows, sets, weight=weights[part]
                )
            else:
                found = self._booster.learn(
                    rows, sets, weight=weights[part], return_scores=return_scores
                )
        except BaseException:
            # Some rows may have been learned: the words and the new tags of the others are taken back.
            n_learned = self._booster.clock - before
            self._features.unlearn(counted[part][n_learned:])
            for n in waiting.n_before[n_learned : n_learned + 1]:
                for tag in self.labels[n:]:
                    del self._tags[tag]
            raise
        if found is None:
            return []
        both = np.stack(found, axis=1) if with_probabilities else found[:, None]
        return [row[:, :n] for row, n in zip(both, waiting.n_before, strict=True)]

    def score(self, text: str | Sequence[str], *, embedding: Any = None) -> FloatArray:
        """Return a score for every tag in `labels`: (k,) for a string, (n, k) for several. Higher is more relevant."""
        return self.scores_and_probabilities(text, embedding=embedding)[0]

    def probabilities(self, text: str | Sequence[str], *, embedding: Any = None) -> FloatArray:
        """Return the probability of every tag in `labels` to be relevant: (k,) for a string, (n, k) for several."""
        return self.scores_and_probabilities(text, embedding=embedding)[1]

    def predict(
        self, text: str | Sequence[str], optimize: Optimize = "micro-f1", *, embedding: Any = None
    ) -> list[Any]:
        """Return the tags to name, best first: a list for a string, else a list of lists.

        They are the first tags of `rank`. See `boostline.LabelRanker.predict` for ``optimize``.
        """
        return self.rank(text, threshold=optimize, embedding=embedding)

    def scores_and_probabilities(
        self, text: str | Sequence[str], *, embedding: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return `score` and `probabilities` of the same moment."""
        n_labels = self.n_labels
        is_single, rows = self._read(text, embedding)
        scores, likely = self._booster.scores_and_probabilities(rows)
        scores, likely = scores[:, :n_labels], likely[:, :n_labels]
        return (scores[0], likely[0]) if is_single else (scores, likely)

    def rank(
        self,
        text: str | Sequence[str],
        top: int | None = None,
        *,
        threshold: Optimize | None = None,
        with_probabilities: bool = False,
        embedding: Any = None,
    ) -> list[Any]:
        """Return the tags, best first, only the first ``top`` if given: a list for a string, else a list of lists.

        See `boostline.LabelRanker.rank` for ``threshold`` and ``with_probabilities``.
        """
        names = self.labels
        if threshold is not None or with_probabilities:
            scores, likely = self.scores_and_probabilities(text, embedding=embedding)
            cut = None if threshold is None else self._booster.threshold(threshold)
            return ranked_labels(
                scores,
                likely,
                self.labels,
                top,
                threshold=cut,
                with_probabilities=with_probabilities,
            )
        wanted = len(names) if top is None else min(whole_number(top, "top", 1), len(names))
        is_single, rows = self._read(text, embedding)
        # Places for tags to come may be among the best.
        order = self._booster.rank_indices(rows, wanted + self._booster.n_labels - len(names))
        ranked = [[names[i] for i in row[row < len(names)][:wanted].tolist()] for row in order]
        return ranked[0] if is_single else ranked

    # Looking inside.

    def known_words(self, text: str | Sequence[str]) -> Any:
        """Return how many different words of a text were learned before: a number, or (n,) for several texts.

        A text with none is ranked about as the tags are frequent. Terms of ``pairs`` and ``characters`` count, too.

        Examples
        --------
        >>> tagger = TextRanker()
        >>> tagger.learn(["red wine", "old bread"], [{"drink"}, {"food"}])
        >>> tagger.known_words(["wine and bread", "Brot"])
        array([2, 0])
        """
        is_single, texts, _ = read_texts(text, None)
        known = self._features.known_words(self._features.count(texts))
        return int(known[0]) if is_single else known

    @property
    def labels(self) -> list[str]:
        """The tags known so far, in the order in which they were learned."""
        return list(self._tags)

    @property
    def n_labels(self) -> int:
        """Number of tags known so far."""
        return len(self._tags)

    @property
    def clock(self) -> int:
        """Number of texts learned."""
        return self._booster.clock

    @property
    def booster(self) -> LabelRanker:
        """The model behind it. Its labels are the places of the tags in `labels`, and some places for tags to come."""
        return self._booster

    @property
    def text_features(self) -> TextFeatures:
        """How texts become rows."""
        return self._features

    @property
    def n_threads(self) -> int:
        """Number of threads; does not change the result."""
        return self._booster.n_threads

    @n_threads.setter
    def n_threads(self, n: int) -> None:
        self._booster.n_threads = n

    def rows(self, text: str | Sequence[str], *, embedding: Any = None) -> Rows:
        """Return the rows of features that the booster gets for texts."""
        return self._read(text, embedding)[1]

    def _read(self, text: Any, embedding: Any) -> tuple[bool, Rows]:
        """Whether it is a single text, and the rows."""
        is_single, texts, vectors = read_texts(text, embedding)
        return is_single, self._features.rows(self._features.count(texts, vectors))

    def add_labels(self, labels: Sequence[str]) -> None:
        """Make tags known before they are learned."""
        with self._lock:
            new = [tag for tag in checked_tags(labels, "labels") if tag not in self._tags]
            n = len(self._tags)
            self._make_room(n + len(new))
            self._tags |= {tag: n + i for i, tag in enumerate(new)}

    def _make_room(self, n: int) -> None:
        """Let the booster have a label for each of `n` tags, and some for tags to come."""
        if n >= self._booster.n_labels:
            self._booster.add_labels(with_spare(n) - self._booster.n_labels)

    def memory_usage(self) -> int:
        """Return the memory of the model, in bytes."""
        return self._booster.memory_usage() + self._features.memory_usage()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.memory_usage()

    def __repr__(self) -> str:
        return f"TextRanker({self.n_labels} tags, {self.clock} texts learned)"

    # State.

    def save(self, path: str | PathLike[str], extra: dict[str, Any] | None = None) -> None:
        """Save the model to a file; `boostline.load` reads it. An old file is replaced when the new one is complete.

        ``extra`` is saved with the model, see `boostline.saving.save`.
        """
        from boostline.saving import save

        with self._lock:
            save(self._booster, path, extra, text=self._state())

    def _state(self) -> dict[str, Any]:
        return {"tags": self.labels, **self._features.state()}

    @classmethod
    def from_parts(cls, booster: Any, state: dict[str, Any]) -> Self:
        """Make the model again that was saved: from its booster, and what the file says about texts."""
        if not isinstance(booster, LabelRanker):
            raise ValueError(
                f"a text model has a {type(booster).__name__}, but must have a LabelRanker"
            )
        model = cls.__new__(cls)
        model._tags = {tag: i for i, tag in enumerate(checked_tags(state["tags"], "tags"))}
        model._features = TextFeatures.from_state(state)
        model._booster = booster
        model._lock = _core.TurnLock()
        if len(model._tags) > booster.n_labels or booster.labels is not None:
            raise ValueError(f"a text model with {len(model._tags)} tags has other labels")
        if booster.features is not None:
            raise ValueError("a text model has names of features, but its columns must have none")
        if booster.n_features not in (None, model._features.n_features):
            raise ValueError(
                f"a text model has {booster.n_features} features, but must have {model._features.n_features}"
            )
        return model

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = _core.TurnLock()


def with_spare(n: int) -> int:
    """How many labels the booster has for `n` tags."""
    return n + max(LEAST_SPARE, n // _SPARE_SHARE)


def _left_for_booster(max_bytes: int | None, for_words: int) -> int | None:
    if max_bytes is None:
        return None
    if whole_number(max_bytes, "max_bytes", 1, 2**62) <= for_words:
        raise ValueError(
            f"max_bytes is {max_bytes:,}, but must be more than {for_words:,}, which the counts of words take; "
            "with fewer n_columns it can be less"
        )
    return max_bytes - for_words


def text_learners(learners: Any) -> Any:
    """The learners of a model of texts."""
    if isinstance(learners, str) and learners == "auto":
        return [SparseRanker()]
    return learners


def _filled(scores: FloatArray, n_labels: int) -> FloatArray:
    filled = np.full((len(scores), n_labels), -np.inf)
    filled[:, : scores.shape[1]] = scores
    return filled
