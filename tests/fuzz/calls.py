"""Random calls on random models, with failures injected: nothing fails that should not, and failures leave no trace.

Beside the model runs a twin that learns the same rows in the plainest way: one by one, dense, on one thread, never
saved, and without any of the failures. Whatever the model went through, its state has the same bits.
"""

from __future__ import annotations

import copy
import pickle
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from forked import in_child
from python_learners import TROUBLE
from zoo import Plan, random_labels, random_rows

import boostline as bl
from boostline import _core

CALLS = 40
#: A child that has not ended by then hangs.
FORK_SECONDS = 60


class Stop(BaseException):
    """A failure of a learner that is no `Exception`."""


def case(seed: int, folder: Path, outcomes: Counter[str]) -> None:
    """A model and some calls."""
    rng = np.random.default_rng([seed, 4])
    session = Session(rng, folder)
    for _ in range(CALLS):
        name = session.call()
        outcomes[name] += 1


class Session:
    """A model, its twin, and what can be done with them."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self.rng = rng
        self.folder = folder
        self.plan = Plan(int(rng.integers(2**32)))
        self.model = self.plan.make()
        self.twin = self.plan.make()
        self.twin.n_threads = 1
        self.d = int(rng.integers(1, 6))
        self.extreme = float(rng.choice([0.0, 0.0, 0.2]))
        self.frames = bool(rng.random() < 0.4)
        TROUBLE.off()

    def call(self) -> str:
        """Do something; check that model and twin have the same state."""
        methods: list[tuple[Callable[[], None], float]] = [
            (self.learn, 8),
            (self.score, 4),
            (self.refused_input, 6),
            (self.failing_learner, 4),
            (self.save_and_load, 2),
            (self.copy, 2),
            (self.change_threads, 2),
            (self.grow, 1),
            (self.refused_growth, 1),
            (self.fork, 0.15),
            (self.too_little_memory, 4),
        ]
        weights = np.array([weight for _, weight in methods])
        method = methods[self.rng.choice(len(methods), p=weights / weights.sum())][0]
        method()
        self.same_state(method.__name__)
        return method.__name__.replace("_", " ")

    # What works.

    def learn(self) -> None:
        """A block in any form for the model; its rows one by one for the twin."""
        X, Y, options = self.examples()
        rows = self.rows_in_any_form(X)
        # The first frame tells the names of the columns, and the twin has to hear them too.
        tells = hasattr(rows, "columns") and self.model.features is None
        expected = self.learned_by_twin(self.frame(X) if tells else X, Y, options)
        labels = self.labels_in_any_form(Y)
        if self.rng.random() < 0.2:
            self.model.learn(rows, labels, return_scores=False, **options)
            return
        if self.rng.random() < 0.2:
            found, chances = self.model.learn_with_probabilities(rows, labels, **options)
            self.probable(chances)
        else:
            found = self.model.learn(rows, labels, **options)
        np.testing.assert_array_equal(found, expected, "the scores before learning")
        assert np.isfinite(found).all(), "a score is not finite"

    def examples(self) -> tuple[Any, Any, dict[str, Any]]:
        n = int(self.rng.choice([0, 1, 2, 5, 20]))
        X = random_rows(self.rng, n, self.d, self.extreme)
        Y = random_labels(self.rng, n, self.model.n_labels)
        options: dict[str, Any] = {}
        if self.rng.random() < 0.3:
            options["weight"] = self.rng.choice([0.0, 0.25, 1.0], size=n)
        if self.rng.random() < 0.2:
            options["unknown"] = (self.rng.random(Y.shape) < 0.3) & ~Y
        return X, Y, options

    def learned_by_twin(self, X: Any, Y: Any, options: dict[str, Any]) -> Any:
        if not len(X):
            return self.twin.learn(X, Y, **options)
        scores = np.zeros((len(X), self.twin.n_labels))
        for i in range(len(X)):
            row = X.iloc[i] if hasattr(X, "iloc") else X[i]
            mine = {name: value[i] for name, value in options.items()}
            scores[i] = self.twin.learn(row, Y[i], **mine)
        return scores

    def frame(self, X: Any) -> Any:
        return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])

    def rows_in_any_form(self, X: Any) -> Any:
        form = self.rng.integers(7)
        if form == 0:
            return sp.csr_array(X)
        if form == 1:
            return sp.csr_matrix(np.asarray(X))
        if form == 2:
            return np.asfortranarray(X)
        if form == 3 and len(X):
            return X.tolist()
        if form == 4:
            return np.repeat(X, 2, axis=0)[::2]  # a view with gaps
        if form == 5 and self.frames:
            frame = self.frame(X)
            if self.model.features is not None:
                frame = frame[self.rng.permutation(frame.columns)]
            return frame if self.rng.random() < 0.5 else pl.DataFrame(frame.to_dict("list"))
        return X

    def labels_in_any_form(self, Y: Any) -> Any:
        form = self.rng.integers(6)
        if form == 4 and self.model.labels is not None:
            frame = pd.DataFrame(Y, columns=self.model.labels)
            return frame[self.rng.permutation(frame.columns)]
        if form == 0:
            return Y.astype(float)
        if form == 1:
            return sp.csr_array(Y.astype(np.int8))
        if form in (2, 3) and len(Y):
            names = self.model.labels or list(range(Y.shape[1]))
            sets = [[names[j] for j in np.flatnonzero(y)] for y in Y]
            return [set(s) for s in sets] if form == 2 else sets
        return Y

    def score(self) -> None:
        """Scores, votes and ranks are pure, finite and the twin's."""
        X = random_rows(self.rng, int(self.rng.integers(1, 6)), self.d, self.extreme)
        form = self.rows_in_any_form(X)
        scores = self.model.score(form)
        np.testing.assert_array_equal(scores, self.twin.score(X), "score")
        assert np.isfinite(scores).all(), "a score is not finite"
        order = np.argsort(-scores, axis=-1, kind="stable")
        top = int(self.rng.integers(1, self.model.n_labels + 2))
        ranks = self.model.rank(form, top)
        if self.model.labels is not None:
            ranks = [[self.model.labels.index(name) for name in row] for row in ranks]
        np.testing.assert_array_equal(ranks, order[:, :top], "rank")
        chances = self.model.probabilities(form)
        self.probable(chances)
        np.testing.assert_array_equal(chances, self.twin.probabilities(X), "probabilities")
        votes = self.model.votes(form)
        assert np.isfinite(votes).all(), "a vote is not finite"
        np.testing.assert_allclose(votes.sum(axis=-1), 1.0, atol=1e-6, err_msg="sum of votes")

    def probable(self, chances: Any) -> None:
        assert ((chances > 0) & (chances < 1)).all(), "a probability is not between 0 and 1"

    def save_and_load(self) -> None:
        """What is saved loads, with the same bits."""
        if not self.can_be_saved():
            return
        path = self.folder / "m.blm"
        self.model.save(path)
        threads = int(self.rng.integers(1, 4))
        self.model = bl.load(path, learners=self.plan.python_learners(), n_threads=threads)

    def can_be_saved(self) -> bool:
        loss = self.model.config()["settings"].get("loss")
        return not (isinstance(loss, dict) and loss.get("user_written"))

    def copy(self) -> None:
        """A copy goes on, and what is done with the original does not touch it."""
        make: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy]
        if self.can_be_saved():
            make.append(lambda model: pickle.loads(pickle.dumps(model)))
        twin = make[self.rng.integers(len(make))](self.model)
        original, self.model = self.model, twin
        X, Y, options = self.examples()
        original.learn(X, Y, **options)

    def change_threads(self) -> None:
        self.model.n_threads = int(self.rng.integers(1, 5))

    def grow(self) -> None:
        """New labels, new features."""
        if self.rng.random() < 0.5 and self.model.n_labels < 9:
            n = int(self.rng.integers(1, 3))
            new: Any = n
            if self.model.labels is not None:
                new = [f"new {self.model.n_labels + i}" for i in range(n)]
            for model in (self.model, self.twin):
                model.add_labels(new)
        elif self.model.n_features is not None and self.d < 9:
            n, were = int(self.rng.integers(1, 3)), str(self.rng.choice(["missing", "zero"]))
            for model in (self.model, self.twin):
                model.add_features(self.new_features(n), past_values=were)
            self.d += n

    def new_features(self, n: int) -> Any:
        """Their names if features have names, else how many."""
        names = [f"column {self.d + i}" for i in range(n)]
        return n if self.model.features is None else names

    def fork(self) -> None:
        """In a forked child everything works as here."""
        X, Y, options = self.examples()

        def child() -> None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.model.score(X)
            self.model.learn(X, Y, **options)
            self.model.n_threads = 2
            self.model.learn(X, Y, **options)
            self.model = None

        in_child(child, FORK_SECONDS)

    # What fails.

    def refused_input(self) -> None:
        """Bad input is refused with the errors that are documented, before anything changes."""
        X, Y, options = self.examples()
        if not len(X):
            return
        bad = [
            self.bad_rows,
            self.bad_labels,
            self.bad_weight,
            self.bad_unknown,
        ][self.rng.integers(4)]
        X, Y, options = bad(X, Y, dict(options))
        try:
            self.model.learn(X, Y, **options)
        except (ValueError, TypeError):
            return
        raise AssertionError(f"bad input was taken ({bad.__name__})")

    def bad_rows(self, X: Any, Y: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        what = self.rng.integers(10)
        if what == 9 and self.model.features is not None:
            X = self.frame(X).rename(columns={f"column {self.d - 1}": "foreign"})
        elif what == 0:
            X[self.rng.integers(len(X)), 0] = self.rng.choice([np.inf, -np.inf, 1e101, -1e308])
        elif what == 1 and self.model.n_features is not None:
            X = np.hstack([X, X])
        elif what == 2:
            X = X.astype(str)
        elif what == 3:
            X = X[None]
        elif what == 4:
            X = X[:, :0]
        elif what == 5:
            X = sp.csr_array(np.hstack([np.ones((len(X), 1)), X]))[:, :-1]
            X.indices[int(self.rng.integers(len(X.indices)))] = self.rng.choice([-1, 10**6, 2**30])
        elif what == 6:
            X = sp.csr_array(np.ones_like(X))
            X.indptr[int(self.rng.integers(len(X.indptr)))] = self.rng.choice([-1, 10**6, 2**30])
        elif what == 7:
            X = [*X.tolist(), [1.0] * (self.d + 1)]
        else:
            X = object()
        return X, Y, options

    def bad_labels(self, X: Any, Y: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        what = self.rng.integers(7)
        k = self.model.n_labels
        if what == 0:
            Y = Y[:, 1:]
        elif what == 1:
            Y = np.vstack([Y, Y[:1]])
        elif what == 2:
            Y = [{k}] * len(X)
        elif what == 3:
            Y = [[0, 0]] * len(X)
        elif what == 4:
            Y = Y + 0.5
        elif what == 5:
            Y = [{"no such label"}] * len(X)
        else:
            Y = [{-1}] * len(X)
        return X, Y, options

    def bad_weight(self, X: Any, Y: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        bad = [-0.1, 1.5, np.nan, np.inf, "heavy", None, np.full(len(X) + 1, 0.5)]
        return X, Y, {**options, "weight": bad[self.rng.integers(len(bad))]}

    def bad_unknown(self, X: Any, Y: Any, options: dict[str, Any]) -> tuple[Any, ...]:
        Y[:, 0] = True
        return X, Y, {**options, "unknown": np.ones_like(Y)}

    def failing_learner(self) -> None:
        """A learner written in Python raises, or votes with nonsense, at some call: nothing has happened."""
        X, Y, options = self.examples()
        errors = [None, ValueError("no"), MemoryError(), KeyError("x"), SystemExit(3), Stop()]
        error = errors[self.rng.integers(len(errors))]
        before = self.model.state()
        TROUBLE.plan(int(self.rng.integers(0, 60)), error)
        try:
            found = self.model.learn(X, Y, **options)
        except BaseException as caught:
            if error is None:
                assert isinstance(caught, ValueError), f"bad votes gave {caught!r}"
            elif error not in (caught, caught.__cause__):  # of memory the model says more
                raise
            assert_same_state(before, self.model.state(), "after the failure")
            return
        finally:
            TROUBLE.off()
        np.testing.assert_array_equal(found, self.learned_by_twin(X, Y, options))

    def too_little_memory(self) -> None:
        """Allocations fail: what was begun is undone, or was done; of a block the rows before stay."""
        X, Y, options = self.examples()
        new_label: Any = ["one more"] if self.model.labels else 1
        attempts: list[Callable[[], Any]] = [
            lambda: self.model.learn(X, Y, **options),
            lambda: self.model.score(X),
            lambda: self.model.rank(X, 1),
            lambda: self.model.add_labels(new_label),
            lambda: self.model.add_features(self.new_features(1)),
            lambda: setattr(self.model, "n_threads", 4),
            lambda: copy.deepcopy(self.model),
            lambda: self.model.save(self.folder / "m.blm"),
        ]
        what = int(self.rng.choice(len(attempts), p=[0.5, 0.05, 0.05, 0.1, 0.1, 0.05, 0.1, 0.05]))
        before, clock = self.model.state(), self.model.clock
        n_allocations = int(self.rng.choice([0, 1, 3, 10, 50, 200, 1000]))
        _core.testing.grant_allocations(
            n_allocations, bool(self.rng.integers(2))
        )  # or nothing fails
        try:
            attempts[what]()
        except MemoryError:
            done = False
        except (RuntimeError, TypeError, ValueError):
            if _core.testing.grant_allocations(
                -1
            ):  # else it is refused for another reason: no names, no first example
                raise
            done = False
        else:
            done = True
        finally:
            _core.testing.grant_allocations(-1)
        if what == 0:
            n = self.model.clock - clock
            if done or n:
                self.learned_by_twin(X[:n], Y[:n], {k: v[:n] for k, v in options.items()})
            return
        if not done:
            assert_same_state(before, self.model.state(), "without memory for it")
        elif what == 3:
            self.twin.add_labels(new_label)
        elif what == 4:
            self.twin.add_features(self.new_features(1))
            self.d += 1

    def refused_growth(self) -> None:
        """Growth that is refused, by us or by a learner, changes nothing."""
        k = self.model.n_labels
        bad = [
            ("add_labels", 0),
            ("add_labels", -1),
            ("add_labels", 2**24),
            ("add_labels", "ab"),
            ("add_labels", ["x", "x"]),
            ("add_features", 0),
            ("add_features", 2**31),
            ("add_features", "many"),
        ]
        method, argument = bad[self.rng.integers(len(bad))]
        try:
            getattr(self.model, method)(argument)
        except (ValueError, TypeError, RuntimeError, MemoryError):
            pass
        else:
            raise AssertionError(f"bad growth was taken: {method}({argument!r})")
        assert self.model.n_labels == k
        if (
            not any(d.kind == "python" for d in self.model.learners)
            or self.model.n_features is None
        ):
            return
        error = MemoryError("at growth")
        TROUBLE.plan(0, error)
        try:
            if self.rng.random() < 0.5:
                self.model.add_labels(["one"] if self.model.labels else 1)
            else:
                self.model.add_features(self.new_features(1))
        except MemoryError as caught:
            assert caught.__cause__ is error  # the model says more
        else:
            raise AssertionError("a learner failed to grow, but the model has grown")
        finally:
            TROUBLE.off()

    def same_state(self, what: str) -> None:
        """The model is as if only the rows that were learned had happened."""
        assert_same_state(self.twin.state(), self.model.state(), f"after {what}")
        most = getattr(self.model, "max_bytes", None)
        assert most is None or self.model.memory_usage() <= most, "more memory than allowed"


def assert_same_state(a: dict[str, Any], b: dict[str, Any], when: str) -> None:
    """Bit by bit."""
    assert a["config"] == b["config"], f"{when} the configuration differs"
    assert list(a["arrays"]) == list(b["arrays"]), f"{when} other arrays are there"
    for name, array in a["arrays"].items():
        other = b["arrays"][name]
        same = array.dtype == other.dtype and array.shape == other.shape
        assert same and array.tobytes() == other.tobytes(), f"{when} {name} differs"
    assert pickle.dumps(a["python"]) == pickle.dumps(b["python"]), f"{when} a Python state differs"
