"""boostline on a Spark cluster: learn a long history, score and rank many rows, keep many models.

Everything runs through ``mapInArrow`` and ``mapInPandas``. Executors need boostline, pandas and pyarrow installed, and
files must be readable under the same path everywhere. Spark repeats the tasks of an executor that dies.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from boostline.data.errors import need
from boostline.scale import batch, history, many_models
from boostline.scale.engines import Failed, Task, WorkerError, attempt
from boostline.scale.frames import FramePart, feature_columns
from boostline.scale.history import Model

__all__ = [
    "SparkEngine",
    "WorkerError",
    "evaluate",
    "learn_by_key",
    "rank_files",
    "score",
    "warm_start",
]

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

    def each(
        self, task: Task, items: Sequence[Any], shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        if not items:
            return
        # One row, and so one task, for each item.
        places = self.session.range(0, len(items), 1, len(items))
        given = _Given(self.session, (task, shared, list(items)))
        found = self._run(places.mapInArrow(_Places(given), _RESULT))
        yield from found.items()

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


class SparkFrameEngine(SparkEngine):
    """The same for the partitions of a frame: a task about a partition runs where its rows are."""

    def __init__(self, session: Any, frame: Any) -> None:
        super().__init__(session)
        self.frame = frame

    def parts(self, model: Any) -> list[SparkPart]:
        """The partitions of the frame."""
        feature_columns(self.frame.columns, model.labels)
        n = self.frame.rdd.getNumPartitions()
        return [SparkPart(None, place, model.features, model.labels) for place in range(n)]

    def each(
        self, task: Task, items: Sequence[Any], shared: Any = None
    ) -> Iterator[tuple[int, Any]]:
        about = [_part_of(item) for item in items]
        if any(part is None for part in about):
            yield from super().each(task, items, shared)
            return
        by_place = {part.place: item for part, item in zip(about, items, strict=True) if part}
        given = _Given(self.session, (task, shared, by_place))
        found = self._run(self.frame.mapInPandas(_Partition(given), _RESULT))
        # Spark has no task for a partition without rows.
        for place in by_place.keys() - found.keys():
            _pieces[:] = [iter(())]
            found[place] = task(shared, by_place[place])
        for place, part in enumerate(about):
            if part is not None:
                yield place, found[part.place]


def _part_of(item: Any) -> SparkPart | None:
    """The partition that an item is about: one, for a frame's partitions are not put together."""
    if isinstance(item, list | tuple):
        return next((part for one in item if (part := _part_of(one))), None)
    item = getattr(item, "part", item)
    return item if isinstance(item, SparkPart) else None


# Of a worker process: the pieces of the partition that its task is about.
_pieces: list[Iterator[Any]] = []


@dataclass(frozen=True)
class _Partition:
    """For ``mapInPandas``: the task of a whole partition."""

    given: _Given

    def __call__(self, frames: Iterable[Any]) -> Iterator[Any]:
        import pandas as pd
        from pyspark import TaskContext

        task, shared, items = self.given.open()
        context = TaskContext.get()
        place = 0 if context is None else context.partitionId()
        rows = iter(frames)
        if place in items:
            _pieces[:] = [rows]
            result = pickle.dumps(attempt(task, shared, items[place]), protocol=5)
        for _ in rows:  # what the task did not read
            pass
        if place in items:
            yield pd.DataFrame({"place": [place], "result": [result]})


@dataclass(frozen=True)
class SparkPart(FramePart):
    """A partition of a Spark frame, whose rows come in pieces, once in a task."""

    def frames(self) -> Iterator[Any]:
        yield from _pieces.pop()


def warm_start(model: Model, source: Any, *, session: Any = None, **options: Any) -> Model:
    """Learn a history on a Spark cluster.

    Parameters
    ----------
    model
        A model with names of labels.
    source
        Paths or patterns of files, or a Spark frame: its columns that are named as labels are the labels, the others
        the features. Sort it by time, if it has one. It is read several times and must be the same each time: cache
        it if it is computed.
    session
        A `SparkSession`; None for the one in use.
    **options
        As in `boostline.scale.warm_start`; a frame with more partitions is brought to `n_groups`.
    """
    if not _is_frame(source):
        return history.warm_start(model, source, engine=SparkEngine(session), **options)
    n_groups = options.pop("n_groups", None) or 2 * SparkEngine(session).n_workers
    engine = SparkFrameEngine(session, source.coalesce(n_groups))
    parts = engine.parts(model)
    return history.warm_start_frame(model, source.columns, parts, engine, n_groups=0, **options)


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
    model: Any, source: Any, out: Any, *, session: Any = None, **options: Any
) -> batch.Ranked:
    """Rank the labels of all rows of many files on a Spark cluster; see `boostline.scale.rank_files`."""
    return batch.rank_files(model, source, out, engine=SparkEngine(session), **options)


def evaluate(
    model: Any, source: Any, metrics: Any = ("rank_loss",), *, session: Any = None, **options: Any
) -> dict[str, float]:
    """Evaluate a model on files or a Spark frame; see `boostline.scale.evaluate`."""
    if not _is_frame(source):
        return batch.evaluate(model, source, metrics, engine=SparkEngine(session), **options)
    engine = SparkFrameEngine(session, source)
    return batch.evaluate_parts(model, engine.parts(model), metrics, engine, **options)


def learn_by_key(
    source: Any, *, model: Any, session: Any = None, **options: Any
) -> many_models.LearnedByKey:
    """Learn a model for each value of a column on a Spark cluster; see `boostline.scale.learn_by_key`.

    `source` may be a Spark frame, in the order in which rows are to be learned. The store must be a folder that all
    executors share.
    """
    if not _is_frame(source):
        return many_models.learn_by_key(source, model=model, engine=SparkEngine(session), **options)
    engine = SparkFrameEngine(session, source)
    parts = engine.parts(model)
    return many_models.learn_parts_by_key(parts, model=model, engine=engine, **options)


def _is_frame(source: Any) -> bool:
    return hasattr(source, "mapInPandas")
