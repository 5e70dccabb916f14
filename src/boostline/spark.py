"""boostline on a Spark cluster: learn a long history, score and rank many rows.

Everything runs through ``mapInArrow`` and ``mapInPandas``. Executors need boostline, pandas and pyarrow installed, and
files must be readable under the same path everywhere. Spark repeats the tasks of an executor that dies.
"""

from __future__ import annotations

import copy
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from boostline.boosters.label_ranker import LabelRanker
from boostline.data.errors import need
from boostline.display.progress import ProgressLike
from boostline.metrics import Metric
from boostline.scale import batch, history
from boostline.scale.engines import Failed, Task, WorkerError, attempt
from boostline.scale.frames import FramePart

__all__ = ["SparkEngine", "WorkerError", "evaluate", "rank_files", "score", "warm_start"]

_RESULT = "place long, result binary"


class SparkEngine:
    """Runs tasks on the executors of a Spark session.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`, or None for the one in use.
    """

    def __init__(self, session: Any = None) -> None:
        sql = need("pyspark.sql", "boostline.spark", "spark")
        self.session = sql.SparkSession.getActiveSession() if session is None else session
        if self.session is None:
            raise ValueError("session is None, but no Spark session is in use")

    @property
    def n_workers(self) -> int:
        """Cores of all executors."""
        return max(1, int(self.session.sparkContext.defaultParallelism))

    def map(
        self, task: Task, items: Sequence[Any], shared: Any = None, *, done: Callable[[int], None]
    ) -> list[Any]:
        if not items:
            return []
        # One row, and so one task, for each item.
        places = self.session.range(0, len(items), 1, len(items))
        given = _Given(self.session, (task, shared, list(items)))
        found = self._run(places.mapInArrow(_Places(given), _RESULT))
        for place in range(len(items)):
            done(place)
        return [found[place] for place in range(len(items))]

    def per_partition(self, frame: Any, task: Task, shared: Any = None) -> dict[int, Any]:
        """Run ``task(shared, (place, frames))`` for each partition of a frame: its number, and its rows in pieces."""
        given = _Given(self.session, (task, shared))
        return self._run(frame.mapInPandas(_Partition(given), _RESULT))

    def _run(self, frame: Any) -> dict[int, Any]:
        errors = need("pyspark.errors", "boostline.spark", "spark")
        try:
            rows = frame.collect()
        except (errors.PySparkException, OSError) as error:
            raise WorkerError(f"the Spark job failed: {error}") from error
        found = {int(row["place"]): pickle.loads(bytes(row["result"])) for row in rows}
        for place in sorted(found):
            if isinstance(found[place], Failed):
                raise found[place].error
        return found


# Of a worker process: what it opened last, which serves all of its tasks.
_last: list[Any] = [None, None]


class _Given:
    """What all executors have: sent to each once, and read once by each of its worker processes."""

    def __init__(self, session: Any, content: Any) -> None:
        self._token = uuid.uuid4().hex
        self._broadcast = session.sparkContext.broadcast(pickle.dumps(content, protocol=5))

    def open(self) -> Any:
        if _last[0] != self._token:
            _last[:] = [self._token, pickle.loads(self._broadcast.value)]
        return _last[1]


@dataclass(frozen=True)
class _Places:
    """For ``mapInArrow``: the task of each place."""

    given: _Given

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        task, shared, items = self.given.open()
        for some in batches:
            for place in some.column(0).to_pylist():
                result = pickle.dumps(attempt(task, shared, items[place]), protocol=5)
                yield pa.record_batch(
                    [pa.array([place], pa.int64()), pa.array([result], pa.binary())],
                    names=["place", "result"],
                )


@dataclass(frozen=True)
class _Partition:
    """For ``mapInPandas``: the task of a whole partition."""

    given: _Given

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        import pandas as pd
        from pyspark import TaskContext

        task, shared = self.given.open()
        context = TaskContext.get()
        place = 0 if context is None else context.partitionId()
        result = pickle.dumps(attempt(task, shared, (place, frames)), protocol=5)
        for _ in frames:  # what the task did not read
            pass
        yield pd.DataFrame({"place": [place], "result": [result]})


@dataclass(frozen=True)
class SparkPart(FramePart):
    """A partition of a Spark frame, whose rows come in pieces."""

    def blocks(self, before: int = 0) -> Iterator[tuple[Any, Any]]:
        first = 0
        for frame in self.source:
            last = first + len(frame)
            stop = last if self.stop is None else min(last, self.stop)
            if first < stop and self.start < stop:
                rows = frame.iloc[max(self.start - first, 0) : stop - first]
                part = FramePart(rows, self.place, self.features, self.labels)
                yield from part.blocks(before + max(self.start, first))
            first = last


@dataclass(frozen=True)
class _Rows:
    """Which columns and which rows of each partition a task is about: (start, stop) by partition."""

    features: list[Any] | None
    labels: list[Any]
    spans: dict[int, tuple[int, int | None]] | None = None

    def part(self, partition: tuple[int, Iterable[Any]]) -> SparkPart:
        place, frames = partition
        start, stop = (0, None) if self.spans is None else self.spans.get(place, (0, 0))
        return SparkPart(frames, place, self.features, self.labels, start, stop)


def _count(_: Any, partition: tuple[int, Iterable[Any]]) -> int:
    return sum(len(frame) for frame in partition[1])


def _read(rows: _Rows, partition: tuple[int, Iterable[Any]]) -> list[tuple[Any, Any]]:
    return list(rows.part(partition).blocks())


def _collect(shared: tuple[LabelRanker, _Rows], partition: tuple[int, Iterable[Any]]) -> Any:
    from boostline.scale.collecting import partial

    model, rows = shared
    return partial(model, rows.part(partition).blocks())


