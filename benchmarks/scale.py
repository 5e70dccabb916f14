"""What workers gain: history, rankings and many models with one process and with two, on a real Dask cluster.

    python benchmarks/scale.py mediamill            # BOOSTLINE_DATA: the paper's data sets; --shuffle SEED
    python benchmarks/scale.py trees                # AdaOLMR and OnlineBMR, dealt out to workers
    python benchmarks/scale.py costs                # the cost model of docs/scale.md: fitted, then checked on others
    python benchmarks/scale.py debtags --texts DIR  # DIR/debtags-train.jsonl.gz and -test
    python benchmarks/scale.py rows --n 5000000     # generated history in bounded memory
    python benchmarks/scale.py rank --n 2000000
    python benchmarks/scale.py keys --n 10000

Each prints one JSON object per run. Times are wall-clock seconds with the cluster already up, reading the files
included. Set OPENBLAS_NUM_THREADS=1, so that every process has one thread.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import boostline as bl
from boostline import scale
from boostline.learners import Committee, Kernel, Linear, Recency, Ridge
from boostline.metrics import precision_at, rank_loss
from boostline.scale.engines import LocalEngine
from boostline.scale.history import warm_start_parts

LABELS = [f"tag{j}" for j in range(5)]


def say(**result: Any) -> None:
    print(
        json.dumps({n: round(v, 5) if isinstance(v, float) else v for n, v in result.items()}),
        flush=True,
    )


def peak_megabytes() -> float:
    """Of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Clock:
    """Wall-clock seconds, and the CPU seconds of the longest way through a job: this process, then the busiest worker.

    `others` is the share of the machine that processes took that have no part in the job: if it is more than some
    percent, the clock says little.
    """

    def __init__(self, cluster: Dask | None = None) -> None:
        self._cluster = cluster
        self._start = time.perf_counter(), time.process_time(), self._workers()
        self._children, self._busy = _children(), _busy()

    def _workers(self) -> dict[str, float]:
        return {} if self._cluster is None else self._cluster.client.run(time.process_time)

    def read(self, processes: int = 1) -> dict[str, float]:
        wall, cpu, workers = self._start
        seconds, busy = time.perf_counter() - wall, _busy() - self._busy
        own, after = time.process_time() - cpu, self._workers()
        each = [after[one] - workers.get(one, 0.0) for one in after]
        children = _children() - self._children
        others = (busy - own - sum(each) - children) / (seconds * (os.cpu_count() or 1))
        alone = 0.0 if self._cluster is not None else children / processes
        longest = own + max(each, default=0.0) + alone
        return {"seconds": seconds, "longest_cpu": longest, "others": max(0.0, others)}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _busy() -> float:
    """CPU seconds of all processes of the machine."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, *rest = map(int, file.readline().split()[1:])
    return (user + nice + system + sum(rest[:3])) / os.sysconf("SC_CLK_TCK")


class Dask:
    """For `with`: an engine of n worker processes with one thread each."""

    def __init__(self, n_workers: int) -> None:
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        self.client = Client(self.cluster)
        self.client.run(_warm)

    def __enter__(self) -> Any:
        from boostline.dask import DaskEngine

        return DaskEngine(self.client)

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.cluster.close()


def _warm() -> None:
    import pyarrow.parquet  # noqa: F401

    import boostline.scale  # noqa: F401


def write_tables(folder: Path, X: Any, Y: Any, labels: list[str], n_files: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    for i, rows in enumerate(np.array_split(np.arange(len(X)), n_files)):
        columns = {f"x{j}": X[rows, j] for j in range(X.shape[1])}
        columns |= {name: Y[rows, j] for j, name in enumerate(labels)}
        parquet.write_table(pa.table(columns), folder / f"part-{i:04}.parquet")


def in_sequence(model: bl.LabelRanker, parts: list[Any]) -> bl.LabelRanker:
    for part in parts:
        for X, Y in part.blocks():
            model.learn(X, Y, return_scores=False)
    return model


def mediamill(arguments: argparse.Namespace) -> None:
    from boostline import data
    from boostline.scale.parts import file_parts

    given = data.load("mediamill")
    labels = [str(name) for name in given.labels]
    order = np.arange(len(given.train.X))
    if arguments.shuffle is not None:
        np.random.default_rng(arguments.shuffle).shuffle(order)
    folder = Path(tempfile.mkdtemp())
    write_tables(
        folder, given.train.X[order], np.asarray(given.train.Y, dtype=bool)[order], labels, 8
    )
    X, Y = given.test.X, np.asarray(given.test.Y, dtype=bool)

    def fresh() -> bl.LabelRanker:
        model = bl.LabelRanker(labels=labels, seed=0)
        model.features = [f"x{j}" for j in range(X.shape[1])]
        return model

    def judged(model: bl.LabelRanker) -> float:
        return float(rank_loss(Y, scale.score(model, X)))

    for _ in range(arguments.runs):
        for n_workers in (2, 1):
            cluster = Dask(n_workers)
            with cluster as engine:
                clock = Clock(cluster)
                model = scale.warm_start(fresh(), folder / "*.parquet", engine=engine, n_groups=2)
                took = clock.read()
            say(job="mediamill", workers=n_workers, **took, rank_loss=judged(model))
        clock = Clock()
        model = in_sequence(fresh(), file_parts(folder / "*.parquet", fresh()))
        say(job="mediamill", workers="in sequence", **clock.read(), rank_loss=judged(model))
    shutil.rmtree(folder)


@dataclass(frozen=True)
class SparsePart:
    """A part that is a SciPy file: an example of a part of one's own."""

    path: str
    start: int = 0
    stop: int | None = None

    def rows(self, start: int, stop: int | None) -> SparsePart:
        return replace(self, start=start, stop=stop)

    def blocks(self) -> Any:
        from scipy.sparse import load_npz

        X, Y = (load_npz(f"{self.path}.{name}.npz")[self.start : self.stop] for name in "XY")
        for first in range(0, X.shape[0], 2048):
            yield X[first : first + 2048], Y[first : first + 2048].toarray().astype(bool)


