"""One progress bar for everything that takes long, on standard error; it goes when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

#: True or False to show a bar or not, None to show it on a terminal, or a function of
#: (how many are done, how many there are or None).
ProgressLike = bool | Callable[[int, int | None], None] | None
#: To be called with how many were just done.
Advance = Callable[[int], None]


@dataclass
class Progress:
    """How far a job is; a function of what was just done.

    Attributes
    ----------
    done, work : float
        How many are done, and what they cost; the time left goes by their cost.
    shown : bool
        Whether a bar is shown; what is only for the bar need not be computed otherwise.
    """

    show: Callable[[Progress, str | None], None] | None = None
    done: int = 0
    work: float = 0.0

    @property
    def shown(self) -> bool:
        return self.show is not None

    def __call__(self, n: int, work: float | None = None, note: str | None = None) -> None:
        """Say that `n` more are done, and what they cost if they are not equal."""
        self.done += n
        self.work += n if work is None else work
        if self.show is not None:
            self.show(self, note)

    def to(self, done: int, note: str | None = None) -> None:
        """Set how many are done in all; a download that restarts goes back."""
        self(done - self.done, note=note)


@contextmanager
def show_progress(
    progress: ProgressLike,
    what: str,
    total: int | None,
    unit: str,
    *,
    work: float | None = None,
    done: int = 0,
) -> Iterator[Progress]:
    """Give a function to call with how many were just done.

    Parameters
    ----------
    progress
        Whether to show a bar, or a function to call in its place.
    what, unit
        What is under way, and what is counted; bytes are shown as megabytes.
    total, work
        How many there are, if that is known, and what they cost together, if they are not equal.
    done
        How many were done by an earlier call.

    Examples
    --------
    >>> with show_progress(lambda *at: print(at), "runs", 2, "runs", work=11.0) as advance:
    ...     advance(1, work=10.0)
    ...     advance(1, work=1.0)
    (1, 2)
    (2, 2)
    """
    if callable(progress):
        report = progress
        yield Progress(lambda at, _: report(at.done, total), done, done)
        return
    if not (sys.stderr.isatty() if progress is None else progress):
        yield Progress(None, done, done)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    texts = ("description", "fields[count]", "fields[left]", "fields[note]")
    name, count, left, note = (TextColumn(f"{{task.{text}}}", markup=False) for text in texts)
    columns = (name, BarColumn(), count, TimeElapsedColumn(), left, note)
    whole, start = total if work is None else work, monotonic()
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(
            what,
            total=whole,
            completed=done,
            count=_count(done, total, unit),
            left="",
            note="",
        )

        def update(at: Progress, note: str | None) -> None:
            fields: dict[str, Any] = {} if note is None else {"note": note}
            if whole and at.work > done:
                seconds = (monotonic() - start) * (whole - at.work) / (at.work - done)
                fields["left"] = f"{_clock(seconds)} left"
            bar.update(task, completed=at.work, count=_count(at.done, total, unit), **fields)

        yield Progress(update, done, done)


def _count(done: int, total: int | None, unit: str) -> str:
    if unit == "bytes":
        return f"{done / 1e6:.1f}" + (f" of {total / 1e6:.1f} MB" if total is not None else " MB")
    return f"{done:,}" + (f" of {total:,} {unit}" if total is not None else f" {unit}")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
