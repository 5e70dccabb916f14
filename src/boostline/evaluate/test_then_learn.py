"""Test-then-learn on a stream, with labels that arrive late, for several models on one pass."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from boostline.contract.frames import take_rows
from boostline.contract.label_sets import LabelSets
from boostline.contract.numbers import whole_number
from boostline.display.progress import Advance, ProgressLike, show_progress
from boostline.evaluate.callers import caller_for
from boostline.evaluate.delays import DelayLike, Delays
from boostline.evaluate.judged_models import (
    STANDARD,
    Candidate,
    MetricLike,
    make_metrics,
    named_models,
)
from boostline.evaluate.long_jobs import Interrupt
from boostline.evaluate.reports import Report
from boostline.evaluate.runs import Run
from boostline.evaluate.streams import (
    Item,
    Labels,
    length_of,
    own,
    read_items,
    split,
    stack_examples,
)


@dataclass(frozen=True)
class Prequential(Report):
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
        Largest number of label sets that had not arrived yet at any time.
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

    @property
    def note(self) -> str:  # type: ignore[override]
        """What there is to know of the table."""
        note = f"{self.n_without_pairs:,} of {self.n:,} rows have no relevant label, or only relevant ones."
        if self.stopped:
            note += f" Stopped early: {self.n_pending:,} label sets had not arrived."
        return note

    def _lines(self) -> Iterator[tuple[dict[str, str], list[Run]]]:
        for name, run in self.runs.items():
            yield {"model": name}, [run]

    def to_dict(self, curves: bool = True) -> dict[str, Any]:
        """Return the result as values for JSON."""
        return {
            "n": self.n,
            "n_without_pairs": self.n_without_pairs,
            "n_pending": self.n_pending,
            "max_pending": self.max_pending,
            "stopped": self.stopped,
            "models": {name: run.to_dict(curves) for name, run in self.runs.items()},
        }


def prequential(
    models: Any,
    stream: Any,
    metrics: MetricLike | Iterable[MetricLike] = STANDARD,
    *,
    delay: DelayLike = 0,
    window: int = 1000,
    block: int = 256,
    progress: ProgressLike = None,
) -> Prequential:
    """Predict each example of a stream, and learn it once its labels have arrived.

    Parameters
    ----------
    models
        A model, or a dict name -> model; all see the same examples in one pass. A model has
        `score(x)` and `learn(x, relevant)`, which returns the scores before learning; or it is a
        multi-label model or pipeline of River with `score_one` or `predict_proba_one`.
    stream
        Iterable of `(x, relevant)`, of blocks `(X, Y)`, or of dicts with the keys "x", "relevant"
        and optionally "unknown"; or a data set with `X` and `Y`. Rows and labels may have any form
        that `learn` takes; for River's models x may be a dict.
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
        Examples that are worked on together. It changes the speed, never the result. With 1, each
        example is learned before the next is taken from the stream. Models that do not promise by
        `blocks_are_rows = True` that a block is learned exactly as the loop of its rows are called
        with one example at a time.
    progress
        True, False, None (on a terminal) or a function of (examples done, in all or None).

    Returns
    -------
    Prequential
        With `.runs`, `.table()`, `.to_dict()`, `.plot(path)`; the metrics of models that give
        probabilities have their log loss and ECE as well. After Ctrl-C: what there is, with
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
    whole_number(window, "window", 1)
    whole_number(block, "block", 1)
    named = named_models(models)
    settings = make_metrics(metrics)
    callers = [caller_for(name, model) for name, model in named.items()]
    candidates = [Candidate(caller, settings, window, block) for caller in callers]
    delays = Delays(delay)
    interrupt = Interrupt()
    what = " and ".join(named) if len(named) < 3 else f"{len(named)} models"
    with show_progress(progress, what, length_of(stream), "examples") as advance, interrupt:
        items = interrupt.items(read_items(stream, delays.field, block, callers))
        player: _AtOnce | _Delayed
        if delays.none:
            player = _AtOnce(candidates, block, advance)
        else:
            player = _Delayed(candidates, block, advance, delays)
        labels = None
        for item in items:
            if labels is None:
                labels = Labels(callers, item.x)
            player.take(item, labels)
        player.finish(interrupt)
    described = {
        "protocol": "prequential",
        "delay": repr(delays),
        "window": window,
        "n_labels": None if labels is None else labels.n_labels,
    }
    runs = {
        c.name: c.run(interrupt.stopped, described, None if labels is None else labels.names)
        for c in candidates
    }
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
    sets: LabelSets


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

    def take(self, item: Item, labels: Labels) -> None:
        sets = labels.read(item, self._n)
        self._n += item.n
        if not item.is_block:
            self._waiting.append(_Row(own(item.x), sets.owned()))
            if len(self._waiting) >= self._block:
                self._learn_waiting()
            return
        self._learn_waiting()
        for start in range(0, item.n, self._block):
            part = slice(start, start + self._block)
            self._learn(take_rows(item.x, part), sets.take(part).owned())

    def finish(self, interrupt: Interrupt) -> None:
        self._learn_waiting()

    def _learn_waiting(self) -> None:
        rows, self._waiting = self._waiting, []
        for X, sets in _together(rows):
            self._learn(X, sets)

    def _learn(self, X: Any, sets: LabelSets) -> None:
        for candidate in self._candidates:
            candidate.record(sets, candidate.learn(X, sets))
        self._advance(sets.n)


class _Delayed:
    """Labels on their way wait in a heap, ordered by arrival and then by example.

    Predictions between two arrivals see the same model, so they are made together; labels that
    arrive at one moment are learned together.
    """

    def __init__(
        self, candidates: list[Candidate], block: int, advance: Advance, delays: Delays
    ) -> None:
        self._candidates = candidates
        self._block = block
        self._advance = advance
        self._delays = delays
        self._unscored: list[_Row] = []
        self._heap: list[tuple[int, int, _Row]] = []
        self._n = 0
        self.max_pending = 0

    @property
    def n_pending(self) -> int:
        return len(self._heap)

    def take(self, item: Item, labels: Labels) -> None:
        sets = labels.read(item, self._n)
        if not item.is_block:
            self._take_row(_Row(own(item.x), sets.owned()), item.delay)
            return
        for i, (x, delay) in enumerate(split(item)):
            self._take_row(_Row(own(x), sets.take(slice(i, i + 1)).owned()), delay)

    def _take_row(self, row: _Row, carried: Any) -> None:
        now = self._n
        arrival = now + self._delays.of(now, carried)
        self._n += 1
        self._unscored.append(row)
        heapq.heappush(self._heap, (arrival, now, row))
        self.max_pending = max(self.max_pending, len(self._heap))
        arrived = self._heap[0][0] <= now
        if arrived or len(self._unscored) >= self._block:
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
        rows, self._unscored = self._unscored, []
        for X, sets in _together(rows):
            for candidate in self._candidates:
                candidate.record(sets, candidate.caller.score(X, sets))
            self._advance(sets.n)

    def _learn(self, rows: list[_Row]) -> None:
        for start in range(0, len(rows), self._block):
            for X, sets in _together(rows[start : start + self._block]):
                for candidate in self._candidates:
                    candidate.learn(X, sets, is_judged=False)


def _together(rows: Sequence[_Row]) -> Iterator[tuple[Any, LabelSets]]:
    """Make blocks of single examples: one, unless labels were added between them."""
    for _, group in itertools.groupby(rows, key=lambda row: row.sets.n_labels):
        some = list(group)
        sets = LabelSets.concat([row.sets for row in some])
        yield stack_examples([row.x for row in some]), sets