def debtags(arguments: argparse.Namespace) -> None:
    from scipy.sparse import csr_array, save_npz
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import MultiLabelBinarizer

    def read(part: str) -> list[dict[str, Any]]:
        with gzip.open(Path(arguments.texts) / f"debtags-{part}.jsonl.gz", "rt") as file:
            return [json.loads(line) for line in file]

    train, test = read("train"), read("test")
    vectors = TfidfVectorizer(sublinear_tf=True).fit([row["text"] for row in train])
    tags = MultiLabelBinarizer(sparse_output=True).fit([row["labels"] for row in train + test])
    X, T = (vectors.transform([row["text"] for row in rows]).tocsr() for rows in (train, test))
    Y, U = (tags.transform([row["labels"] for row in rows]) for rows in (train, test))
    folder, n_files = Path(tempfile.mkdtemp()), 4
    parts, sizes = [], []
    for i, rows in enumerate(np.array_split(np.arange(X.shape[0]), n_files)):
        save_npz(folder / f"{i}.X.npz", csr_array(X[rows]))
        save_npz(folder / f"{i}.Y.npz", csr_array(Y[rows]))
        parts.append(SparsePart(str(folder / str(i))))
        sizes.append(len(rows))
    relevant = U.toarray().astype(bool)

    def fresh() -> bl.LabelRanker:
        model = bl.LabelRanker(len(tags.classes_), seed=0)
        model.features = vectors.get_feature_names_out().tolist()
        return model

    def judged(model: bl.LabelRanker) -> dict[str, float]:
        scores = scale.score(model, T)
        first = float(precision_at(relevant, scores, 1))
        return {"precision_at_1": 100 * first, "rank_loss": float(rank_loss(relevant, scores))}

    for _ in range(arguments.runs):
        cluster = Dask(2)
        with cluster as engine:
            clock = Clock(cluster)
            model = warm_start_parts(fresh(), parts, sizes, engine, n_groups=2)
            took = clock.read()
        say(job="debtags", workers=2, **took, **judged(model))
        clock = Clock()
        model = in_sequence(fresh(), parts)
        say(job="debtags", workers="in sequence", **clock.read(), **judged(model))
    shutil.rmtree(folder)


