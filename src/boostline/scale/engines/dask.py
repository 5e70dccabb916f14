"""Workers of a Dask cluster.

They need boostline installed, and must be able to read the files under the same path. A task whose worker dies is done
again by another, with the same result.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from boostline.data.errors import need
from boostline.scale.engines.engine import RETRIES, Engine, Task, WorkerError, attempt, unwrapped
from boostline.scale.parts import FramePart, feature_columns

__all__ = ["DaskEngine", "connected", "score_frame"]

#: Seconds in which a scheduler must answer, and in which a worker must be there while a job runs.
PATIENCE = 30.0


class DaskEngine(Engine):
    """Runs tasks on the workers of a Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`, or None for the one in use.
    patience
        Seconds to wait for a worker when there is none.
    """

    def __init__(self, client: Any = None, patience: float = PATIENCE) -> None:
        distributed = need("distributed", "DaskEngine", "dask")
        self.client = distributed.get_client() if client is None else client
        self.patience = patience

    @property
    def n_workers(self) -> int:  # type: ignore[override]
        """Threads of all workers."""
        return max(1, sum(self._threads().values()))

    def map(self, task: Task, items: Iterable[Any], shared: Any = None) -> Iterator[Any]:
        self._wait_for_workers()
        # What all workers share is the result of a task, not scattered data: it survives the death of its worker.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            common = None
            if shared is not None:
                common = self.client.submit(
                    pickle.loads, pickle.dumps(shared, protocol=5), pure=False, retries=RETRIES
                )
                self._spread(common)
            futures = [
                self.client.submit(attempt, task, common, item, pure=False, retries=RETRIES)
                for item in items
            ]
        try:
            for future in futures:  # results wait on the workers
                result = self._result(future)
                future.release()
                yield unwrapped(result)
        finally:
            self.client.cancel([*futures, common] if common is not None else futures)

    def partitions(
        self, frame: Any, model: Any, n_groups: int | None
    ) -> tuple[Engine, list[FramePart]]:
        if not hasattr(frame, "to_delayed"):
            raise TypeError(
                f"source is a {type(frame).__name__}, but must be paths or a Dask frame"
            )
        feature_columns(frame.columns, model.labels)
        parts = enumerate(frame.to_delayed())
        return self, [DaskPart(one, place, model.features, model.labels) for place, one in parts]

    def _spread(self, future: Any) -> None:
        """Copy a result to all workers before they are busy: one that computes is slow to pass it on.

        It is no more than a help. If a worker leaves meanwhile, tasks fetch what they lack.
        """
        if len(self._threads()) > 1:
            copied = threading.Thread(target=_replicate, args=(self.client, future), daemon=True)
            copied.start()
            copied.join(self.patience)

    def _result(self, future: Any) -> Any:
        """Of a future; as long as there are workers, one computes it, again if another has died."""
        distributed = need("distributed", "DaskEngine", "dask")
        alone_since: float | None = None
        while True:
            try:
                return future.result(timeout=min(self.patience, 10.0))
            except distributed.scheduler.KilledWorker as error:
                raise WorkerError(f"the Dask cluster could not finish a task: {error}") from error
            except (TimeoutError, OSError) as error:
                if future.status == "error":
                    raise WorkerError(
                        f"the Dask cluster could not finish a task: {error}"
                    ) from error
            alone_since = None if self._threads() else alone_since or time.monotonic()
            if alone_since is not None and time.monotonic() - alone_since > self.patience:
                raise WorkerError(f"the Dask cluster has had no worker for {self.patience:g} s")

    def _threads(self) -> dict[str, int]:
        try:
            return dict(self.client.nthreads())
        except (OSError, TimeoutError) as error:
            raise WorkerError(f"the Dask scheduler does not answer: {error}") from error

    def _wait_for_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError as error:
            raise WorkerError(
                f"the Dask cluster has no worker after {self.patience:g} s"
            ) from error


def _replicate(client: Any, future: Any) -> None:
    with contextlib.suppress(Exception):  # a task that needs it will say what is wrong
        client.replicate([future])


@contextmanager
def connected(address: str | None) -> Iterator[DaskEngine]:
    """For `with`: the cluster at an address, or the one of the client in use."""
    distributed = need("distributed", "DaskEngine", "dask")
    if address is None:
        yield DaskEngine()
        return
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkerError(
            f"there is no Dask scheduler at {address!r} ({error}); give an address such as tcp://host:8786"
        ) from error
    with client:
        yield DaskEngine(client)


@dataclass(frozen=True)
class DaskPart(FramePart):
    """A partition of a Dask frame, computed where it is needed."""

    def frames(self) -> Iterator[Any]:
        yield self.source.compute(scheduler="synchronous")


def score_frame(model: Any, frame: Any) -> Any:
    """Score the rows of a Dask frame: a Dask frame with one column per label and the same index. It is lazy."""
    names = list(range(model.n_labels)) if model.labels is None else list(model.labels)
    pandas = need("pandas", "score_frame", "dask")
    delayed = need("dask", "score_frame", "dask").delayed
    meta = pandas.DataFrame({name: pandas.Series(dtype="float64") for name in names})
    shared = delayed(model)  # one task, not a part of each
    task = delayed(_score_frame)
    parts = [task(part, shared, names) for part in frame.to_delayed()]
    divisions = frame.divisions if frame.known_divisions else None
    dataframe = need("dask.dataframe", "score_frame", "dask")
    return dataframe.from_delayed(parts, meta=meta, divisions=divisions)


def _score_frame(frame: Any, model: Any, names: list[Any]) -> Any:
    pandas = need("pandas", "score_frame", "dask")
    columns = [c for c in frame.columns if c in set(model.features or frame.columns)]
    if not len(frame):
        return pandas.DataFrame({name: pandas.Series(dtype="float64") for name in names})
    return pandas.DataFrame(model.score(frame[columns]), index=frame.index, columns=names)
