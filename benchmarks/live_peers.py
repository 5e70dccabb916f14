"""The learners of ``benchmarks/live.py``: ours and what people use instead.

Every learner has ``rank_then_learn(rows)``: scores for each row as ranked before any of them is learned, (n, n_labels)
with -inf for labels that are not ranked, and probabilities or None. For the peers, texts are tf-idf rows of length 1
over hashed words, with the frequencies of the rows before; the time for that counts, as it does for ours.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from live_streams import Stream
from scipy import sparse

N_COLUMNS = 2**17
N_LISTED = 100  # a label tree ranks as many labels
TREES = {
    "arxiv": 4000,
    "pkgsrc labels": 2000,
    "pkgsrc depends": 2000,
    "nuclei": 1000,
    "debdepends": 2000,
}


class Learner:
    """What all have in common: the stream, its features, and labels that arrive late."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.learned = 0

    def rank_then_learn(self, rows: range) -> tuple[Any, Any]:
        """Rank these rows; then learn all whose labels have arrived by the next row."""
        found = self.rank(rows)
        arrived = max(0, rows.stop - self.stream.delay)
        if arrived > self.learned:
            self.learn(range(self.learned, arrived))
            self.learned = arrived
        return found

    def rank(self, rows: range) -> tuple[Any, Any]:
        raise NotImplementedError

    def learn(self, rows: range) -> None:
        raise NotImplementedError

    def megabytes(self) -> float:
        return 0.0


class Ours(Learner):
    """TextRanker or LabelRanker with their defaults; texts and tables are given as they are."""

    def __init__(self, stream: Stream, frozen_after: float = 1.0) -> None:
        super().__init__(stream)
        import boostline as bl

        self.is_text = bool(stream.texts)
        self.model = bl.TextRanker() if self.is_text else bl.LabelRanker(stream.n_labels)
        self.n_learned = int(frozen_after * len(stream))
        self.order: Any = np.zeros(0, int)  # the label of each of the model's columns

    def rank(self, rows: range) -> tuple[Any, Any]:
        if not self.model.n_labels or not self.model.clock:
            return np.zeros((len(rows), self.stream.n_labels)), None
        found = self.model.scores_and_probabilities(
            [self.stream.texts[i] for i in rows]
            if self.is_text
            else self.stream.X[rows.start : rows.stop]
        )
        return tuple(self.spread(part) for part in found)  # type: ignore[return-value]

    def rank_then_learn(self, rows: range) -> tuple[Any, Any]:
        if not self.is_text or rows.start >= self.n_learned:
            return super().rank_then_learn(rows)
        # A text is ranked just before it is learned: a block gives what single calls give.
        found = self.model.learn_with_probabilities(
            [self.stream.texts[i] for i in rows], [self.tags(i) for i in rows]
        )
        self.learned = rows.stop
        return tuple(self.spread(part) for part in found)  # type: ignore[return-value]

    def tags(self, row: int) -> set[str]:
        return {str(label) for label in self.stream.labels[row]}

    def spread(self, found: Any) -> Any:
        """Put the model's columns where the stream's labels are."""
        if not self.is_text:
            return found
        if len(self.order) < self.model.n_labels:
            self.order = np.array([int(tag) for tag in self.model.labels])
        out = np.full((len(found), self.stream.n_labels), -np.inf)
        out[:, self.order] = found
        return out

    def learn(self, rows: range) -> None:
        rows = range(rows.start, min(rows.stop, self.n_learned))
        if not rows:
            return
        if self.is_text:
            self.model.learn([self.stream.texts[i] for i in rows], [self.tags(i) for i in rows])
            return
        Y = np.zeros((len(rows), self.stream.n_labels))
        for i, row in enumerate(rows):
            Y[i, self.stream.labels[row]] = 1
            if self.stream.unknown:
                Y[i, self.stream.unknown[row]] = np.nan
        self.model.learn(self.stream.X[rows.start : rows.stop], Y)

    def megabytes(self) -> float:
        return self.model.memory_usage() / 1e6


class Frequencies(Learner):
    """How often each label occurred in the latest rows."""

    def __init__(self, stream: Stream, window: int = 2000) -> None:
        super().__init__(stream)
        self.counts = np.zeros(stream.n_labels)
        self.window: deque[list[int]] = deque(maxlen=window)

    def rank(self, rows: range) -> tuple[Any, Any]:
        shares = (self.counts + 0.01) / (len(self.window) + 1)
        return np.tile(self.counts, (len(rows), 1)), np.tile(shares, (len(rows), 1))

    def learn(self, rows: range) -> None:
        for row in rows:
            if len(self.window) == self.window.maxlen:
                self.counts[self.window[0]] -= 1
            self.window.append(self.stream.labels[row])
            self.counts[self.stream.labels[row]] += 1