def trees(arguments: argparse.Namespace) -> None:
    """Boosted trees on rows dealt to parts, in sequence, and of sample and tail alone."""
    from boostline import data

    for name in ("yeast", "m-reduced", "scene"):
        given = data.load(name)
        X, Y = np.asarray(given.train.X), np.asarray(given.train.Y, dtype=bool)
        n, end = len(X), len(X) // 8
        for make in (bl.AdaOLMR, bl.OnlineBMR):
            for n_parts in (0, 1, 2, 4):  # 0: in sequence
                losses: dict[str, list[float]] = {"dealt": [], "ends": []}
                for seed in range(arguments.runs):
                    settings = {"expert": "weighted"} if make is bl.AdaOLMR else {}
                    model = make(Y.shape[1], seed=seed, **settings)
                    if not n_parts:
                        model.learn(X, Y, return_scores=False)
                        made = {"dealt": model}
                    else:
                        model.learn(X[:end], Y[:end], return_scores=False)
                        cuts = np.linspace(end, n - end, n_parts + 1).astype(int)
                        parts = [
                            scale.partial(model, (X[a:b], Y[a:b]))
                            for a, b in itertools.pairwise(cuts)
                        ]
                        tail = X[n - end :], Y[n - end :]
                        made = {"dealt": scale.finish(model, scale.merge(parts), tail)}
                        model.learn(*tail, return_scores=False)
                        made["ends"] = model
                    for which, one in made.items():
                        loss = rank_loss(np.asarray(given.test.Y), one.score(given.test.X))
                        losses[which].append(float(loss))
                found = {f"rank_loss_{w}": float(np.mean(v)) for w, v in losses.items() if v}
                say(job="trees", data=name, booster=make.__name__, parts=n_parts, **found)


def costs(arguments: argparse.Namespace) -> None:
    """Seconds = ends + rows of workers / workers * row: fitted to some sizes, checked on others."""
    measured, others = {}, {}
    for n_workers in (1, 2):
        cluster = Dask(n_workers)
        with cluster as engine:
            for n in (100_000, 200_000, 400_000, 800_000):
                found = []
                for _ in range(max(2, arguments.runs)):
                    with history_in(arguments, n, 8) as folder:
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


def small_model() -> bl.LabelRanker:
    members = [Kernel(n_landmarks=200), Ridge(), Linear(n_replays=2)]
    return bl.LabelRanker(labels=LABELS, learners=[Committee(members), Recency(1.0)])


