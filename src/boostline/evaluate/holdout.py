"""The paper's protocol (Section 4): one pass over train, then test, predicting before learning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boostline.contract.frames import take_rows
from boostline.contract.numbers import whole_number
from boostline.display.progress import ProgressLike, show_progress
from boostline.evaluate.callers import caller_for
from boostline.evaluate.judged_models import (
    STANDARD,
    Candidate,
    MetricLike,
    make_metrics,
    named_models,
)
from boostline.evaluate.long_jobs import Interrupt
from boostline.evaluate.runs import Run
from boostline.evaluate.streams import Item, Labels, NamedData

Order = Literal["file", "shuffled"]


def train_then_test(
    model: Any,
    data: Any,
    order: Order = "file",
    seed: int | None = None,
    metrics: MetricLike | Iterable[MetricLike] = STANDARD,
    *,
    block: int = 256,
    window: int | None = None,
    progress: ProgressLike = None,
    freeze: bool = False,
    name: str | None = None,
) -> Run:
    """Pass once over the train rows and then over the test rows, and score the test rows.

    Each row is ranked before it is learned. The model keeps learning on the test rows unless `freeze`
    is set. The metrics are means over the test rows.

    Parameters
    ----------
    model
        Has `learn(x, relevant)`, which returns the scores before learning, and `score(x)`; or is a
        multi-label model or pipeline of River. It is changed: afterwards it has learned the data.
    data
        Has `X` (array, frame or CSR matrix), `Y` (indicators: array, frame or CSR; NaN: unknown)
        and `n_train`; the rows from `n_train` on are the test rows. An optional `unknown` holds
        further labels that are not known. If both the model and the data have names for labels or
        features, these are matched.
    order
        "file": as they are. "shuffled": permuted within train and within test.
    seed
        Seed of the shuffling. None draws one; the result has it.
    metrics
        Names or metrics; the rank loss is always among them.
    block
        Rows that are worked on together. It affects the speed, not the result.
    window
        Rows in the window of the curves; None takes a tenth of the test rows.
    progress
        True, False, None (on a terminal) or a function of (rows done, rows in all).
    freeze
        Do not learn the test rows.
    name
        Name of the model in tables; default: its class.

    Returns
    -------
    Run
        With `.rank_loss`, `.metrics` (with the log loss and ECE of models that give probabilities), `.curve`,
        `.n_without_pairs` and `.seconds` (`.cpu` and
        `.wall`, of the model's calls in train and test). After Ctrl-C: the results so far, with
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
    block = whole_number(block, "block", 1)
    [(given, checked)] = named_models(model if name is None else {name: model}).items()
    caller = caller_for(given, checked)
    parts = NamedData(data, "data", [caller])
    if not hasattr(data, "n_train"):
        raise TypeError(f"data is a {type(data).__name__} without n_train")
    n, n_train = parts.n, int(data.n_train)
    if not 0 <= n_train < n:
        raise ValueError(
            f"data.n_train is {n_train}, but must be below {n}, so that rows are left for testing"
        )
    if window is None:
        window = max(1, (n - n_train) // 10)
    candidate = Candidate(caller, make_metrics(metrics), whole_number(window, "window", 1), block)
    if order == "shuffled" and seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    rows = row_order(n_train, n, order, seed)
    labels = Labels([caller], take_rows(parts.X, slice(0, 1)))
    sets = labels.read(Item(None, parts.Y, parts.unknown, None, n, True), 0, "data.Y")
    interrupt = Interrupt()
    with show_progress(progress, given, n, "examples") as advance, interrupt:
        for start, stop in interrupt.items(_cuts(n_train, n, block)):
            part = slice(start, stop) if rows is None else rows[start:stop]
            X, some = take_rows(parts.X, part), sets.take(part)
            if start >= n_train and freeze:
                candidate.record(some, caller.score(X, some))
            else:
                predicted = candidate.learn(X, some, is_judged=start >= n_train)
                if start >= n_train:
                    candidate.record(some, predicted)
            advance(stop - start)
    settings = {
        "protocol": "train_then_test",
        "data": getattr(data, "name", None),
        "order": order,
        "seed": None if order == "file" else seed,
        "freeze": freeze,
        "n_train": n_train,
        "n_test": n - n_train,
        "n_labels": labels.n_labels,
        "window": window,
    }
    return candidate.run(interrupt.stopped, settings, labels.names)


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
        raise ValueError(f"order is {order!r}, but must be 'file' or 'shuffled'")
    if seed is None:
        raise ValueError("seed is None, but must be a number for shuffled rows")
    random = np.random.Generator(np.random.Philox(seed))
    train = random.permutation(n_train)
    return np.concatenate((train, n_train + random.permutation(n - n_train)))


def _cuts(n_train: int, n: int, block: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks; none has rows of both parts."""
    for first, end in ((0, n_train), (n_train, n)):
        for start in range(first, end, block):
            yield start, min(end, start + block)
