"""`warm_start`: a model of a long history, which many workers read."""

from __future__ import annotations

import copy
import itertools
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from boostline.contract.numbers import whole_number
from boostline.display.progress import ProgressLike, show_progress
from boostline.learners import Kernel
from boostline.scale.engines import Engine, LocalEngine, advancing
from boostline.scale.merging import finish, merge, partial
from boostline.scale.parts import (
    FilePart,
    FramePart,
    describe,
    feature_columns,
    read_part,
    source_parts,
)

__all__ = ["SAMPLE", "TAIL", "warm_start"]

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


Model = TypeVar("Model")
_LOG = logging.getLogger("boostline.scale")


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
        A `LabelRanker`, `AdaOLMR` or `OnlineBMR` with names of labels, or a `TextRanker`. It does not change. If it has
        learned enough rows already to fix its landmarks, no sample is taken.
    source
        Paths or patterns of files in any format of `boostline.data.stream`, or a list of them; or a frame of pandas,
        Dask or Spark: its columns that are named as labels are the labels, the others the features. Its partitions
        must have an order that makes sense as a stream.
    n_jobs
        Processes of this machine; -1 for all cores.
    engine
        Where to run: `boostline.scale.engines.dask.DaskEngine`, `boostline.scale.engines.spark.SparkEngine`.
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
        As in `boostline.data.stream`, for example ``drop=["id"]``. For a `TextRanker` ``text``, the column with the
        text, ``labels``, the column of the tags (or several), and ``separator`` of tags in one text.

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
    is_frame = hasattr(source, "columns")
    if is_frame and n_groups is None:
        n_groups = _GROUPS_PER_WORKER * engine.n_workers
    engine, parts = source_parts(source, model, engine, n_groups, **options)
    model = copy.deepcopy(model)
    parts, sizes = _described(model, parts, engine, source.columns if is_frame else None)
    total = sum(sizes)
    if total == 0:
        raise ValueError("source has no rows")
    heads, ends = plan(sizes, *sizes_of(model, total, sample, tail))
    with show_progress(progress, "history", total, "rows") as advance:
        head_rows = [part.rows(0, h) for part, h in zip(parts, heads, strict=True) if h]
        for blocks in engine.map(read_part, head_rows):
            _learn(model, blocks)
        advance(sum(heads))
        if n_groups is None:
            n_groups = _GROUPS_PER_WORKER * engine.n_workers
        groups = _dealt(heads, ends, 0 if engine.keeps_partitions else n_groups)
        fields = {"rows": total, "groups": len(groups), "workers": engine.n_workers}
        _LOG.info("history of %d rows in %d groups", total, len(groups), extra={"fields": fields})
        if groups:
            items = [
                (len(groups), [parts[i].rows(start, stop) for i, start, stop in group])
                for group in groups
            ]
            rows = (sum(stop - start for _, start, stop in group) for group in groups)
            made = engine.map(_partial_of, items, model)
            model = finish(model, merge(advancing(made, advance, rows)))
        rest = [part.rows(e, None) for part, e, n in zip(parts, ends, sizes, strict=True) if n > e]
        for blocks in engine.map(read_part, rest):
            _learn(model, blocks)
        advance(total - advance.done)
    return model


def _described(
    model: Any, parts: list[Any], engine: Engine, columns: Iterable[Any] | None
) -> tuple[list[Any], list[int]]:
    """The parts with the features of all of them, in the model's order, and their numbers of rows."""
    # Rows that say their features are all read for it, which is work for the workers.
    is_work = not all(getattr(part, "says_its_features", True) for part in parts)
    counted = list(engine.map(describe, parts, is_work or None))
    if model.takes_texts:
        known = set(model.labels)
        tags = dict.fromkeys(itertools.chain(*(own for _, own in counted)))
        model.add_labels([tag for tag in tags if tag not in known])
        return parts, [n for n, _ in counted]
    if model.features is None:
        if columns is not None:
            named = [feature_columns(columns, model.labels)]
        else:
            named = [own for _, own in counted]
        if is_work:  # a file need not have all features
            named = [list(dict.fromkeys(itertools.chain(*named)))]
        model.features = named[0]
    parts = [replace(part, features=model.features) for part in parts]
    return parts, [n for n, _ in counted]


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


def sizes_of(model: Any, total: int, sample: int | None, tail: int | None) -> tuple[int, int]:
    """Rows of the sample and of the tail, of so many in all."""
    n_tail = min(TAIL, total // 4) if tail is None else whole_number(tail, "tail", 0)
    return _sample_size(model) if sample is None else whole_number(sample, "sample", 0), n_tail


def _sample_size(model: Any) -> int:
    """So many rows that the landmarks are complete, although rows without a label are no landmarks."""
    n = model.text_features.n_features if model.takes_texts else len(model.features or ())
    members = [m.description for m in model.booster.members(n)]
    landmarks: int = max((m.n_landmarks for m in members if isinstance(m, Kernel)), default=0)
    return max(0, max(SAMPLE, landmarks + landmarks // 2) - int(model.clock))


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


def _partial_of(model: Any, item: tuple[int, Sequence[FilePart | FramePart]]) -> Any:
    n_parts, parts = item
    return partial(model, (block for part in parts for block in part.blocks()), n_parts=n_parts)


def _learn(model: Any, blocks: Sequence[tuple[Any, Any]]) -> None:
    for X, Y in blocks:
        model.learn(X, Y, return_scores=False)