def _judge(shared: tuple[Any, _Rows, Any], partition: tuple[int, Iterable[Any]]) -> Any:
    model, rows, metrics = shared
    return batch.judge(model, (rows.part(partition), metrics))


def warm_start(
    model: LabelRanker,
    source: Any,
    *,
    session: Any = None,
    sample: int | None = None,
    tail: int | None = None,
    n_groups: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> LabelRanker:
    """Learn a history on a Spark cluster; see `boostline.scale.warm_start`.

    Parameters
    ----------
    model
        A `LabelRanker` with names of labels.
    source
        Paths or patterns of files, or a Spark frame: its columns that are named as labels are the labels, the others
        the features. Sort it by time, if it has one. It is read several times and must be the same each time: cache
        it if it is computed.
    session
        A `SparkSession`; None for the one in use.
    sample, tail, n_groups, progress, **options
        As in `boostline.scale.warm_start`; a frame with more partitions is brought to `n_groups`.
    """
    engine = SparkEngine(session)
    if not _is_frame(source):
        return history.warm_start(
            model,
            source,
            engine=engine,
            sample=sample,
            tail=tail,
            n_groups=n_groups,
            progress=progress,
            **options,
        )
    from boostline.scale.finishing import finish
    from boostline.scale.partials import merge

    model = copy.deepcopy(model)
    rows = _columns(source, model)
    model.features = rows.features
    frame = source.coalesce(n_groups or 2 * engine.n_workers)
    counted = engine.per_partition(frame, _count)
    sizes = [counted.get(i, 0) for i in range(max(counted, default=-1) + 1)]
    heads, ends = history.plan(sizes, *history.sizes_of(model, sum(sizes), sample, tail))
    first: dict[int, tuple[int, int | None]] = {i: (0, h) for i, h in enumerate(heads)}
    _learn(model, engine.per_partition(frame, _read, _Rows(rows.features, rows.labels, first)))
    middle: dict[int, tuple[int, int | None]] = {
        i: (h, e) for i, (h, e) in enumerate(zip(heads, ends, strict=True)) if e > h
    }
    if middle:
        chosen = _Rows(rows.features, rows.labels, middle)
        found = engine.per_partition(frame, _collect, (model, chosen))
        model = finish(model, merge(found[i] for i in sorted(found)))
    rest: dict[int, tuple[int, int | None]] = {
        i: (e, None) for i, (e, n) in enumerate(zip(ends, sizes, strict=True)) if n > e
    }
    if rest:
        _learn(model, engine.per_partition(frame, _read, _Rows(rows.features, rows.labels, rest)))
    return model


def _learn(model: LabelRanker, found: dict[int, list[tuple[Any, Any]]]) -> None:
    for place in sorted(found):
        for X, Y in found[place]:
            model.learn(X, Y, return_scores=False)


def score(model: Any, frame: Any, keys: Sequence[str] = ()) -> Any:
    """Score the rows of a Spark frame: a frame with the columns `keys` and one column per label. It is lazy."""
    names = [str(n) for n in (range(model.n_labels) if model.labels is None else model.labels)]
    types = need("pyspark.sql.types", "boostline.spark", "spark")
    known = [frame.schema[key] for key in keys]
    added = [types.StructField(name, types.DoubleType()) for name in names]
    session = frame.sparkSession
    given = _Given(session, (model, list(keys), names))
    return frame.mapInPandas(_Scores(given), types.StructType([*known, *added]))


@dataclass(frozen=True)
class _Scores:
    """For ``mapInPandas``: keys and scores."""

    given: _Given

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        import pandas as pd

        model, keys, names = self.given.open()
        for frame in frames:
            if not len(frame):
                continue
            wanted = model.features or [c for c in frame.columns if c not in keys]
            scores = pd.DataFrame(model.score(frame[list(wanted)]), frame.index, names)
            yield pd.concat([frame[keys], scores], axis=1)


def rank_files(
    model: Any,
    source: Any,
    out: Any,
    *,
    top: int = 5,
    keys: Sequence[str] = (),
    session: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> batch.Ranked:
    """Rank the labels of all rows of many files on a Spark cluster; see `boostline.scale.rank_files`."""
    engine = SparkEngine(session)
    return batch.rank_files(
        model, source, out, top=top, keys=keys, engine=engine, progress=progress, **options
    )


def evaluate(
    model: Any,
    source: Any,
    metrics: str | Metric | Iterable[str | Metric] = ("rank_loss",),
    *,
    session: Any = None,
    progress: ProgressLike = None,
    **options: Any,
) -> dict[str, float]:
    """Evaluate a model on files or a Spark frame; see `boostline.scale.evaluate`."""
    engine = SparkEngine(session)
    if not _is_frame(source):
        return batch.evaluate(model, source, metrics, engine=engine, progress=progress, **options)
    from boostline.evaluate.judged_models import make_metrics

    made = make_metrics(metrics)
    found = engine.per_partition(source, _judge, (model, _columns(source, model), made))
    return batch.means(made, [found[i] for i in sorted(found)])


def _is_frame(source: Any) -> bool:
    return hasattr(source, "mapInPandas")


def _columns(frame: Any, model: Any) -> _Rows:
    if model.labels is None:
        raise ValueError(
            "model has no names of labels, but must have some: the frame's columns are matched by them"
        )
    missing = [name for name in model.labels if name not in frame.columns]
    if missing:
        raise ValueError(f"the frame has no column {missing[0]!r}, which is a label of the model")
    is_label = set(model.labels)
    return _Rows(model.features or [c for c in frame.columns if c not in is_label], model.labels)
