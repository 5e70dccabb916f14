"""Test-then-learn on a stream, with labels that arrive late, for several models on one pass."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from ..metrics._inputs import Bools, Floats
from ._attend import Advance, Interrupt, ProgressLike, show_progress
from ._delay import DelayLike, Delays
from ._model import Candidate, MetricLike, make_metrics, named_models, stack_examples
from ._run import Run, runs_table
from ._stream import Item, LabelSpace, length_of, own, read_items, split
from ._train_then_test import check_count

#: Called after each prediction with the example's number, its indicators and each model's scores.
Callback = Callable[[int, Bools, dict[str, Floats]], object]


@dataclass(frozen=True)
class Prequential:
    """The result of `prequential`: one `Run` per model, on the same examples.

    Attributes
    ----------
    runs
        Name of a model -> its `Run`; `result["name"]` is short for `result.runs["name"]`.
    n
        Examples predicted.
    n_pending
        Label sets that had not arrived when the pass was stopped; 0 if it went to its end.
    max_pending
        Most label sets that were on their way at any moment.
    stopped
        Whether Ctrl-C ended the pass.
    """

    runs: dict[str, Run]
    n: int
    n_pending: int
    max_pending: int
    stopped: bool

    def __getitem__(self, name: str) -> Run:
        return self.runs[name]

    @property
    def n_without_pairs(self) -> int:
        """Examples with nothing to rank; they count in the means."""
        return next(iter(self.runs.values())).n_without_pairs

    @property
    def window(self) -> int:
        """Examples in the window of the curves."""
        return int(next(iter(self.runs.values())).settings["window"])

    def table(self) -> str:
        """Return a text table, one line per model."""
        notes = [f"{self.n_without_pairs} of {self.n} examples have nothing to rank"]
        if self.stopped:
            notes.append(f"stopped early, {self.n_pending} label sets had not arrived")
        return runs_table(self.runs) + "\n" + "; ".join(notes)

    def to_dict(self, curves: bool = True) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "n": self.n,
            "n_without_pairs": self.n_without_pairs,
            "n_pending": self.n_pending,
            "max_pending": self.max_pending,
            "stopped": self.stopped,
            "models": {name: run.to_dict(curves) for name, run in self.runs.items()},
        }

    def plot(self, path: str | PathLike[str], title: str | None = None) -> None:
        """Draw all models' curves into a file (PNG, SVG or PDF by its ending)."""
        from ._plot import plot_runs

        plot_runs(self.runs, path, title)


def prequential(
    models: Any,
    stream: Any,
    metrics: MetricLike | Iterable[MetricLike] = ("rank_loss",),
    *,
    delay: DelayLike = 0,
    window: int = 1000,
    block: int = 256,
    progress: ProgressLike = None,
    callback: Callback | None = None,
) -> Prequential:
    """Predict each example of a stream, and learn it once its labels have arrived.

    Parameters
    ----------
    models
        A model, or a dict name -> model; all see the same examples in one pass. A model has
        `score(x)` and `learn(x, relevant)`, which returns the scores before learning.
    stream
        Iterable of `(x, relevant)`, of blocks `(X, Y)`, or of dicts with the keys "x", "relevant"
        and optionally "known" (mask of the known labels); or a data set with `X` and `Y`.
    metrics
        Names or metrics; the rank loss is always among them.
    delay
        After how many further examples the labels of an example arrive. With 0 they are learned
        before the next prediction; with d, after d more predictions. One number, one per example
        (array or iterable), a function of the example's number, or the name of the item that
        carries it: `"t_delay"` reads `item["t_delay"]`, or the third of `(x, relevant, t_delay)`.
        Labels that arrive together are learned in the order of their examples; those still on
        their way at the end of the stream are learned then.
    window
        Examples in the window of the curves.
    block
        At most so many examples are handed over in one call where that cannot change the result.
        With 1, each example is learned before the next is taken from the stream, and the model
        is only ever called with single examples.
    progress
        True, False, None (on a terminal) or a function of (examples done, in all or None).
    callback
        Called after each prediction with (number, indicators, {name: scores}).

    Returns
    -------
    Prequential
        With `.runs`, `.table()`, `.to_dict()`, `.plot(path)`. After Ctrl-C: what there is, with
        `.stopped` set and `.n_pending` label sets not learned.

    Examples
    --------
    >>> from boostline.evaluate.baselines import DecayedCounts
    >>> stream = [([0.0], {i // 50}) for i in range(150)]
    >>> prequential(DecayedCounts(3), stream)["DecayedCounts"].rank_loss
    0.015
    >>> prequential(DecayedCounts(3), stream, delay=10)["DecayedCounts"].rank_loss
    0.165
    """
    check_count(window, "window")
    check_count(block, "block")
    named = named_models(models)
    settings = make_metrics(metrics)
    candidates = [Candidate(name, model, settings, window, block) for name, model in named.items()]
    delays = Delays(delay)
    interrupt = Interrupt()
    what = " and ".join(named) if len(named) < 3 else f"{len(named)} models"
    with show_progress(progress, what, length_of(stream)) as advance, interrupt:
        items = interrupt.items(read_items(stream, delays.field, block))
        player: _AtOnce | _Delayed
        if delays.none and callback is None:
            player = _AtOnce(candidates, block, advance)
        else:
            player = _Delayed(candidates, block, advance, delays, callback)
        space = None
        for item in items:
            if space is None:
                space = LabelSpace(named, item.x)
            player.take(item, space)
        player.finish(interrupt)
    described = {
        "protocol": "prequential",
        "delay": repr(delays),
        "window": window,
        "n_labels": None if space is None else space.n_labels,
    }
    runs = {c.name: c.run(interrupt.stopped, described) for c in candidates}
    return Prequential(
        runs=runs,
        n=max(run.n for run in runs.values()),
        n_pending=player.n_pending,
        max_pending=player.max_pending,
        stopped=interrupt.stopped,
    )


