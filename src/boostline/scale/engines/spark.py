"""Executors of a Spark session: everything runs through ``mapInArrow`` and ``mapInPandas``.

Executors need boostline, pandas and pyarrow installed, and must be able to read the files under the same path. Spark
repeats the tasks of an executor that dies.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from boostline.data.errors import need
from boostline.scale.engines.engine import Engine, Task, WorkerError, attempt, unwrapped
from boostline.scale.parts import FramePart, feature_columns

__all__ = ["SparkEngine", "score_frame"]

_RESULT = "place long, result binary"


class SparkEngine(Engine):
    """Runs tasks on the executors of a Spark session.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`, or None for the one in use.
    """

    def __init__(self, session: Any = None) -> None:
        sql = need("pyspark.sql", "SparkEngine", "spark")
        self.session = sql.SparkSession.getActiveSession() if session is None else session
        if self.session is None:
            raise ValueError("session is None, but no Spark session is in use")

    @property
    def n_workers(self) -> int:  # type: ignore[override]
        """Cores of all executors."""
        return max(1, int(self.session.sparkContext.defaultParallelism))

    def map(self, task: Task, items: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        if not (items := list(items)):
            return
        # One row, and so one task, for each item.
        places = self.session.range(0, len(items), 1, len(items))
        given = _Given(self.session, (task, shared, items))
        found = self._run(places.mapInArrow(_Places(given), _RESULT))
        yield from (found[i] for i in range(len(items)))

    def partitions(
        self, frame: Any, model: Any, n_groups: int | None
    ) -> tuple[Engine, list[FramePart]]:
        """A frame is read several times and must be the same each time: cache it if it is computed."""
        if not hasattr(frame, "mapInPandas"):
            raise TypeError(
                f"source is a {type(frame).__name__}, but must be paths or a Spark frame"
            )
        feature_columns(frame.columns, model.labels)
        if n_groups is not None:
            frame = frame.coalesce(n_groups)
        n = frame.rdd.getNumPartitions()
        parts: list[FramePart] = [
            SparkPart(None, place, model.features, model.labels) for place in range(n)
        ]
        return _SparkFrameEngine(self.session, frame), parts

    def _run(self, frame: Any) -> dict[int, Any]:
        errors = need("pyspark.errors", "SparkEngine", "spark")
        try:
            rows = frame.collect()
        except (errors.PySparkException, OSError) as error:
            raise WorkerError(f"the Spark job failed: {error}") from error
        found = {int(row["place"]): pickle.loads(bytes(row["result"])) for row in rows}
        return {place: unwrapped(found[place]) for place in sorted(found)}


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


class _SparkFrameEngine(SparkEngine):
    """The same for the partitions of a frame: a task about a partition runs where its rows are."""

    keeps_partitions = True

    def __init__(self, session: Any, frame: Any) -> None:
        super().__init__(session)
        self.frame = frame

    def map(self, task: Task, items: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        items = list(items)
        about = [_part_of(item) for item in items]
        if any(part is None for part in about):
            yield from super().map(task, items, shared)
            return
        by_place = {part.place: item for part, item in zip(about, items, strict=True) if part}
        given = _Given(self.session, (task, shared, by_place))
        found = self._run(self.frame.mapInPandas(_Partition(given), _RESULT))
        # Spark has no task for a partition without rows.
        for place in by_place.keys() - found.keys():
            _pieces[:] = [iter(())]
            found[place] = task(shared, by_place[place])
        yield from (found[part.place] for part in about if part)


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


def score_frame(model: Any, frame: Any, keys: Sequence[str] = ()) -> Any:
    """Score the rows of a Spark frame: a frame with the columns `keys` and one column per label. It is lazy."""
    names = [str(n) for n in (range(model.n_labels) if model.labels is None else model.labels)]
    types = need("pyspark.sql.types", "score_frame", "spark")
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