class Featured(Learner):
    """Peers read rows of numbers: tf-idf of hashed words, or the table with missing values as 0, scaled as it comes."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self.rows_seen = 0
        if stream.texts:
            from sklearn.feature_extraction.text import HashingVectorizer

            self.hashing = HashingVectorizer(n_features=N_COLUMNS, alternate_sign=False, norm=None)
            self.documents = np.zeros(N_COLUMNS)
        else:
            self.sums = np.zeros((2, stream.X.shape[1]))
        self.parts: list[Any] = []

    @property
    def n_columns(self) -> int:
        return N_COLUMNS if self.stream.texts else self.stream.X.shape[1] + 1

    def features(self, rows: range) -> Any:
        """Rows as a CSR matrix; each block is asked for once, in order, before it is learned."""
        if self.stream.texts:
            X = self.hashing.transform([self.stream.texts[i] for i in rows]).tocsr()
            X.data = 1 + np.log(X.data)
            X.data *= np.log((self.rows_seen + 1) / (self.documents[X.indices] + 0.5)).clip(0.1)
            self.documents += np.bincount(X.indices, minlength=N_COLUMNS)
            lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
            X.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(X.indptr))
        else:
            values = np.nan_to_num(self.stream.X[rows.start : rows.stop])
            self.sums += values.sum(axis=0), (values**2).sum(axis=0)
            n = self.rows_seen + len(rows)
            mean = self.sums[0] / n
            deviation = np.sqrt(np.maximum(self.sums[1] / n - mean**2, 1e-9))
            scaled = ((values - mean) / deviation).clip(-5, 5) / np.sqrt(values.shape[1])
            X = sparse.csr_matrix(np.hstack([scaled, np.ones((len(rows), 1))]))
        self.rows_seen += len(rows)
        self.parts.append(X)
        return X

    def rows_of(self, rows: range) -> Any:
        """Rows whose features were made before; the blocks before them are dropped where nobody needs them again."""
        whole = self.parts[0] if len(self.parts) == 1 else sparse.vstack(self.parts, format="csr")
        self.parts = [whole]
        return whole[rows.start : rows.stop]


class AdaGrad(Featured):
    """Logistic regression per label, online gradient steps with AdaGrad's rates."""

    def __init__(self, stream: Stream, rate: float) -> None:
        super().__init__(stream)
        self.rate = rate
        shape = self.n_columns, stream.n_labels
        if shape[0] * shape[1] > 5e8:
            raise SystemExit("a weight for each word and label would take more than 4 GB")
        self.weights, self.squares = np.zeros(shape, np.float32), np.full(shape, 1e-6, np.float32)
        self.latest: Any = None

    def rank_then_learn(self, rows: range) -> tuple[Any, Any]:
        if self.stream.delay:
            return super().rank_then_learn(rows)
        X, scores = self.features(rows), []  # row by row: each is ranked by all before it
        for i, row in enumerate(rows):
            scores.append(self.step(X[i], row))
        self.parts.clear()
        return np.array(scores), 1 / (1 + np.exp(-np.array(scores)))

    def step(self, x: Any, row: int) -> Any:
        weights = self.weights[x.indices]
        scores = x.data.astype(np.float32) @ weights
        gradient = 1 / (1 + np.exp(-scores))
        gradient[self.stream.labels[row]] -= 1
        if self.stream.unknown:
            gradient[self.stream.unknown[row]] = 0
        steps = np.outer(x.data, gradient).astype(np.float32)
        self.squares[x.indices] += steps**2
        self.weights[x.indices] = weights - self.rate * steps / np.sqrt(self.squares[x.indices])
        return scores

    def rank(self, rows: range) -> tuple[Any, Any]:
        scores = self.features(rows) @ self.weights
        return scores, 1 / (1 + np.exp(-scores))

    def learn(self, rows: range) -> None:
        X = self.rows_of(rows)
        for i, row in enumerate(rows):
            self.step(X[i], row)

    def megabytes(self) -> float:
        return 2 * self.weights.nbytes / 1e6


class RetrainedTree(Featured):
    """A label tree (Omikuji, its defaults: Parabel), trained again from scratch every so many rows."""

    def __init__(self, stream: Stream, last_year: bool = False) -> None:
        super().__init__(stream)
        if stream.name not in TREES and stream.name != "sample":
            raise SystemExit("a label tree is for texts")
        self.every = TREES.get(stream.name, 500)
        self.last_year = last_year
        self.tree: Any = None
        self.known: Any = None
        self.frequencies = Frequencies(stream, window=10**9)  # until the first tree is there

    def rank(self, rows: range) -> tuple[Any, Any]:
        X = self.features(rows)
        if self.tree is None:
            return self.frequencies.rank(rows)[0], None
        out = np.full((len(rows), self.stream.n_labels), -np.inf)
        for i in range(len(rows)):
            row = list(zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True))
            for label, score in self.tree.predict(row, top_k=min(N_LISTED, len(self.known))):
                out[i, self.known[label]] = score
        return out, None

    def learn(self, rows: range) -> None:
        if self.tree is None:
            self.frequencies.learn(rows)
        if rows.stop // self.every > rows.start // self.every:
            self.train(range(self.first_row(rows.stop), rows.stop))

    def first_row(self, stop: int) -> int:
        latest = self.stream.periods[stop - 1]
        if not self.last_year or latest.startswith("rows"):
            return 0
        year_before = f"{int(latest[:4]) - 1}{latest[4:]}"
        return next(i for i in range(stop) if self.stream.periods[i] >= year_before)

    def train(self, rows: range) -> None:
        import omikuji

        self.known = np.unique([label for row in rows for label in self.stream.labels[row]])
        number = {int(label): i for i, label in enumerate(self.known)}
        X = self.rows_of(rows)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"{len(rows)} {N_COLUMNS} {len(self.known)}\n")
            for i, row in enumerate(rows):
                labels = ",".join(str(number[label]) for label in self.stream.labels[row])
                values = zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)
                file.write(labels + " " + " ".join(f"{j}:{v:.5g}" for j, v in values) + "\n")
            file.flush()
            self.tree = omikuji.Model.train_on_data(file.name, n_threads=1)


