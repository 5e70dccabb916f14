"""A progress bar for runs of very different lengths."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["ProgressLike", "Tell", "show"]

#: True or False to show a bar or not, None to show it on a terminal, or a function of
#: (runs done, runs in all).
ProgressLike = bool | Callable[[int, int], None] | None
#: To be called with the work of a run that is finished.
Tell = Callable[[float], None]


@contextmanager
def show(progress: ProgressLike, total: int, work: float) -> Iterator[Tell]:
    """Give a function to call after each run; the time left goes by work, not by number.

    Examples
    --------
    >>> with show(lambda done, total: print(done, "of", total), total=2, work=11.0) as tell:
    ...     tell(10.0)
    ...     tell(1.0)
    1 of 2
    2 of 2
    """
    if callable(progress):
        report, done = progress, 0

        def count(_: float) -> None:
            nonlocal done
            done += 1
            report(done, total)

        yield count
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.fields[done]} of {task.fields[runs]} runs"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    start, finished, did = time.monotonic(), 0, 0.0
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=work, done=0, runs=total, left="")

        def advance(cost: float) -> None:
            nonlocal finished, did
            finished, did = finished + 1, did + cost
            left = (time.monotonic() - start) * (work - did) / did
            bar.update(task, advance=cost, done=finished, left=f"{_clock(left)} left")

        yield advance


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
