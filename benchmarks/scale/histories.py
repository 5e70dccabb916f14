"""Long generated histories: time against rows and workers, and memory.

    python benchmarks/scale/histories.py costs            # the cost model of docs/scale.md: fitted, then checked
    python benchmarks/scale/histories.py rows --n 5000000 # in bounded memory; --recommended: with the whole model

As `quality.py` otherwise.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
from generated import LABELS, history_in, small_model
from measuring import Clock, Dask, Watched, say

import boostline as bl
from boostline import scale


def costs(arguments: argparse.Namespace) -> None:
    """Seconds = ends + rows of workers / workers * row: fitted to some sizes, checked on others."""
    measured, others = {}, {}
    for n_workers in (1, 2):
        cluster = Dask(n_workers)
        with cluster as engine:
            for n in (100_000, 200_000, 400_000, 800_000):
                found = []
                for _ in range(max(2, arguments.runs)):
                    with history_in(n, 8, arguments.keep) as folder:
                        clock = Clock(cluster)
                        scale.warm_start(
                            small_model(), folder / "*.parquet", engine=engine, n_groups=4
                        )
                        found.append(clock.read())
                best = min(found, key=lambda one: one["seconds"])
                measured[n, n_workers], others[n, n_workers] = best["seconds"], best["others"]
    fitted = [key for key in measured if key[0] in (100_000, 400_000)]
    terms = np.array([[1.0, (n - 4500) / w] for n, w in fitted])
    (ends, row), *_ = np.linalg.lstsq(terms, np.array([measured[key] for key in fitted]))
    say(job="costs", seconds_for_ends=float(ends), milliseconds_per_row=1e3 * float(row))
    for (n, w), seconds in measured.items():
        say(
            job="costs",
            n=n,
            workers=w,
            is_fitted=(n, w) in fitted,
            seconds=seconds,
            others=others[n, w],
            formula=float(ends + row * (n - 4500) / w),
        )


def rows(arguments: argparse.Namespace) -> None:
    """A long history; the memory of all processes is looked at ten times a second."""
    recommended = arguments.recommended
    with history_in(arguments.n, 50, arguments.keep) as folder:
        for n_workers in arguments.workers:
            cluster = Dask(n_workers)
            with cluster as engine:
                processes = {"driver": os.getpid()}
                pids = cluster.client.run(os.getpid).values()
                processes |= {f"worker {i}": pid for i, pid in enumerate(pids)}
                clock = Clock(cluster)
                with Watched(processes) as watched:
                    model = scale.warm_start(
                        bl.LabelRanker(labels=LABELS) if recommended else small_model(),
                        folder / "*.parquet",
                        engine=engine,
                        n_groups=arguments.groups,
                    )
                took = clock.read()
            say(
                job="rows",
                model="recommended" if recommended else "small",
                n=model.clock,
                workers=n_workers,
                groups=arguments.groups,
                **took,
                **watched.told(),
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("job", choices=["costs", "rows"])
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--groups", type=int, default=10, help="of `rows`")
    parser.add_argument("--workers", type=int, nargs="+", default=[2], help="of `rows`")
    parser.add_argument("--recommended", action="store_true", help="of `rows`: the whole model")
    parser.add_argument("--keep", help="where generated histories go, to be used again")
    arguments = parser.parse_args()
    {"costs": costs, "rows": rows}[arguments.job](arguments)


if __name__ == "__main__":
    main()