class VowpalWabbit(Featured):
    """One against all, or a label tree that learns online."""

    def __init__(self, stream: Stream, options: str) -> None:
        super().__init__(stream)
        import vowpalwabbit

        self.model = vowpalwabbit.Workspace(f"{options} --loss_function logistic -b 24 --quiet")
        self.is_tree = "--plt" in options

    def line(self, row: int | None, x: Any) -> str:
        labels = "" if row is None else ",".join(map(str, self.stream.labels[row]))
        values = zip(x.indices.tolist(), x.data.tolist(), strict=True)
        return f"{labels} | " + " ".join(f"{j}:{v:.4g}" for j, v in values)

    def rank_then_learn(self, rows: range) -> tuple[Any, Any]:
        X, out = self.features(rows), np.full((len(rows), self.stream.n_labels), -np.inf)
        for i, row in enumerate(rows):
            self.predict(self.line(None, X[i]), out[i])
            arrived = row - self.stream.delay
            if arrived >= 0:
                x = self.rows_of(range(arrived, arrived + 1)) if self.stream.delay else X[i]
                self.model.learn(self.line(arrived, x))
        if not self.stream.delay:
            self.parts.clear()
        return out, None

    def predict(self, line: str, out: Any) -> None:
        found = self.model.predict(line)
        if self.is_tree:
            out[found] = np.arange(len(found), 0, -1)
        else:
            out[:] = found[-len(out) :]  # lists are used again: the latest come last


class Network(Featured):
    """scikit-learn's MLPClassifier with one hidden layer, by partial_fit in blocks of rows."""

    def __init__(self, stream: Stream, rate: float) -> None:
        super().__init__(stream)
        from sklearn.neural_network import MLPClassifier

        if stream.n_labels > 2000:
            raise SystemExit("a block takes longer than a second with so many labels")
        self.model = MLPClassifier((100,), learning_rate_init=rate, random_state=0)
        self.is_fitted = False

    def rank(self, rows: range) -> tuple[Any, Any]:
        X = self.columns(self.features(rows))
        if not self.is_fitted:
            return np.zeros((len(rows), self.stream.n_labels)), None
        likely = self.model.predict_proba(X)
        return likely, likely

    def columns(self, X: Any) -> Any:
        """Fewer columns: every weight takes part in every step."""
        fold = 2**13
        if X.shape[1] <= fold:
            return X
        return sparse.csr_matrix((X.data, X.indices % fold, X.indptr), (X.shape[0], fold))

    def learn(self, rows: range) -> None:
        Y = np.zeros((len(rows), self.stream.n_labels), int)
        for i, row in enumerate(rows):
            Y[i, self.stream.labels[row]] = 1
        self.model.partial_fit(
            self.columns(self.rows_of(rows)), Y, classes=np.arange(self.stream.n_labels)
        )
        self.is_fitted = True


def oaa(stream: Stream) -> Learner:
    if stream.n_labels > 1000:
        raise SystemExit("one against all reads every label for every row")
    return VowpalWabbit(stream, f"--multilabel_oaa {stream.n_labels} --probabilities")


LEARNERS: dict[str, Callable[[Stream], Learner]] = {
    "ours": Ours,
    "ours frozen": lambda stream: Ours(stream, frozen_after=0.1),
    "label tree retrained": RetrainedTree,
    "label tree retrained on the last year": lambda stream: RetrainedTree(stream, last_year=True),
    "Vowpal Wabbit oaa": oaa,
    "Vowpal Wabbit plt": lambda stream: VowpalWabbit(
        stream, f"--plt {stream.n_labels} --top_k {min(N_LISTED, stream.n_labels)}"
    ),
    **{
        f"AdaGrad rate {rate}": lambda stream, rate=rate: AdaGrad(stream, rate)
        for rate in (0.1, 0.3, 0.5, 1.0)
    },
    **{
        f"network rate {rate}": lambda stream, rate=rate: Network(stream, rate)
        for rate in (0.001, 0.01)
    },
    "latest frequencies": Frequencies,
}


def make(name: str, stream: Stream) -> Learner:
    return LEARNERS[name](stream)
