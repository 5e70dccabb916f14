"""`warm_start`: a model of a long history, which many workers read."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import numpy as np

from boostline.contract.numbers import whole_number
from boostline.contract.text_models import refuse_texts
from boostline.display.progress import ProgressLike, show_progress
from boostline.learners import Kernel
from boostline.learners.committee import Committee
from boostline.models import Booster
from boostline.scale.collecting import partial
from boostline.scale.engines import Engine, LocalEngine, run_all
from boostline.scale.finishing import finish
from boostline.scale.frames import FramePart, feature_columns, partition_size
from boostline.scale.partials import MergeTree
from boostline.scale.parts import count_rows, file_parts, read_part

__all__ = ["SAMPLE", "TAIL", "Part", "warm_start", "warm_start_frame", "warm_start_parts"]

#: Rows that fix the scale of features (and landmarks, if there are more), and rows that are learned one by one at the
#: end. Of 500 to 8,000 rows, 4,000 are the fewest with which models of held-out train rows (mediamill in three orders,
#: debdepends) are within .001 of the rank loss of models that learned row by row: docs/scale.md.
SAMPLE, TAIL = 500, 4000
#: The sample is taken from the beginnings of so many parts, which spreads it over the history.
_SAMPLED_PARTS = 16
#: Groups of parts for each worker: one that is slow, or lost, holds up the others less.
_GROUPS_PER_WORKER = 2
#: By how much of a group's size groups may differ before a part is cut.
_UNEVEN = 0.05


Model = TypeVar("Model", bound=Booster)
_LOG = logging.getLogger("boostline.scale")


class Part(Protocol):
    """Rows that a worker can read: a part of a file, or of a frame."""

    def rows(self, start: int, stop: int | None) -> Part: ...
    def blocks(self) -> Iterator[tuple[Any, Any]]: ...


def warm_start(
    model: Model,
    source: Any,
    *,
    n_jobs: int = 1,
    engine: Engine | None = None,
    sample: int | None = None,
    tail: int | None = None,
    n_groups: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Model:
    """Learn a history of many files in parallel.

    The files are taken in the order of their names as one long stream. A sample fixes the scale of the features and
    the landmarks, workers turn all other rows into statistics, and the last rows are learned one by one.

    Parameters
    ----------
    model
        A `LabelRanker`, `AdaOLMR` or `OnlineBMR` with names of labels. It does not change. If it has learned enough
        rows already to fix its landmarks, no sample is taken.
    source
        Paths or patterns of files in any format of `boostline.data.stream`, or a list of them.
    n_jobs
        Processes of this machine; -1 for all cores.
    engine
        Where to run; `boostline.dask` and `boostline.spark` have their own.
    sample
        Rows that are learned first, taken from the beginnings of up to 16 files. Default: 500, or half as many again
        as the kernel has landmarks.
    tail
        Rows at the end that are learned one by one. Default: 4,000, or a quarter of a short history.
    n_groups
        Number of groups that the files are dealt to, 0 for each file by itself; default: twice the number of workers.
        The result depends on it, and on nothing else of the workers.
    progress
        True, False, None (on a terminal) or a function of (rows done, rows in all).
    **options
        As in `boostline.data.stream`, for example ``drop=["id"]``.

    Returns
    -------
    model
        A new model of the same kind that has learned all rows.

    Raises
    ------
    boostline.data.DataError
        A file has a bad row; the message names file and row.
    """
    engine = engine or LocalEngine(n_jobs)
    refuse_texts(model, "texts are learned by one process")
    parts = file_parts(source, model, **options)
    counted = run_all(engine, count_rows, parts)
    model = copy.deepcopy(model)
    if model.features is None:
        model.features = counted[0][1]
        parts = file_parts(source, model, **options)
    sizes = [n for n, _ in counted]
    return warm_start_parts(
        model, parts, sizes, engine, sample=sample, tail=tail, n_groups=n_groups, progress=progress
    )


def warm_start_frame(
    model: Model,
    columns: Iterable[Any],
    parts: Sequence[FramePart],
    engine: Engine,
    **settings: Any,
) -> Model:
    """The same for a frame: its columns and its partitions, in an order that makes sense as a stream."""
    model = copy.deepcopy(model)
    if model.features is None:
        model.features = feature_columns(columns, model.labels)
    parts = [replace(part, features=model.features) for part in parts]
    sizes = run_all(engine, partition_size, parts)
    return warm_start_parts(model, parts, sizes, engine, **settings)


def warm_start_parts(
    model: Model,
    parts: Sequence[Part],
    sizes: Sequence[int],
    engine: Engine,
    *,
    sample: int | None = None,
    tail: int | None = None,
    n_groups: int | None = None,
    progress: ProgressLike = None,
) -> Model:
    """The same for parts of any kind, whose numbers of rows are known. `model` learns the sample."""
    total = sum(sizes)
    if total == 0:
        raise ValueError("source has no rows")
    heads, ends = plan(sizes, *sizes_of(model, total, sample, tail))
    with show_progress(progress, "history", total, "rows") as advance:
        head_rows = [part.rows(0, h) for part, h in zip(parts, heads, strict=True) if h]
        for blocks in run_all(engine, read_part, head_rows):
            _learn(model, blocks)
        advance(sum(heads))
        if n_groups is None:
            n_groups = _GROUPS_PER_WORKER * engine.n_workers
        groups = _dealt(heads, ends, n_groups)
        fields = {"rows": total, "groups": len(groups), "workers": engine.n_workers}
        _LOG.info("history of %d rows in %d groups", total, len(groups), extra={"fields": fields})
        if groups:
            items = [
                (len(groups), [parts[i].rows(start, stop) for i, start, stop in group])
                for group in groups
            ]
            merged = MergeTree(len(groups))
            for place, one in engine.each(_partial_of, items, model):
                merged.add(place, one)
                advance(sum(stop - start for _, start, stop in groups[place]))
            model = finish(model, merged.result())
        rest = [part.rows(e, None) for part, e, n in zip(parts, ends, sizes, strict=True) if n > e]
        for blocks in run_all(engine, read_part, rest):
            _learn(model, blocks)
        advance(total - advance.done)
    return model


def plan(sizes: Sequence[int], n_sample: int, n_tail: int) -> tuple[list[int], list[int]]:
    """For each part, where its sample ends and where its tail begins.

    Examples
    --------
    >>> plan([100, 100, 100], n_sample=30, n_tail=120)
    ([10, 10, 10], [100, 70, 10])
    """
    n = len(sizes)
    chosen = sorted({i * n // min(n, _SAMPLED_PARTS) for i in range(min(n, _SAMPLED_PARTS))})
    heads, left = [0] * n, n_sample
    for rank, i in enumerate(chosen):
        heads[i] = min(sizes[i], -(-left // (len(chosen) - rank)))
        left -= heads[i]
    for i in range(n):  # where some parts are too small, others give more
        more = min(left, sizes[i] - heads[i])
        heads[i] += more
        left -= more
    ends, left = list(sizes), n_tail
    for i in reversed(range(n)):
        taken = min(left, sizes[i] - heads[i])
        ends[i] -= taken
        left -= taken
    return heads, ends


def sizes_of(model: Booster, total: int, sample: int | None, tail: int | None) -> tuple[int, int]:
    """Rows of the sample and of the tail, of so many in all."""
    n_tail = min(TAIL, total // 4) if tail is None else whole_number(tail, "tail", 0)
    return _sample_size(model) if sample is None else whole_number(sample, "sample", 0), n_tail


def _sample_size(model: Booster) -> int:
    """So many rows that the landmarks are complete, although rows without a label are no landmarks."""
    learned = model.clock
    if model._resolved is None and model.features is not None:
        # Who takes part depends on the number of features.
        model = copy.deepcopy(model)
        model.learn(np.zeros((1, len(model.features or ()))), np.zeros((1, model.n_labels), bool))
    chosen = model._learners if model._resolved is None else model._resolved
    members = [m for d in chosen for m in (d.members if isinstance(d, Committee) else [d])]
    landmarks = max((m.n_landmarks for m in members if isinstance(m, Kernel)), default=0)
    return max(0, max(SAMPLE, landmarks + landmarks // 2) - learned)


def _dealt(
    starts: Sequence[int], stops: Sequence[int], n_groups: int
) -> list[list[tuple[int, int, int]]]:
    """Neighbouring rows together, in groups of about the same size; 0: each part by itself.

    A group is a list of (part, first row, row after the last). A part is cut only if groups would differ much without.

    Examples
    --------
    >>> _dealt([0, 0, 0], [100, 100, 100], 2)
    [[(0, 0, 100), (1, 0, 50)], [(1, 50, 100), (2, 0, 100)]]
    >>> _dealt([0, 0, 0], [100, 102, 100], 3)
    [[(0, 0, 100)], [(1, 0, 102)], [(2, 0, 100)]]
    """
    pieces = [(i, a, b) for i, (a, b) in enumerate(zip(starts, stops, strict=True)) if b > a]
    if n_groups == 0:
        return [[piece] for piece in pieces]
    total = sum(b - a for _, a, b in pieces)
    close = _UNEVEN * total / n_groups
    groups: list[list[tuple[int, int, int]]] = [[] for _ in range(n_groups)]
    group, done = 0, 0
    for i, first, stop in pieces:
        start = first
        while start < stop:
            wanted = total * (group + 1) // n_groups - done  # so many more for this group
            n = stop - start if stop - start <= wanted + close else wanted
            if n:
                groups[group].append((i, start, start + n))
            start, done = start + n, done + n
            group += n >= wanted - close and group + 1 < n_groups
    return [one for one in groups if one]


def _partial_of(model: Booster, item: tuple[int, Sequence[Part]]) -> Any:
    n_parts, parts = item
    return partial(model, (block for part in parts for block in part.blocks()), n_parts=n_parts)


def _learn(model: Booster, blocks: Sequence[tuple[Any, Any]]) -> None:
    for X, Y in blocks:
        model.learn(X, Y, return_scores=False)
