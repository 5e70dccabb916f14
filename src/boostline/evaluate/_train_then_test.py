"""The paper's protocol (Section 4): one pass over train, then test, predicting before learning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..metrics._inputs import Bools, as_indicator_rows, as_known
from ._attend import Interrupt, ProgressLike, show_progress
from ._model import Candidate, MetricLike, Model, make_metrics, named_models
from ._run import Run

Order = Literal["file", "shuffled"]


def train_then_test(
    model: Model,
    data: Any,
    order: Order = "file",
    seed: int | None = None,
    metrics: MetricLike | Iterable[MetricLike] = ("rank_loss",),
    *,
    block: int = 256,
    window: int | None = None,
    progress: ProgressLike = None,
    freeze: bool = False,
    name: str | None = None,
) -> Run:
    """Pass once over the train rows and then over the test rows, and score the test rows.

    Each row is predicted before it is learned, in the test part as well, where the model goes on
    learning unless `freeze` is set. The metrics are means over the test rows.

    Parameters
    ----------
    model
        Has `learn(x, relevant)`, which returns the scores before learning, and `score(x)`. It is
        changed: afterwards it has learned the data.
    data
        Has `X` (array or CSR matrix), `Y` (indicators, array or CSR) and `n_train`; the rows from
        `n_train` on are the test rows. An optional `known` is a mask of the known labels.
    order
        "file": as they are. "shuffled": permuted within train and within test.
    seed
        Of the shuffling. None draws one, which the result tells.
    metrics
        Names or metrics; the rank loss is always among them.
    block
        Rows per call of the model. It changes the speed, not the result. With 1, the model is
        only ever called with single examples.
    window
        Rows in the window of the curves; None takes a tenth of the test rows.
    progress
        True, False, None (on a terminal) or a function of (rows done, rows in all).
    freeze
        Only score the test rows: the model is that of the end of train.
    name
        What to call the model in tables; None takes its class.

    Returns
    -------
    Run
        With `.rank_loss`, `.metrics`, `.curve`, `.n_without_pairs` and `.seconds` (`.cpu` and
        `.wall`, of the model's calls in train and test). After Ctrl-C: what there is, with
        `.stopped` set.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from boostline.evaluate.baselines import DecayedCounts
    >>> Y = np.repeat(np.eye(3, dtype=bool), 40, axis=0)      # sorted by class
    >>> data = SimpleNamespace(X=np.zeros((120, 1)), Y=Y, n_train=60)
    >>> run = train_then_test(DecayedCounts(3), data)          # one surprise in 60 rows
    >>> round(run.rank_loss, 4)
    0.0167
    """
    check_count(block, "block")
    X, Y, known, n_train = _parts(data)
    n = X.shape[0]
    if window is None:
        window = max(1, (n - n_train) // 10)
    check_count(window, "window")
    if order == "shuffled" and seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    rows = row_order(n_train, n, order, seed)
    [(given, checked)] = named_models(model if name is None else {name: model}).items()
    candidate = Candidate(given, checked, make_metrics(metrics), window, block)
    interrupt = Interrupt()
    with show_progress(progress, given, n) as advance, interrupt:
        for start, stop in interrupt.items(_cuts(n_train, n, block)):
            part = slice(start, stop) if rows is None else rows[start:stop]
            y = as_indicator_rows(Y[part], stop - start, Y.shape[1])
            mask = None if known is None else known[part]
            if start >= n_train and freeze:
                scores = candidate.score(X[part], y)
            else:
                scores = candidate.learn(X[part], y, mask)
            if start >= n_train:
                candidate.record(y, scores, mask)
            advance(stop - start)
    settings = {
        "protocol": "train_then_test",
        "data": getattr(data, "name", None),
        "order": order,
        "seed": None if order == "file" else seed,
        "freeze": freeze,
        "n_train": n_train,
        "n_test": n - n_train,
        "n_labels": int(Y.shape[1]),
        "window": window,
    }
    return candidate.run(interrupt.stopped, settings)


def row_order(
    n_train: int, n: int, order: Order, seed: int | None = None
) -> NDArray[np.intp] | None:
    """Return the rows in the order in which they are passed over; None for the file's.

    The permutations are those of `boostline.data.Dataset.shuffled`.

    Examples
    --------
    >>> sorted(row_order(3, 5, "shuffled", seed=0)[:3].tolist())
    [0, 1, 2]
    """
    if order == "file":
        return None
    if order != "shuffled":
        raise ValueError(f"order is {order!r}; it must be 'file' or 'shuffled'")
    if seed is None:
        raise ValueError("seed is None; shuffled rows need one")
    random = np.random.Generator(np.random.Philox(seed))
    train = random.permutation(n_train)
    return np.concatenate((train, n_train + random.permutation(n - n_train)))


def check_count(value: int, name: str) -> None:
    """Refuse a number of examples that is no positive integer."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}; a number of examples is needed")
    if value < 1:
        raise ValueError(f"{name} is {value}; it must be at least 1")


def _cuts(n_train: int, n: int, block: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks; none has rows of both parts."""
    for first, end in ((0, n_train), (n_train, n)):
        for start in range(first, end, block):
            yield start, min(end, start + block)


def _parts(data: Any) -> tuple[Any, Any, Bools | None, int]:
    for attribute in ("X", "Y", "n_train"):
        if not hasattr(data, attribute):
            raise TypeError(f"data is a {type(data).__name__} without {attribute}")
    X, Y, n_train = data.X, data.Y, int(data.n_train)
    for name, matrix in (("X", X), ("Y", Y)):
        if len(getattr(matrix, "shape", ())) != 2:
            raise ValueError(f"data.{name} is no matrix; an array or a CSR matrix is needed")
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"data.X has {X.shape[0]} rows, but data.Y has {Y.shape[0]}")
    if not 0 <= n_train < X.shape[0]:
        raise ValueError(f"data.n_train is {n_train}; of {X.shape[0]} rows some must be for test")
    return X, Y, as_known(getattr(data, "known", None), Y.shape), n_train
