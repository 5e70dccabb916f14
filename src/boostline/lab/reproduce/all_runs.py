"""`run`: load, plan, spread, keep, report."""

from __future__ import annotations

import dataclasses
import datetime
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boostline
from boostline import data as data_sets
from boostline.data import Dataset
from boostline.display.progress import ProgressLike, show_progress
from boostline.lab.reproduce import paper
from boostline.lab.reproduce.plan import (
    ALGORITHMS,
    BASELINES,
    ORDERS,
    Settings,
    Task,
    fingerprint,
    plan,
)
from boostline.lab.reproduce.plan import expected_cost as cost_of
from boostline.lab.reproduce.store import Store
from boostline.lab.reproduce.summary import Summary, describe
from boostline.lab.reproduce.workers import ClusterError, spread
from boostline.scale.engines.local import count_jobs

# Of a file without a test part, this share of the rows comes first and is for training.
_TRAIN_SHARE = 2 / 3
# Counting labels takes about this share of the time that boosting takes.
_BASELINE_COST = 0.01


@dataclass(frozen=True)
class Result:
    """What `run` made.

    Attributes
    ----------
    folder
        Where everything is.
    summary
        All figures of the folder; None if nothing is finished yet.
    n_tasks, n_done
        Runs that were asked for, and how many of them are finished.
    n_new
        How many of them this call did.
    page
        The HTML report, None if it was not written.
    """

    folder: Path
    summary: Summary | None
    n_tasks: int
    n_done: int
    n_new: int
    page: Path | None

    @property
    def finished(self) -> bool:
        """Whether all runs that were asked for are there; if not, the same call continues."""
        return self.n_done == self.n_tasks


def run(
    data: str | Dataset | Sequence[str | Dataset] = paper.SMALL_SETS,
    out: str | os.PathLike[str] = "reproduction",
    *,
    algorithms: Sequence[str] = tuple(ALGORITHMS),
    edges: Sequence[float] | None = None,
    orders: Sequence[str] = ORDERS,
    seeds: int | Sequence[int] = 20,
    settings: Settings | None = None,
    labels: Sequence[str] | int | str | None = None,
    test: str | os.PathLike[str] | None = None,
    n_train: int | None = None,
    drop: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    zero_based: bool | None = None,
    format: str | None = None,
    jobs: int = -1,
    dask: str | None = None,
    fresh: bool = False,
    report: bool = True,
    report_only: bool = False,
    docs: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> Result:
    """Run the paper's experiments, or the same on other data, and write tables and a report.

    Each finished run is written at once. A second call with the same folder does what is missing; the
    report tells of all runs in the folder that have the same settings. After Ctrl-C the result says so in
    ``finished``; nothing that was done is lost.

    Parameters
    ----------
    data
        Named sets, files or `boostline.data.Dataset`; by default the four small sets of the paper.
    out
        Folder of the results; made if it is not there.
    algorithms
        Of ``"ada_olmr"`` and ``"online_bmr"``.
    edges
        For OnlineBMR. Default: the four that the paper tried for this number of labels.
    orders
        Of ``"file"`` (the paper's) and ``"shuffled"`` (within train and within test).
    seeds
        How many, or which. A seed is that of the learners, of the booster and of the shuffling.
    settings
        How boosters are made; default: the paper's 100 trees.
    labels, test, n_train
        For files: their labels, a file with the test rows, or how many rows are for training
        (default: two thirds).
    drop, categories, delimiter, encoding, zero_based, format
        For files, as in `boostline.data.load`.
    jobs
        Local processes; -1 is one per core.
    dask
        Address of a Dask scheduler to spread the runs over its workers instead.
    fresh
        Do runs again that are there already.
    report
        Whether to write tables and the page (which needs matplotlib).
    report_only
        Run nothing; report what there is.
    docs
        A Markdown file to write the tables to, with a picture beside it.
    progress
        True, False, None (on a terminal) or a function of (runs done, runs in all).

    Examples
    --------
    >>> import tempfile
    >>> from boostline.lab import synthetic
    >>> toy = synthetic.separable(60, d=4, k=3, relevant=1, n_train=40)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = run(toy, folder, seeds=2, settings=Settings(trees=3), jobs=1, report=False)
    >>> made.n_new, made.finished     # 2 orders x 2 seeds x 5 boosters, and the baselines
    (26, True)
    """
    settings = settings or Settings()
    wanted_seeds = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    store = Store(out)
    given: dict[str, Any] = {"labels": labels, "test": test, "n_train": n_train, "format": format}
    given |= {"drop": drop, "categories": categories, "delimiter": delimiter}
    given |= {"encoding": encoding, "zero_based": zero_based}
    loaded = _load(data, given)
    tasks = plan(
        list(loaded.values()),
        settings=settings,
        algorithms=algorithms,
        edges=edges,
        orders=orders,
        seeds=wanted_seeds,
    )
    marks = {name: fingerprint(one) for name, one in loaded.items()}
    for name, one in loaded.items():
        store.add_data(name, marks[name], describe(one))
    if fresh and not report_only:
        store.forget(tasks)
    n_new = 0
    if not report_only:
        call = {
            "command": _command(loaded, algorithms, edges, orders, wanted_seeds, settings),
            "where": f"the Dask cluster {dask}" if dask else _processes(count_jobs(jobs)),
        }
        n_new = _work(store, tasks, loaded, jobs, dask, progress, call)
    n_done = len(tasks) - len(store.missing(tasks))
    runs = store.runs(settings)
    if not runs:
        return Result(store.folder, None, len(tasks), n_done, n_new, None)
    summary = Summary.of(runs, store.data(), settings, store.calls(), marks)
    page = None
    if report and (n_done == len(tasks) or report_only):
        from boostline.lab.reproduce.report import write_docs, write_page, write_tables

        write_tables(summary, store.folder)
        page = store.folder / "report.html"
        write_page(summary, page)
        if docs is not None:
            write_docs(summary, Path(docs))
    return Result(store.folder, summary, len(tasks), n_done, n_new, page)


def _work(
    store: Store,
    tasks: Sequence[Task],
    loaded: dict[str, Dataset],
    jobs: int,
    dask: str | None,
    progress: ProgressLike,
    call: dict[str, Any],
) -> int:
    """Do what is missing and keep each result as it comes; return how many were done."""
    missing = store.missing(tasks)
    if not missing:
        return 0
    costs = {name: cost_of(one) for name, one in loaded.items()}

    def cost(task: Task) -> float:
        return costs[task.data] * (_BASELINE_COST if task.algorithm in BASELINES else 1.0)

    started, start = datetime.datetime.now(datetime.UTC), time.monotonic()
    try:
        work = sum(map(cost, missing))
        with show_progress(progress, "reproduce", len(missing), "runs", work=work) as advance:
            for task, record in spread(missing, loaded, jobs=jobs, dask=dask):
                _check_version(record)
                store.add(task, record)
                advance(1, cost(task))
    except KeyboardInterrupt:
        pass  # all that was finished is kept; Result.finished tells
    finally:
        # Counted in the folder: Ctrl-C may have come between the writing of a run and a counter.
        done = len(missing) - len(store.missing(missing))
        store.add_call(
            {
                **call,
                "started": started.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - start, 2),
                "runs": done,
                "finished": done == len(missing),
            }
        )
    return done


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _check_version(record: dict[str, Any]) -> None:
    """Refuse the result of a Dask worker that has another boostline."""
    if record["version"] != boostline.__version__:
        raise ClusterError(
            f"a Dask worker has boostline {record['version']}, but this is {boostline.__version__}; "
            "install the same on all"
        )