@dataclass(slots=True)
class _Row:
    """A single example with its labels."""

    x: Any
    y: Bools
    known: Bools | None


class _AtOnce:
    """No delay: `learn` on blocks, whose return are the predictions."""

    n_pending = 0
    max_pending = 0

    def __init__(self, candidates: list[Candidate], block: int, advance: Advance) -> None:
        self._candidates = candidates
        self._block = block
        self._advance = advance
        self._waiting: list[_Row] = []
        self._n = 0

    def take(self, item: Item, space: LabelSpace) -> None:
        if not item.is_block:
            y, known = space.row(item, self._n)
            self._n += 1
            self._waiting.append(_Row(own(item.x), y, known))
            if len(self._waiting) >= self._block:
                self._learn_waiting()
            return
        self._learn_waiting()
        Y, mask = space.rows(item)
        self._n += item.n
        for start in range(0, item.n, self._block):
            part = slice(start, start + self._block)
            self._learn(item.x[part], np.array(Y[part]), None if mask is None else mask[part])

    def finish(self, interrupt: Interrupt) -> None:
        self._learn_waiting()

    def _learn_waiting(self) -> None:
        if self._waiting:
            rows, self._waiting = self._waiting, []
            self._learn(*_together(rows))

    def _learn(self, X: Any, Y: Bools, known: Bools | None) -> None:
        for candidate in self._candidates:
            candidate.record(Y, candidate.learn(X, Y, known), known)
        self._advance(len(Y))


class _Delayed:
    """Labels on their way wait in a heap, ordered by arrival and then by example.

    Predictions between two arrivals see the same model, so they are made together; labels that
    arrive at one moment are learned together.
    """

    def __init__(
        self,
        candidates: list[Candidate],
        block: int,
        advance: Advance,
        delays: Delays,
        callback: Callback | None,
    ) -> None:
        self._candidates = candidates
        self._block = block
        self._advance = advance
        self._delays = delays
        self._callback = callback
        self._unscored: list[_Row] = []
        self._heap: list[tuple[int, int, _Row]] = []
        self._n = 0
        self.max_pending = 0

    @property
    def n_pending(self) -> int:
        return len(self._heap)

    def take(self, item: Item, space: LabelSpace) -> None:
        if not item.is_block:
            y, known = space.row(item, self._n)
            self._take_row(_Row(own(item.x), y, known), item.delay)
            return
        Y, mask = space.rows(item)
        for i, (x, delay) in enumerate(split(item)):
            known = None if mask is None else mask[i].copy()
            self._take_row(_Row(own(x), Y[i].copy(), known), delay)

    def _take_row(self, row: _Row, carried: Any) -> None:
        now = self._n
        arrival = now + self._delays.of(now, carried)
        self._n += 1
        self._unscored.append(row)
        heapq.heappush(self._heap, (arrival, now, row))
        self.max_pending = max(self.max_pending, len(self._heap))
        arrived = self._heap[0][0] <= now
        if arrived or self._callback is not None or len(self._unscored) >= self._block:
            self._score()
        if arrived:
            due = []
            while self._heap and self._heap[0][0] <= now:
                due.append(heapq.heappop(self._heap)[2])
            self._learn(due)

    def finish(self, interrupt: Interrupt) -> None:
        self._score()
        while self._heap and not interrupt.stopped:
            count = min(self._block, len(self._heap))
            self._learn([heapq.heappop(self._heap)[2] for _ in range(count)])

    def _score(self) -> None:
        if not self._unscored:
            return
        rows, self._unscored = self._unscored, []
        X, Y, known = _together(rows)
        scores = {}
        for candidate in self._candidates:
            scores[candidate.name] = candidate.score(X, Y)
            candidate.record(Y, scores[candidate.name], known)
        self._advance(len(Y))
        if self._callback is not None:  # then there is one row at a time
            last = {name: one[-1] for name, one in scores.items()}
            self._callback(self._n - 1, Y[-1], last)

    def _learn(self, rows: list[_Row]) -> None:
        for start in range(0, len(rows), self._block):
            X, Y, known = _together(rows[start : start + self._block])
            for candidate in self._candidates:
                candidate.learn(X, Y, known)


def _together(rows: Sequence[_Row]) -> tuple[Any, Bools, Bools | None]:
    """Make one block of single examples."""
    Y = np.stack([row.y for row in rows])
    known = None
    if any(row.known is not None for row in rows):
        known = np.stack([np.ones_like(row.y) if row.known is None else row.known for row in rows])
    return stack_examples([row.x for row in rows]), Y, known