def generated(folder: Path, n: int, n_files: int) -> None:
    """Ten features, five labels, by a rule with an interaction; single precision."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(10, 5))
    for i in range(n_files):
        X = rng.normal(size=(n // n_files, 10)).astype(np.float32)
        Y = X @ weights + X[:, :5] * X[:, 5:] + rng.normal(size=(len(X), 5)) > 1.0
        inside = folder / f"{i}"
        inside.mkdir()
        write_tables(inside, X, Y, LABELS, 1)
        os.replace(inside / "part-0000.parquet", folder / f"part-{i:04}.parquet")
        inside.rmdir()


def rows(arguments: argparse.Namespace) -> None:
    """A long history; the memory of all processes is looked at ten times a second."""
    with history_in(arguments, arguments.n, 50) as folder:
        for n_workers in arguments.workers:
            cluster = Dask(n_workers)
            with cluster as engine:
                processes = {"driver": os.getpid()}
                pids = cluster.client.run(os.getpid).values()
                processes |= {f"worker {i}": pid for i, pid in enumerate(pids)}
                clock = Clock(cluster)
                with Watched(processes) as watched:
                    model = scale.warm_start(
                        small_model(),
                        folder / "*.parquet",
                        engine=engine,
                        n_groups=arguments.groups,
                    )
                took = clock.read()
            say(
                job="rows",
                n=model.clock,
                workers=n_workers,
                groups=arguments.groups,
                **took,
                **watched.told(),
            )


class Watched:
    """For `with`: the resident memory of some processes over time."""

    def __init__(self, processes: dict[str, int]) -> None:
        self._processes = processes
        self._seen: dict[str, list[float]] = {name: [] for name in processes}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        page = resource.getpagesize() / 1e6
        while not self._ended.wait(0.1):
            for name, pid in self._processes.items():
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                self._seen[name].append(pages * page)

    def told(self) -> dict[str, list[int]]:
        """Megabytes of each process: the largest in each tenth of the time."""
        return {
            f"megabytes of {name}": [round(max(part)) for part in np.array_split(seen, 10)]
            for name, seen in self._seen.items()
        }


def rank(arguments: argparse.Namespace) -> None:
    with history_in(arguments, arguments.n, 40) as folder:
        model = bl.LabelRanker(labels=LABELS)
        model.features = [f"x{j}" for j in range(10)]
        rng = np.random.default_rng(1)
        X = rng.normal(size=(4000, 10))
        model.learn(X, X[:, :5] > 0.5)
        for _ in range(arguments.runs):
            for n_jobs in (1, 2):
                with temporary(arguments) as out:
                    clock = Clock()
                    made = scale.rank_files(
                        model, folder / "*.parquet", out, engine=LocalEngine(n_jobs)
                    )
                    say(job="rank", n=made.n_rows, workers=n_jobs, **clock.read(n_jobs))
                    assert is_complete(folder, out, model)
            cluster = Dask(2)
            with cluster as engine, temporary(arguments) as out:
                clock = Clock(cluster)
                made = scale.rank_files(model, folder / "*.parquet", out, engine=engine)
                say(job="rank", n=made.n_rows, workers="2 of Dask", **clock.read())
                assert is_complete(folder, out, model)


def is_complete(folder: Path, out: Path, model: Any) -> bool:
    """Whether all files are there with all rows in their order; of each file the first rows are ranked once more."""
    import pandas as pd
    from pyarrow import parquet

    for path in sorted(folder.glob("*.parquet")):
        made = parquet.read_table(out / path.name)
        if made["row"].to_numpy().tolist() != list(range(1, len(made) + 1)):
            return False
        if len(made) != parquet.read_metadata(path).num_rows:
            return False
        some = pd.read_parquet(path, columns=model.features).head(20)
        if made["labels"][:20].to_pylist() != [list(row) for row in model.rank(some)]:
            return False
    return True


@contextmanager
def temporary(arguments: argparse.Namespace) -> Iterator[Path]:
    """For `with`: a folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(dir=arguments.folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def history_in(arguments: argparse.Namespace, n: int, n_files: int) -> Iterator[Path]:
    """For `with`: generated files; with ``--keep`` they stay, and serve the next run."""
    if arguments.keep is None:
        with temporary(arguments) as folder:
            generated(folder, n, n_files)
            yield folder
        return
    folder = Path(arguments.keep) / f"rows-{n}-{n_files}"
    if not folder.exists():
        folder.mkdir(parents=True)
        generated(folder, n, n_files)
    yield folder


def keys(arguments: argparse.Namespace) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    n, few = arguments.n, 6
    tenant = np.repeat(np.arange(n), few + 4)
    rng.shuffle(tenant)
    X = rng.normal(size=(len(tenant), 8))
    common, own = rng.normal(size=(8, 5)), rng.normal(size=(n, 8, 5))
    Y = X @ common + 0.5 * np.einsum("nd,ndk->nk", X, own[tenant]) > 0.5
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    frame[LABELS] = Y
    frame.insert(0, "tenant", tenant)
    place = frame.groupby("tenant").cumcount()
    learned, later = frame[place < few], frame[place >= few]
    folder = Path(tempfile.mkdtemp(dir=arguments.folder))
    learned.to_parquet(folder / "rows.parquet", index=False)
    names = [f"x{j}" for j in range(8)]

    def fresh() -> bl.LabelRanker:
        return bl.LabelRanker(labels=LABELS, learners=[Ridge(), Linear(), Recency(1.0)])

    prior = fresh()
    rest = learned[learned["tenant"] < 200]
    prior.learn(rest[names], rest[LABELS])
    for start_as, model in (("new", fresh()), ("prior", prior)):
        for jobs in arguments.workers:
            store = folder / f"store-{start_as}-{jobs}"
            start = time.perf_counter()
            done = scale.learn_by_key(
                folder / "rows.parquet", key="tenant", store=store, model=model, n_jobs=jobs
            )
            seconds = time.perf_counter() - start
        chosen = later[(later["tenant"] >= 200) & (later["tenant"] < 700)]
        found = scale.ModelStore(store)
        losses = [
            rank_loss(g[LABELS].to_numpy(), found[k].score(g[names]))
            for k, g in chosen.groupby("tenant")
        ]
        size = sum(p.stat().st_size for p in store.glob("??/*.blm")) / max(1, len(found))
        say(
            job="keys",
            start=start_as,
            workers=jobs,
            n_keys=done.n_keys,
            n_rows=done.n_rows,
            seconds=seconds,
            rank_loss=float(np.mean(losses)),
            bytes_per_model=size,
            megabytes=peak_megabytes(),
        )
    shutil.rmtree(folder)


JOBS = {
    "mediamill": mediamill,
    "debtags": debtags,
    "trees": trees,
    "costs": costs,
    "rows": rows,
    "rank": rank,
    "keys": keys,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--groups", type=int, default=10, help="of `rows`")
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--shuffle", type=int, help="seed of the order of mediamill's rows")
    parser.add_argument("--texts", help="folder of debtags")
    parser.add_argument("--folder", help="where temporary files go")
    parser.add_argument("--keep", help="where generated histories go, to be used again")
    arguments = parser.parse_args()
    JOBS[arguments.job](arguments)


if __name__ == "__main__":
    main()
