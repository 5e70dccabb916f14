"""A model as users meet it: the public API of all models in one class."""

from __future__ import annotations

import copy
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, ClassVar, Literal, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import BoolArray, FloatArray
from boostline.contract.frames import added_names, distinct
from boostline.contract.label_sets import LabelSets
from boostline.contract.labels import LabelSpace
from boostline.contract.numbers import Optimize, read_optimize, read_weights, whole_number
from boostline.contract.rows import Rows, read_rows
from boostline.learners import (
    Description,
    HoeffdingTree,
    Member,
    describe,
    draw,
    from_configs,
    members,
)
from boostline.learners.python import FromPython
from boostline.models.diagnostics import Diagnostics, Evidence
from boostline.models.native import Native, grow_python_learners, refuse_rigid_learners
from boostline.saving.limits import MOST_VOTES
from boostline.saving.states import Source, restore

MOST_LABELS = 2**24

_BOOSTERS: dict[str, type[Booster]] = {}
T = TypeVar("T")


class Booster:
    """Base class of all models: Algorithm 1 of the paper, with learners, costs and weights of its subclasses."""

    algorithm: ClassVar[str]
    #: A block is learned exactly as the loop of its rows (see `boostline.evaluate.prequential`).
    blocks_are_rows: ClassVar[bool] = True
    #: Models of rows and `boostline.TextRanker` share one protocol: whether it takes texts, and its `booster`.
    takes_texts: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "algorithm" in cls.__dict__:
            _BOOSTERS[cls.algorithm] = cls

    def __init__(
        self,
        n_labels: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        learners: Any,
        seed: int | None = 0,
        n_threads: int = 1,
    ) -> None:
        names = None if labels is None else distinct(labels, "labels")
        if n_labels is None:
            if names is None:
                raise TypeError("n_labels and labels are None, but one of them must be given")
            n_labels = len(names)
        elif names is not None and len(names) != n_labels:
            raise ValueError(f"n_labels is {n_labels}, but labels has {len(names)} names")
        self._space = LabelSpace(whole_number(n_labels, "n_labels", 2, MOST_LABELS), names)
        self._seed = (
            secrets.randbits(63) if seed is None else whole_number(seed, "seed", 0, 2**64 - 1)
        )
        self._n_threads = whole_number(n_threads, "n_threads", 1, 1024)
        self._learners = describe(learners)
        if (n_votes := sum(one.n_votes for one in self._learners)) > MOST_VOTES:
            raise ValueError(f"learners has {n_votes} learners, but must have at most {MOST_VOTES}")
        self._features: list[Any] | None = None  # their names, from the first frame
        self._native: Native | None = None  # from the first example on
        self._lock = _core.TurnLock()

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
        return self._learn(x, relevant, weight, unknown, return_scores)

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
        both = self._learn(x, relevant, weight, unknown, True, with_probabilities=True)
        assert both is not None
        k = both.shape[-1] // 2
        return both[..., :k], both[..., k:]

    def _learn(
        self,
        x: Any,
        relevant: Any,
        weight: Any,
        unknown: Any,
        return_scores: bool,
        with_probabilities: bool = False,
    ) -> FloatArray | None:
        with self._turn():
            rows = self._read(x)
            self._space = self._label_space()
            sets = self._space.read(relevant, rows.n, rows.is_single, unknown)
            weights = read_weights(weight, rows.n)
            native = self._native or self._built(rows.n_features)
            clock = native.core.clock()
            try:
                scores = native.learn(rows, sets, weights, return_scores, with_probabilities)
            except BaseException:
                if native.core.clock() > clock:  # some rows were learned
                    self._keep(native, rows, sets)
                raise
            self._keep(native, rows, sets)
        if not return_scores:
            return None
        return scores[0] if rows.is_single else scores

    def _keep(self, native: Native, rows: Rows, sets: LabelSets) -> None:
        """Adopt what the first example sets: the number of features, and the columns of frames."""
        self._native = native
        if self._features is None and rows.names is not None:
            self._features = list(rows.names)
        if sets.names is not None:
            self._space = LabelSpace(self._space.n_labels, sets.names)

    def score(self, x: Any) -> FloatArray:
        """Return a score for every label: (k,) for one example, (n, k) for a block. Higher is more relevant.

        Examples
        --------
        >>> import boostline as bl
        >>> bl.OnlineBMR(n_labels=2, learners=bl.learners.paper_trees(4), edge=0.1).score([1.0, 2.0])
        array([2., 2.])
        """
        return self._computed("score", x)

    def rank(
        self,
        x: Any,
        top: int | None = None,
        *,
        threshold: Optimize | None = None,
        with_probabilities: bool = False,
    ) -> Any:
        """Return the labels by `score`, best first. Ties are ordered by label index. Probabilities never rise along it.

        Parameters
        ----------
        x
            One example or a block, as in `learn`.
        top
            At most so many labels; None for all.
        threshold
            Only labels that `predict` names with this ``optimize``: a probability, ``"micro-f1"`` or ``"macro-f1"``.
        with_probabilities
            Whether to return pairs (label, probability).

        Returns
        -------
        labels
            An array of indices, (top,) or (n, top); with named labels a list of names, or a list of lists. With
            ``threshold`` or ``with_probabilities`` always a list, or a list of lists, one per row.

        Examples
        --------
        >>> import numpy as np, boostline as bl
        >>> X = np.random.default_rng(0).normal(size=(2000, 3))
        >>> model = bl.LabelRanker(labels=["sun", "rain", "wind"], seed=1)
        >>> _ = model.learn(X, X == X.max(axis=1, keepdims=True))
        >>> model.rank([0.0, 2.0, -2.0], threshold=0.5)
        ['rain']
        >>> [(label, round(p, 1)) for label, p in model.rank([0.0, 2.0, -2.0], 2, with_probabilities=True)]
        [('rain', 1.0), ('sun', 0.0)]
        """
        if threshold is not None or with_probabilities:
            scores, likely = self.scores_and_probabilities(x)
            # The names last: another thread may be adding some.
            cut = None if threshold is None else self.threshold(threshold)
            return ranked_labels(
                scores,
                likely,
                self._space.names or range(scores.shape[-1]),
                top,
                threshold=cut,
                with_probabilities=with_probabilities,
            )
        order = self.rank_indices(x, top)
        names = self._space.names
        return order if names is None else named(order, names)

    def rank_indices(self, x: Any, top: int | None = None) -> NDArray[np.int64]:
        """The same as indices, also if labels have names: (top,) or (n, top)."""
        # The compiled model knows how many labels there are: another thread may be adding some.
        top = MOST_LABELS if top is None else min(whole_number(top, "top", 1), MOST_LABELS)
        rows = self._read(x)
        core = self._ready(rows.n_features)
        # nanobind's int64 is C's long long, NumPy's is long: the same numbers, but NumPy would show the type.
        order = core.rank(rows, top).view(np.int64)
        return order[0] if rows.is_single else order

    def probabilities(self, x: Any) -> FloatArray:
        """Return the probability that each label is relevant: (k,) for one example, (n, k) for a block.

        They are learned from scores that were given before their example was learned, and follow the stream. They lie
        strictly between 0 and 1 and need not sum to 1: a row may have several relevant labels, or none.

        Examples
        --------
        >>> import numpy as np, boostline as bl
        >>> X = np.random.default_rng(0).normal(size=(2000, 3))
        >>> model = bl.LabelRanker(n_labels=3, seed=1)
        >>> _ = model.learn(X, X == X.max(axis=1, keepdims=True))
        >>> model.probabilities([0.0, 2.0, -2.0]).round(1)
        array([0., 1., 0.])
        """
        return self.scores_and_probabilities(x)[1]

    def scores_and_probabilities(self, x: Any) -> tuple[FloatArray, FloatArray]:
        """Return `score` and `probabilities` of the same moment, for little more than the time of one."""
        rows = self._read(x)
        both = self._ready(rows.n_features).scores_and_probabilities(rows)
        return (both[0, 0], both[0, 1]) if rows.is_single else (both[:, 0], both[:, 1])

    def threshold(self, optimize: Optimize = "micro-f1") -> float:
        """Return the probability above which `predict` names a label; see there."""
        aim = read_optimize(optimize)
        if isinstance(aim, float):
            return aim
        return self._ready(self.n_features or 1).threshold(aim == "macro-f1")

    def predict(self, x: Any, optimize: Optimize = "micro-f1") -> BoolArray:
        """Return which labels are relevant, chosen for ``optimize``: (k,) for one example, (n, k) for a block.

        They are the first labels of `rank`: those whose probability is above `threshold`.

        Parameters
        ----------
        x
            One example or a block, as in `learn`.
        optimize
            ``"micro-f1"``: all labels count alike, frequent ones most. ``"macro-f1"``: the mean of the labels' own F1;
            more labels are named. Or a number in (0, 1): the probability above which a label is named.
            If a wrong label costs w and a missed one m, the number is w / (w + m); 0.5 makes the fewest errors.

        Examples
        --------
        >>> import numpy as np, boostline as bl
        >>> X = np.random.default_rng(0).normal(size=(500, 4))
        >>> model = bl.LabelRanker(n_labels=4, seed=1)
        >>> _ = model.learn(X, X > 0.5)
        >>> model.predict([2.0, -1.0, -1.0, 2.0])
        array([ True, False, False,  True])
        """
        return self.probabilities(x) > self.threshold(optimize)

    def votes(self, x: Any) -> FloatArray:
        """Return the learners' votes h^i: (N, k) for one example, (n, N, k) for a block."""
        return self._computed("votes", x)

    def contributions(self, x: Any) -> FloatArray:
        """What each learner adds to the scores of one example (N, k) or a block (n, N, k)."""
        return self._computed("contributions", x)

    def evidence(self, x: Any, label: int) -> tuple[list[Evidence], list[Evidence]]:
        """What adds to each member's own score of a label (its index) for one example: features, and past rows.

        Members whose score is no such sum are left out.
        """
        of_features: list[Evidence] = []
        of_rows: list[Evidence] = []
        rows = self._read(x)
        if self._native is not None:
            for vote, sums in enumerate(self._native.core.evidence(rows, label)):
                for out, one in zip((of_features, of_rows), sums, strict=True):
                    if one is not None:
                        out.append(Evidence(vote, *one))
        return of_features, of_rows

    def _computed(self, method: str, x: Any) -> FloatArray:
        """The result of a method of the compiled model for one example or a block."""
        rows = self._read(x)
        result = getattr(self._ready(rows.n_features), method)(rows)
        return result[0] if rows.is_single else result  # type: ignore[no-any-return]

    @contextmanager
    def frozen_calibration(self, is_frozen: bool = True) -> Iterator[None]:
        """For `with`: learn rows again without updating the calibration, because their scores are too good."""
        if self._native is None or not is_frozen:
            yield
            return
        self._native.core.learn_probabilities(False)
        try:
            yield
        finally:
            self._native.core.learn_probabilities(True)

    # Growing.

    def add_labels(self, labels: int | Sequence[Any]) -> None:
        """Make room for new labels: their number, or their names if labels have names.

        The new labels come last, and start like labels that have never been seen. The bounds of
        `boostline.lab.theory` hold for the whole run: each round counts with the number of labels that it had.
        """
        with self._turn():
            before = self._label_space()
            n_new, names = added_names(labels, before.names, "labels")
            n = whole_number(before.n_labels + n_new, "n_labels", 2, MOST_LABELS)
            refuse_rigid_learners(
                self._native.learners if self._native else (), "grow_labels", "labels"
            )
            # The names first: a thread that ranks meanwhile then finds a name for every label.
            self._space = LabelSpace(n, names)
            try:
                if self._native is None:
                    grow_python_learners(self._learners, before.n_labels, n)
                else:
                    self._grow(
                        self._native, lambda core: core.grow_labels(n), n, self._native.n_features
                    )
            except BaseException:
                self._space = before
                raise

    def rename_labels(self, names: Mapping[Any, Any]) -> None:
        """Give labels other names; nothing else changes.

        Parameters
        ----------
        names
            Old names and the new ones.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(labels=["sun", "rain"])
        >>> model.rename_labels({"rain": "drizzle"})
        >>> model.labels
        ['sun', 'drizzle']
        """
        with self._turn():
            space = self._label_space()
            if space.names is None:
                raise TypeError("names is given, but this model's labels have no names to change")
            for old in names:
                if old not in space.names:
                    raise ValueError(f"names has label {old!r}, but the model has no such label")
            renamed = distinct([names.get(label, label) for label in space.names], "names")
            self._space = LabelSpace(space.n_labels, renamed)

    def add_features(self, features: int | Sequence[Any], *, past_values: str = "missing") -> None:
        """Make room for new features: their number, or their names if features have names.

        They come last in the rows from now on.

        Adding them changes no score. The built-in learners use the new features as their values come in, except trees,
        which keep the covariates they started with, and the kernel, once its landmarks are complete.

        Parameters
        ----------
        features
            How many, or what they are called.
        past_values
            What they were in the rows so far: "missing", or "zero", like words that had not occurred yet.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(3)
        >>> _ = model.learn([1.0, 2.0], {0})
        >>> model.add_features(1)
        >>> model.learn([1.0, 2.0, 0.5], {0}).shape
        (3,)
        """
        with self._turn():
            n_new, names = added_names(features, self.features, "features")
            if past_values not in ("missing", "zero"):
                raise ValueError(f"past_values is {past_values!r}, but must be 'missing' or 'zero'")
            native = self._native
            if native is None:
                raise RuntimeError(
                    "features can be added only after the first example has been learned, because it sets their number"
                )
            n = whole_number(native.n_features + n_new, "n_features", 1, 2**31 - 1)
            refuse_rigid_learners(native.learners, "grow_features", "features")
            before, self._features = self._features, names  # first, as with labels
            try:
                missing = past_values == "missing"
                self._grow(native, lambda core: core.grow_features(n, missing), self.n_labels, n)
            except BaseException:
                self._features = before
                raise

    def _grow(
        self, native: Native, change: Callable[[_core.Model], None], n_labels: int, n_features: int
    ) -> None:
        native.grow(
            change, n_labels, n_features, self._sized(native.learners, n_labels, n_features, True)
        )

    # Looking inside.

    @property
    def n_labels(self) -> int:
        """Number of labels, k."""
        return self._space.n_labels if self._native is None else self._native.core.n_labels()

    @property
    def labels(self) -> list[Any] | None:
        """Names of the labels, or None."""
        names = self._label_space().names
        return None if names is None else list(names)

    @property
    def n_features(self) -> int | None:
        """Number of features; None before the first example."""
        return None if self._native is None else self._native.n_features

    @property
    def features(self) -> list[Any] | None:
        """Names of the features, in the order of the columns; None if they have no names.

        They are taken from the first frame, and can be set for a model that learns from arrays.
        """
        return None if self._features is None else list(self._feature_names() or ())

    @features.setter
    def features(self, names: Sequence[Any] | None) -> None:
        if names is not None:
            names = distinct(names, "features")
            if not names:
                raise ValueError("features is empty, but must have a name for each feature")
            if self.n_features is not None and len(names) != self.n_features:
                raise ValueError(
                    f"features has {len(names)} names, but must have {self.n_features}, one per feature"
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
                self._native.core.set_threads(n)
            self._n_threads = n

    @property
    def seed(self) -> int:
        """The random seed."""
        return self._seed

    @property
    def booster(self) -> Self:
        """The model itself; a `boostline.TextRanker` has one behind it."""
        return self

    @property
    def clock(self) -> int:
        """Examples learned so far."""
        return 0 if self._native is None else self._native.core.clock()

    @property
    def learners(self) -> list[Description]:
        """The learners: as they were given, and from the first example on with all settings drawn."""
        return list(self._learners if self._native is None else self._native.learners)

    def members(self, n_features: int | None = None) -> list[Member]:
        """The learners one by one, those of a committee included, with their places in `state`.

        Parameters
        ----------
        n_features
            Before the first example: which members there will be with so many features.

        Examples
        --------
        >>> import boostline as bl
        >>> model = bl.LabelRanker(3, learners=[bl.learners.Linear(), bl.learners.Recency()])
        >>> [member.name for member in model.members(n_features=2)]
        ['linear', 'recency']
        """
        if self._native is not None:
            return members(self._native.learners, self.n_labels, self._native.n_features)
        drawn = self._learners if n_features is None else self._drawn(n_features)
        return members(drawn, self.n_labels, n_features or 0)

    @property
    def n_learners(self) -> int:
        """Number of votes that are combined, N."""
        return len(self.learner_weights)

    @property
    def learner_weights(self) -> FloatArray:
        """Weights alpha^i of the learners."""
        return self._own("learner_weights")

    @property
    def n_restarts(self) -> int:
        """How often a fresh model has taken the place of an old one because the stream had changed."""
        return 0

    @property
    def suffered_loss(self) -> float:
        """Cumulative rank loss of the scores given before learning."""
        return float(self._own("suffered_loss")[0])

    def edges(self) -> FloatArray:
        """Empirical edges gamma_i of the learners over all that was learned; 0 before the first example.

        The edge over random guessing for which the learner's cost is that of the baseline u_gamma. For Ada.OLMR it is
        the paper's gamma_i.
        """
        numerator, denominator = self._own("edge_numerator"), self._own("edge_denominator")
        edges = np.zeros_like(numerator)
        np.divide(numerator, denominator, out=edges, where=denominator != 0)
        return edges

    @property
    def diagnostics(self) -> Diagnostics:
        """What the model has counted beyond that, for `boostline.inspect` and `boostline.lab.theory`."""
        return Diagnostics(self)

    def _own(self, name: str) -> NDArray[Any]:
        """One array of `state`, of the booster itself."""
        if self._native is not None:
            return self._native.array(name)
        # Before the first example these arrays depend on the number of votes alone: stand-ins serve.
        n = sum(d.n_votes for d in self._learners)
        stand_ins = [HoeffdingTree(features=(0,))] * n
        return Native(
            stand_ins, self.n_labels, 1, lambda built: self._make_core(built, 1, ())
        ).array(name)

    def memory_usage(self) -> int:
        """Return the memory of the model and its learners, in bytes."""
        return 0 if self._native is None else self._native.core.memory_bytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.memory_usage()

    def __repr__(self) -> str:
        counts = Counter(one.kind for one in self.learners)
        kinds = [kind if n == 1 else f"{n} x {kind}" for kind, n in counts.items()]
        settings = {**self._settings(), "seed": self._seed, "n_features": self.n_features}
        given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return (
            f"{type(self).__name__}(n_labels={self.n_labels}, learners=[{', '.join(kinds)}], "
            f"{given}, clock={self.clock})"
        )

    # State.

    def config(self) -> dict[str, Any]:
        """Return the settings from which the model can be made again, as values for JSON."""
        native = self._native
        return {
            "algorithm": self.algorithm,
            "n_labels": self.n_labels,
            "labels": self.labels,
            "n_features": self.n_features,
            "features": self.features,
            "seed": self._seed,
            "settings": self._settings(),
            "learners": [d.config() for d in self._learners],
            "resolved": None if native is None else [d.config() for d in native.learners],
        }

    def state(self) -> dict[str, Any]:
        """Return the complete state as `save` writes it: ``config`` (values for JSON) and ``arrays`` (name -> array).

        Arrays of learner i are named ``learners.i.<name>``; see the file format in the docs.
        """
        with self._turn():
            python = {
                str(i): copy.deepcopy(d.learner.get_state())
                for i, d in enumerate(self._native.learners if self._native else ())
                if isinstance(d, FromPython) and hasattr(d.learner, "get_state")
            }
            return {"config": self.config(), "arrays": self._arrays(), "python": python}

    def save(self, path: str | PathLike[str], extra: dict[str, Any] | None = None) -> None:
        """Save the model to a file; `boostline.load` reads it. An old file is replaced when the new one is complete.

        ``extra`` is saved with the model, see `boostline.saving.save`.
        """
        from boostline.saving import save

        save(self, path, extra)

    def hold(self, use: Callable[[_core.StoredState | None], T]) -> T:
        """Call ``use`` with the compiled state, if there is one, while nobody else changes the model."""
        with self._turn():
            return use(None) if self._native is None else self._native.core.hold(use)

    def restore(self, arrays: Source | Mapping[str, NDArray[Any]]) -> None:
        """Fill a new model with the arrays of `state`; every array must be there, fit, and belong to somebody."""
        restore(
            None if self._native is None else self._native.core,
            [d.kind for d in self.learners],
            arrays,
        )

    @classmethod
    def from_config(cls, config: dict[str, Any], python_learners: Sequence[Any] = ()) -> Self:
        """Make the model that `config` describes, with learners as new.

        Learners written in Python cannot be made from a description: they are taken from ``python_learners`` in order.
        """
        algorithm = config.get("algorithm")
        if algorithm not in _BOOSTERS:
            raise ValueError(
                f"algorithm is {algorithm!r}, but must be one of {', '.join(_BOOSTERS)}"
            )
        make: Any = cls if getattr(cls, "algorithm", None) == algorithm else _BOOSTERS[algorithm]

        def described(learners: Sequence[Any]) -> Any:
            return make(
                config["n_labels"],
                labels=config["labels"],
                learners=from_configs(learners, python_learners),
                seed=config["seed"],
                **config["settings"],
            )

        model = described(config["learners"])
        if config["resolved"] is not None:
            n_features = whole_number(config["n_features"], "n_features", 1, 2**31 - 1)
            model._native = model._native_of(described(config["resolved"])._learners, n_features)
        model.features = config["features"]
        return model  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        with self._turn():
            config = {**self.config(), "settings": self._live_settings()}
            learners = [d.learner for d in self.learners if isinstance(d, FromPython)]
            return _restored, (type(self), config, learners, self._arrays(), self.n_threads)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {} if self._native is None else self._native.arrays()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._turn():
            native = self._native_copy()
            if native is not None:
                twin = object.__new__(type(self))
                own = {k: v for k, v in self.__dict__.items() if k not in ("_native", "_lock")}
                twin.__dict__.update(
                    copy.deepcopy(own, memo), _native=native, _lock=_core.TurnLock()
                )
                return twin
        make, arguments = self.__reduce__()
        return make(*copy.deepcopy(arguments, memo))  # type: ignore[no-any-return]

    def _native_copy(self) -> Native | None:
        return None if self._native is None else self._native.copy(self.n_threads)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    # What the algorithms supply.

    def _make_core(
        self, built: list[_core.Learner], n_features: int, learners: Sequence[Description]
    ) -> _core.Model:
        """The compiled model of compiled learners, which were built from these descriptions."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """The algorithm's own arguments, as JSON-able values."""
        raise NotImplementedError

    def _live_settings(self) -> dict[str, Any]:
        """The same as objects, where the values say less."""
        return self._settings()

    def _sized(
        self, learners: list[Description], n_labels: int, n_features: int, has_grown: bool = False
    ) -> list[Description]:
        """The learners at the size that they may have."""
        return learners

    # Helpers.

    def _turn(self) -> _core.TurnLock:
        """For `with`: calls that change the model, or need all of it, come one after the other."""
        if self._native is not None:
            self._lock.check(self._native.core)
        return self._lock

    def _read(self, x: Any) -> Rows:
        return read_rows(x, self._feature_names())

    def _feature_names(self) -> list[Any] | None:
        """Names of the features. As with labels, a forked process may have too many."""
        names, n = self._features, self.n_features
        return names if names is None or n is None or len(names) <= n else names[:n]

    def _label_space(self) -> LabelSpace:
        """The labels. A process forked while another thread added labels has names that the compiled model lacks."""
        space, n = self._space, self.n_labels
        return space if space.n_labels == n else LabelSpace(n, space.names and space.names[:n])

    def _drawn(self, n_features: int) -> list[Description]:
        """The learners for so many features, with all settings drawn."""
        return draw(self._learners, self._seed, self.n_labels, n_features)

    def _built(self, n_features: int) -> Native:
        """Make the compiled model for so many features; the caller decides whether to keep it."""
        if self._features is not None and len(self._features) != n_features:
            raise ValueError(
                f"x has {n_features} features, but must have {len(self._features)}, one for each name in features"
            )
        native = self._native_of(
            self._sized(self._drawn(n_features), self.n_labels, n_features), n_features
        )
        native.core.set_threads(self._n_threads)
        return native

    def _native_of(self, learners: list[Description], n_features: int) -> Native:
        return Native(
            learners,
            self._space.n_labels,
            n_features,
            lambda built: self._make_core(built, n_features, learners),
        )

    def _ready(self, n_features: int) -> _core.Model:
        """The compiled model; before the first example one that is thrown away, so that nothing changes."""
        return (self._native or self._built(n_features)).core


def ranked_labels(
    scores: FloatArray,
    likely: FloatArray,
    names: Sequence[Any],
    top: int | None = None,
    *,
    threshold: float | None = None,
    with_probabilities: bool = False,
) -> list[Any]:
    """Labels of a row (k,) or several (n, k), best first: at most ``top``, and only those above the threshold."""
    top = None if top is None else whole_number(top, "top", 1)
    order = np.argsort(-np.atleast_2d(scores), axis=1, kind="stable")[:, :top]
    along = np.take_along_axis(np.atleast_2d(likely), order, axis=1)
    lengths = None if threshold is None else (along > threshold).sum(axis=1).tolist()
    ranked: list[Any] = []
    for i, best in enumerate(order):
        n = None if lengths is None else lengths[i]
        labels = [names[label] for label in best[:n].tolist()]
        ranked.append(
            list(zip(labels, along[i, :n].tolist(), strict=True)) if with_probabilities else labels
        )
    return ranked[0] if scores.ndim == 1 else ranked


def named(order: NDArray[np.int64], labels: list[Any]) -> list[Any]:
    """The names of labels that are given by their indices, (k,) or (n, k)."""
    if order.ndim == 1:
        return [labels[i] for i in order]
    return [[labels[i] for i in row] for row in order]


def _restored(
    kind: type[Booster],
    config: dict[str, Any],
    learners: list[Any],
    arrays: dict[str, NDArray[np.generic]],
    n_threads: int,
) -> Booster:
    model = kind.from_config(config, learners)
    model.restore(arrays)
    model.n_threads = n_threads
    return model
