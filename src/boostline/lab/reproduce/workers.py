"""Spread runs over the cores of this machine, or over a Dask cluster, through joblib."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boostline.data import Dataset
from boostline.lab.reproduce.one_run import Stopped, perform
from boostline.lab.reproduce.plan import Task
from boostline.scale.engines.local import count_jobs

# Seconds in which a scheduler must answer.
_PATIENCE = 10


class ClusterError(OSError):
    """The Dask cluster could not be reached, or failed; finished runs are kept."""


def spread(
    tasks: Sequence[Task], data: Mapping[str, Dataset], *, jobs: int = -1, dask: str | None = None
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Yield each task with its result as soon as it is there, in whatever order they end.

    Closing the iterator, or Ctrl-C, ends the worker processes at once.

    Parameters
    ----------
    tasks
        What to run.
    data
        The data sets by name. Workers are sent them and need no files.
    jobs
        Local processes; -1 is one per core, 1 runs here.
    dask
        Address of a Dask scheduler. Its workers need boostline installed. A worker that dies loses
        its run, which another then does again with the same result.
    """
    if not tasks:
        return
    try:
        from joblib import Parallel, delayed, parallel_config
    except ImportError as error:
        raise ImportError("reproduce needs joblib: pip install 'boostline[reproduce]'") from error

    owner = os.getpid() if dask is None else None
    calls = (
        delayed(_perform)(index, task, data[task.data], owner) for index, task in enumerate(tasks)
    )
    with contextlib.ExitStack() as stack:
        if dask is None:
            stack.enter_context(parallel_config("loky", n_jobs=min(count_jobs(jobs), len(tasks))))
        else:
            _use_dask(
                stack, parallel_config, dask, list({id(d): d for d in data.values()}.values())
            )
        # One run per batch: each is written the moment it ends.
        parallel = Parallel(return_as="generator_unordered", batch_size=1)
        with _hidden_from_interrupts():
            results = parallel(calls)
        try:
            for index, record in results:
                yield tasks[index], record
        except Stopped:
            raise KeyboardInterrupt from None
        except Exception as error:
            if dask is None or not _is_of_cluster(error):
                raise
            raise ClusterError(
                f"the Dask cluster at {dask} failed ({type(error).__name__}: {error}); "
                "finished runs are kept, and the same command continues from there"
            ) from error
        finally:
            results.close()


@contextlib.contextmanager
def _hidden_from_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back while worker processes are started, and for ever from the workers.

    A terminal sends it to every process. Only this one is to act on it; workers, which inherit the
    mask, would fill the screen with tracebacks. Here it arrives as soon as the block is left.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Starting a tracker of shared memory lifts the mask (in the standard library up to Python 3.13
    # and in older joblibs), so both are started before it.
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as tracker_of_loky

    resource_tracker.ensure_running()
    tracker_of_loky.ensure_running()
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _perform(
    index: int, task: Task, data: Dataset, owner: int | None
) -> tuple[int, dict[str, Any]]:
    # A worker that was started later, from another thread, has not inherited the mask.
    if owner is not None and os.getpid() != owner and hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return index, perform(task, data)


def _use_dask(
    stack: contextlib.ExitStack, parallel_config: Any, address: str, data: list[Dataset]
) -> None:
    try:
        import distributed
    except ImportError as error:
        raise ImportError("--dask needs distributed: pip install 'boostline[reproduce]'") from error
    try:
        made = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
        client = stack.enter_context(made)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {address!r} ({error}); give an address "
            "such as tcp://host:8786"
        ) from error
    try:
        # Every worker gets every data set, so that the death of one loses none.
        stack.enter_context(parallel_config("dask", client=client, scatter=data))
    except TimeoutError as error:
        raise ClusterError(f"the Dask scheduler at {address} has no workers") from error


def _is_of_cluster(error: Exception) -> bool:
    """Whether an exception is the cluster's own rather than raised by a run."""
    from concurrent.futures import CancelledError as Cancelled

    if isinstance(error, (OSError, TimeoutError, Cancelled)):
        return True
    # joblib takes a cancelled future's exception for a list of results.
    return type(error).__module__.startswith("distributed") or "CancelledError" in str(error)
