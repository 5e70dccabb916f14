"""Where a command does its work: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from boostline.scale.engines import Engine


@contextmanager
def engine_for(jobs: int, dask: str | None) -> Iterator[Engine]:
    """For `with`: what ``--jobs`` or ``--dask`` stands for."""
    from boostline.scale.engines import LocalEngine

    if dask is None:
        yield LocalEngine(jobs)
        return
    if jobs != 1:
        raise typer.BadParameter(
            "is for one machine, and --dask for a cluster", param_hint="--jobs"
        )
    from boostline.scale.engines.dask import connected

    with connected(dask) as engine:
        yield engine
