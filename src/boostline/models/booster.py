"""What all boosters share: Algorithm 1 of the paper, as users meet it."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import FloatArray
from boostline.contract.frames import distinct
from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import read_weights, whole_number
from boostline.contract.rows import Rows, read_rows
from boostline.learners import Description, describe
from boostline.models.evidence import Evidence
from boostline.models.probabilities import Probabilities
from boostline.models.state import State
from boostline.models.undo import Undo
from boostline.saving.limits import MOST_VOTES, least_bytes, machine_bytes, too_little_memory

MOST_LABELS = 2**24

# Keeps the draws of learners' settings apart from the booster's draws, which use (seed, 0).
_SETTINGS_STREAM = 1


class Booster(Probabilities, State):
    """Base class of all models."""

    #: A block is learned exactly as the loop of its rows (see `boostline.evaluate.prequential`).
    blocks_are_rows: ClassVar[bool] = True

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        learners: Any,
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        self._labels = None if labels is None else distinct(labels, "labels")
        if n_labels is None:
            if self._labels is None:
                raise TypeError("give n_labels or labels")
            n_labels = len(self._labels)
        elif self._labels is not None and len(self._labels) != n_labels:
            raise ValueError(f"n_labels is {n_labels}, but labels has {len(self._labels)} names")
        self._n_labels = whole_number(n_labels, "n_labels", 2, MOST_LABELS)
        self._seed = (
            secrets.randbits(63) if seed is None else whole_number(seed, "seed", 0, 2**64 - 1)
        )
        self._n_threads = whole_number(n_threads, "n_threads", 1, 1024)
        self._learners = describe(learners)
        if (n_votes := sum(one.n_votes for one in self._learners)) > MOST_VOTES:
            raise ValueError(f"learners has {n_votes} learners, but must have at most {MOST_VOTES}")
        self._resolved: list[Description] | None = None  # once the number of features is known
        self._n_features: int | None = None
        self._features: list[Any] | None = None  # their names, once a frame has told them
        self._native: _core.Model | None = None
        self._lock = _core.TurnLock()
        self._space = LabelSpace(self._n_labels, self._labels)

    # Learning and ranking.

    @overload
    def learn(
        self,
        x: Any,
        relevant: Any,
        *,
        weight: Any = 1.0,
        unknown: Any = None,
        return_scores: Literal[True] = True,
    ) -> FloatArray: ...

    @overload
    def learn(
        self,
        x: Any,
        relevant: Any,
        *,
        weight: Any = 1.0,
        unknown: Any = None,
        return_scores: bool,
    ) -> FloatArray | None: ...

    def learn(
        self,
        x: Any,
        relevant: Any,
        *,
        weight: Any = 1.0,
        unknown: Any = None,
        return_scores: bool = True,
    ) -> FloatArray | None:
        """Learn one example or a block; return the scores from before each example was learned.

        Parameters
        ----------
        x
            One example (d,) or a block (n, d): array, frame, row of a frame or SciPy CSR matrix. NaN means missing. The
            model remembers the column names of the first frame (`features`) and matches later frames by name.
        relevant
            The relevant labels. Arrays, frames, CSR rows and sequences of bools are indicators of length k (NaN:
            unknown). Sets, lists and tuples contain labels, by name or by index. For a block, pass an (n, k) indicator
            or a list with one label set per row. The columns of a frame are matched with `labels` by name.
        weight
            Importance in [0, 1]: one number, or one per row.
        unknown
            Labels that may or may not be relevant, in the same forms. They are not used.
        return_scores
            False returns None: with thousands of labels the scores of a block take more memory than the model.

        Returns
        -------
        scores
            (k,) for one example, (n, k) for a block. A block gives exactly the same result as single calls.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.AdaOLMR(labels=["sun", "rain", "wind"], learners=bl.learners.paper_trees(10))
        >>> model.learn([0.2, 1.0], {"sun", "wind"})
        array([0., 0., 0.])
        """
        with self._turn():
            self._catch_up()
            return self._learn(x, relevant, weight, unknown, return_scores)

    def _learn(
        self,
        x: Any,
        relevant: Any,
        weight: Any,
        unknown: Any,
        return_scores: bool,
        with_probabilities: bool = False,
    ) -> FloatArray | None:
        rows = read_rows(x, self._features)
        sets = self._space.read(relevant, rows.n, rows.is_single, unknown)
        weights = read_weights(weight, rows.n)
        fresh = self._native is None
        native = self._native or self._built(rows.n_features)
        clock = native.clock()
        undo = None
        try:
            undo = Undo(native, rows.n)
            scores = native.learn(
                rows.native,
                rows.n_features,
                sets.n_labels,
                sets.relevant.start,
                sets.relevant.values,
                sets.unknown.start,
                sets.unknown.values,
                weights,
                return_scores,
                with_probabilities,
            )
        except BaseException as error:
            # A row is learned by all learners or by none. With learners written in Python the whole call is undone.
            # Without them, the rows before Ctrl-C, or before memory ran out, stay learned.
            if undo is not None:
                undo.run()
            n_learned = native.clock() - clock
            if n_learned > 0:
                self._keep(native, rows, sets)
            elif fresh:
                self._resolved = None
            if isinstance(error, MemoryError):
                raise MemoryError(
                    f"there is not enough memory to learn all {rows.n} rows: the first {n_learned} were learned, the "
                    f"others were not; clock is {native.clock()}"
                ) from error
            raise
        self._keep(native, rows, sets)
        if not return_scores:
            return None
        return scores[0] if rows.is_single else scores

    def learn_with_probabilities(
        self, x: Any, relevant: Any, *, weight: Any = 1.0, unknown: Any = None
    ) -> tuple[FloatArray, FloatArray]:
        """Learn as `learn` does; return scores and probabilities from before each example was learned.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(n_labels=2, seed=0)
        >>> before = model.probabilities([[1.0, 2.0]])
        >>> scores, likely = model.learn_with_probabilities([[1.0, 2.0]], [{1}])
        >>> bool((likely == before).all())
        True
        """
        with self._turn():
            self._catch_up()
            found = self._learn(x, relevant, weight, unknown, True, with_probabilities=True)
        assert found is not None
        k = found.shape[-1] // 2
        return found[..., :k], found[..., k:]

    def score(self, x: Any) -> FloatArray:
        """Return a score for every label: (k,) for one example, (n, k) for a block. Higher is more relevant.

        Examples
        --------
        >>> import boostline as bl
        >>> bl.OnlineBMR(n_labels=2, learners=bl.learners.paper_trees(4), edge=0.1).score([1.0, 2.0])
        array([2., 2.])
        """
        return self._ask("score", x)

    def rank(self, x: Any, top: int | None = None) -> Any:
        """Return the labels, best first; only the first ``top`` if given. Ties are ordered by label index.

        Returns
        -------
        labels
            An array of indices, (top,) or (n, top); with named labels a list of names, or a list of lists.
        """
        order = self.rank_indices(x, top)
        return order if self._labels is None else named(order, self._labels)

    def rank_indices(self, x: Any, top: int | None = None) -> NDArray[np.int64]:
        """The same as indices, also if labels have names: (top,) or (n, top)."""
        # How many labels there are is the compiled model's to say: another thread may be adding some.
        top = MOST_LABELS if top is None else min(whole_number(top, "top", 1), MOST_LABELS)
        rows = read_rows(x, self._features)
        native = self._ready(rows.n_features)
        # nanobind's int64 is C's long long, NumPy's is long: the same numbers, but NumPy would show the type.
        order = native.rank(rows.native, rows.n_features, top).view(np.int64)
        return order[0] if rows.is_single else order

    def votes(self, x: Any) -> FloatArray:
        """Return the learners' votes h^i: (N, k) for one example, (n, N, k) for a block."""
        return self._ask("votes", x)

    def contributions(self, x: Any) -> FloatArray:
        """What each learner adds to the scores of one example (N, k) or a block (n, N, k)."""
        return self._ask("contributions", x)

    def evidence(self, x: Any, label: int) -> tuple[list[Evidence], list[Evidence]]:
        """What adds to each member's own score of a label (its index) for one example: features, and past rows.

        Members whose score is no such sum are left out.
        """
        of_features: list[Evidence] = []
        of_rows: list[Evidence] = []
        rows = read_rows(x, self._features)
        if self._native is not None:
            found = self._native.evidence(rows.native, rows.n_features, label)
            for vote, sums in enumerate(found):
                for out, one in zip((of_features, of_rows), sums, strict=True):
                    if one is not None:
                        out.append(Evidence(vote, *one))
        return of_features, of_rows

    def _ask(self, method: str, x: Any) -> FloatArray:
        """What the compiled model says of one example or a block."""
        rows = read_rows(x, self._features)
        found = getattr(self._ready(rows.n_features), method)(rows.native, rows.n_features)
        return found[0] if rows.is_single else found  # type: ignore[no-any-return]

    # Looking inside.

    @property
    def n_labels(self) -> int:
        """Number of labels, k."""
        return self._n_labels

    @property
    def labels(self) -> list[Any] | None:
        """Names of the labels, or None."""
        return None if self._labels is None else list(self._labels)

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first example."""
        return self._n_features

    @property
    def features(self) -> list[Any] | None:
        """Names of the features, in the order of the columns; None if they have no names.

        They are taken from the first frame, and can be set for a model that learns from arrays.
        """
        return None if self._features is None else list(self._features)

    @features.setter
    def features(self, names: Sequence[Any] | None) -> None:
        if names is not None:
            names = distinct(names, "features")
            if not names:
                raise ValueError("features is empty, but must have a name for each feature")
            if self._n_features is not None and len(names) != self._n_features:
                raise ValueError(
                    f"features has {len(names)} names, but must have {self._n_features}, one per feature"
                )
        self._features = names

    @property
    def n_threads(self) -> int:
        """Number of threads; does not change the result."""
        return self._n_threads

    @n_threads.setter
    def n_threads(self, n: int) -> None:
        n = whole_number(n, "n_threads", 1, 1024)
        with self._turn():
            if self._native is not None:
                self._native.set_threads(n)
            self._n_threads = n

    @property
    def seed(self) -> int:
        """The random seed."""
        return self._seed

    def memory_usage(self) -> int:
        """Return the memory of the model and its learners, in bytes."""
        return 0 if self._native is None else self._native.memory_bytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.memory_usage()

    def __repr__(self) -> str:
        counts = Counter(one.kind for one in self._resolved or self._learners)
        kinds = [kind if n == 1 else f"{n} x {kind}" for kind, n in counts.items()]
        settings = {**self._settings(), "seed": self._seed, "n_features": self._n_features}
        told = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return (
            f"{type(self).__name__}(n_labels={self._n_labels}, learners=[{', '.join(kinds)}], "
            f"{told}, clock={self.clock})"
        )

    # Helpers.

    def _keep(self, native: _core.Model, rows: Rows, sets: LabelSets) -> None:
        """Take over what the first example tells: the number of features, and the columns of a frame."""
        self._native, self._n_features = native, rows.n_features
        if self._features is None and rows.names is not None:
            self._features = list(rows.names)
        if sets.names is not None:
            self._labels = sets.names
            self._space = LabelSpace(self._n_labels, self._labels)

    def _built(self, n_features: int) -> _core.Model:
        """Make the compiled model for so many features; the caller decides whether to keep it."""
        if self._features is not None and len(self._features) != n_features:
            raise ValueError(
                f"x has {n_features} features, but must have {len(self._features)}, one for each name in features"
            )
        key = np.array([self._seed, _SETTINGS_STREAM], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=key))
        resolved = [
            d for one in self._learners for d in one.resolve(n_features, rng, self._n_labels)
        ]
        if not resolved:
            kinds = ", ".join(d.kind for d in self._learners)
            raise ValueError(
                f"learners is {kinds}, none of which can be used with {self._n_labels} labels and {n_features} features"
            )
        resolved = self._sized(resolved, n_features)
        size = (resolved, self._n_labels, n_features)
        if least_bytes(*size) > machine_bytes():
            raise MemoryError(too_little_memory(*size))
        try:
            learners = [d.build(self._n_labels, n_features) for d in resolved]
            self._resolved = resolved
            native = self._make_native(learners, n_features)
        except MemoryError as error:  # the machine had enough, but not now
            self._resolved = None
            raise MemoryError(too_little_memory(*size)) from error
        native.set_threads(self._n_threads)
        return native

    def _sized(self, resolved: list[Description], n_features: int) -> list[Description]:
        """The learners at the size that they may have."""
        return resolved

    def _ready(self, n_features: int) -> _core.Model:
        """The compiled model; before the first example one that is thrown away, so that nothing changes."""
        if self._native is not None:
            return self._native
        before = self._resolved
        native = self._built(n_features)
        self._resolved = before
        return native


def named(order: NDArray[np.int64], labels: list[Any]) -> list[Any]:
    """The names of labels that are given by their indices, (k,) or (n, k)."""
    if order.ndim == 1:
        return [labels[i] for i in order]
    return [[labels[i] for i in row] for row in order]