def _load(
    data: str | Dataset | Sequence[str | Dataset],
    given: dict[str, Any],
) -> dict[str, Dataset]:
    sources = [data] if isinstance(data, (str, Dataset)) else list(data)
    if not sources:
        raise ValueError("data is empty; name at least one data set")
    files = [s for s in sources if isinstance(s, str) and s not in data_sets.available()]
    if given["test"] is not None and len(files) != 1:
        raise ValueError(f"test can be used with one file, but data has {len(files)}")
    for name, value in given.items():
        if value is not None and not files:
            raise ValueError(f"{name} can be used with files only, but data has none")
    loaded: dict[str, Dataset] = {}
    for source in sources:
        if isinstance(source, Dataset):
            one = source
        elif source in files:
            one = data_sets.load(source, **given)
            if one.n_test == 0:
                one = dataclasses.replace(one, n_train=round(_TRAIN_SHARE * len(one)))
        else:
            one = data_sets.load(source)
        if not 0 < one.n_train < len(one):
            raise ValueError(
                f"data set {one.name!r} has {one.n_train} train rows and {one.n_test} test rows, "
                "but must have both"
            )
        if one.name in loaded:
            raise ValueError(f"data has two data sets with the name {one.name!r}")
        loaded[one.name] = one
    return loaded


def _command(
    loaded: dict[str, Dataset],
    algorithms: Sequence[str],
    edges: Sequence[float] | None,
    orders: Sequence[str],
    seeds: Sequence[int],
    settings: Settings,
) -> str:
    """Write the command that does the same; without folders, which are the user's own matter."""
    parts = ["boostline reproduce"]
    if tuple(loaded) != paper.SMALL_SETS:
        parts += [f"--data {name}" for name in loaded]
    if set(algorithms) != set(ALGORITHMS):
        parts += [f"--algorithm {name}" for name in algorithms]
    parts += [f"--edge {edge:g}" for edge in edges or ()]
    if set(orders) != set(ORDERS):
        parts += [f"--order {order}" for order in orders]
    if len(seeds) != 20:
        parts.append(f"--seeds {len(seeds)}")
    for field in dataclasses.fields(Settings):
        value = getattr(settings, field.name)
        if value != field.default:
            parts.append(f"--{field.name} {value}")
    return " ".join(parts)
