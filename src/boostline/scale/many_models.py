"""`learn_by_key`: one small model for each key, such as each customer of a service.

Rows are dealt to buckets by a hash of their key, and written to files; then workers take one bucket after the other, so
that memory holds the rows of a bucket and one model, however many keys there are.
"""

from __future__ import annotations

import copy
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.numbers import whole_number
from boostline.data.errors import need
from boostline.display.progress import ProgressLike, show_progress
from boostline.models import Booster
from boostline.saving.atomic import replace_file
from boostline.scale.engines import Engine, LocalEngine, advancing
from boostline.scale.model_store import ModelStore
from boostline.scale.parts import FilePart, describe, refuse_texts, source_parts

__all__ = ["LearnedByKey", "learn_by_key"]

#: Rows of a worker that wait in memory to be written, and rows that a bucket should have.
_CHUNK, _BUCKET = 50_000, 100_000
_SPILL = ".rows-by-key"


@dataclass(frozen=True)
class LearnedByKey:
    """What `learn_by_key` did: keys in all, keys that had nothing new, and rows that were learned."""

    n_keys: int
    n_skipped: int
    n_rows: int


def learn_by_key(
    source: Any,
    *,
    key: str,
    store: Any,
    model: Booster,
    append: bool = False,
    n_jobs: int = 1,
    engine: Engine | None = None,
    n_buckets: int | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> LearnedByKey:
    """Learn a model of its own for each value of a column.

    Parameters
    ----------
    source
        Paths or patterns of Parquet files, or a frame of pandas, Dask or Spark, in the order in which rows are to be
        learned. The columns named as labels of the model are the labels; the key is not a feature.
    key
        The column that says to which model a row belongs. Rows of a key are learned in their order.
    store
        A folder, or a `ModelStore`. Every model is saved at once when its rows are learned; the file is complete or
        as it was.
    model
        What each model starts as: a new model, or one that has learned, whose knowledge all then share.
    append
        False: the source has all rows of each key from the first one on, and rows that a saved model has learned are
        skipped. So the same call continues after any interruption, exactly. True: all rows are new.
    n_jobs, engine
        As in `warm_start`. On a cluster the store must be a folder that all workers share.
    n_buckets
        Number of parts that keys are dealt to; default: such that a part has some 100,000 rows.
    progress
        True, False, None (on a terminal) or a function of (buckets done, buckets in all).
    **options
        As in `boostline.data.stream`.

    Examples
    --------
    >>> import pandas as pd, boostline as bl, tempfile
    >>> from boostline import scale
    >>> rows = pd.DataFrame({"tenant": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
    >>> rows = rows.assign(hot=[1, 0, 1], cold=[0, 1, 0])
    >>> store, start = tempfile.mkdtemp(), bl.LabelRanker(labels=["hot", "cold"])
    >>> scale.learn_by_key(rows, key="tenant", store=store, model=start)
    LearnedByKey(n_keys=2, n_skipped=0, n_rows=3)
    >>> scale.ModelStore(store)["a"].clock
    2
    """
    engine = engine or LocalEngine(n_jobs)
    refuse_texts(model, "rows of keys have features")
    if not hasattr(source, "columns"):
        options["drop"] = [*(options.get("drop") or ()), key]
    engine, parts = source_parts(source, model, engine, **options)
    store = store if isinstance(store, ModelStore) else ModelStore(store)
    spill = store.path / _SPILL
    shutil.rmtree(spill, ignore_errors=True)  # of a call that was interrupted
    spill.mkdir()
    try:
        if n_buckets is None:
            total = sum(n for n, _ in engine.map(describe, parts))
            n_buckets = max(2 * engine.n_workers, -(-total // _BUCKET))
        n_buckets = whole_number(n_buckets, "n_buckets", 1, 65536)
        deals = [_Deal(part, place, key, str(spill), n_buckets) for place, part in enumerate(parts)]
        found = [n for n in engine.map(_deal, deals, 0) if n is not None]
        start = copy.deepcopy(model)
        if start.features is None and found:
            start.features = found[0]
        buckets = [_Bucket(str(spill), b, str(store.path), append) for b in range(n_buckets)]
        with show_progress(progress, "keys", n_buckets, "buckets") as advance:
            done = list(advancing(engine.map(_learn_bucket, buckets, start), advance))
    finally:
        shutil.rmtree(spill, ignore_errors=True)
    return LearnedByKey(*(sum(column) for column in zip(*done, strict=True)))


@dataclass(frozen=True)
class _Deal:
    """Rows to deal to buckets."""

    part: Any
    place: int
    key: str
    folder: str
    n_buckets: int


@dataclass(frozen=True)
class _Bucket:
    """Rows of some keys to learn."""

    folder: str
    number: int
    store: str
    append: bool


def _deal(_: Any, deal: _Deal) -> list[Any] | None:
    """Write the rows of a part to a file for each bucket; return the features."""
    waiting: list[tuple[Any, Any]] = []
    keys: list[NDArray[Any]] = []
    n, chunk, features = 0, 0, None
    for (X, Y), some, names in _with_keys(deal.part, deal.key):
        features = names
        waiting.append((X, Y))
        keys.append(some)
        n += len(some)
        if n >= _CHUNK:
            _write(deal, chunk, waiting, np.concatenate(keys))
            waiting, keys, n, chunk = [], [], 0, chunk + 1
    if waiting:
        _write(deal, chunk, waiting, np.concatenate(keys))
    return features


def _with_keys(part: Any, key: str) -> Iterator[tuple[tuple[Any, Any], NDArray[Any], list[Any]]]:
    """Blocks of rows with their keys and the names of the features."""
    if isinstance(part, FilePart):
        parquet = need("pyarrow.parquet", "learn_by_key")
        if not part.path.endswith((".parquet", ".pq")):
            raise ValueError(f"source has {part.path!r}, but must have Parquet files")
        from boostline.data import stream

        names = stream(part.path, **part.options).features
        column = parquet.read_table(part.path, columns=[key]).column(key).to_pandas()
        first = 0
        for X, Y in part.blocks():
            last = first + X.shape[0]
            dense = Y.toarray() if hasattr(Y, "toarray") else Y  # of very many labels
            yield (X, dense), _key_texts(column.iloc[first:last], part.path, first), names
            first = last
        return
    for before, rows in part.pieces():
        if key not in rows.columns:
            raise ValueError(f"key is {key!r}, but the frame has no such column")
        X, Y = part.read(before, rows.drop(columns=[key]))
        keys = _key_texts(rows[key], f"partition {part.place}", before)
        yield (X.to_numpy(dtype=np.float64), Y.to_numpy(dtype=np.float64)), keys, list(X.columns)


def _key_texts(column: Any, where: str, first: int) -> NDArray[Any]:
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(f"{where}:{first + int(missing.argmax()) + 1}: the key is missing")
    return np.array([str(value) for value in column], dtype=np.str_)


def _write(deal: _Deal, chunk: int, blocks: list[tuple[Any, Any]], keys: NDArray[Any]) -> None:
    X, Y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    distinct, place = np.unique(keys, return_inverse=True)
    hashes = np.array([zlib.crc32(one.encode()) for one in distinct.tolist()], dtype=np.int64)
    bucket = (hashes % deal.n_buckets)[place]
    for b in np.unique(bucket).tolist():
        chosen = np.flatnonzero(bucket == b)
        path = Path(deal.folder) / f"{b:05}-{deal.place:07}-{chunk:05}.npz"
        with replace_file(path) as file:  # a task may be run twice
            np.savez(file, allow_pickle=False, X=X[chosen], Y=Y[chosen], keys=keys[chosen])


def _learn_bucket(start: Booster, bucket: _Bucket) -> tuple[int, int, int]:
    """Learn the keys of a bucket one after the other; numbers of keys, of keys without news, of rows."""
    blocks, keys = [], []
    for path in sorted(Path(bucket.folder).glob(f"{bucket.number:05}-*.npz")):
        with np.load(path) as file:
            blocks.append((file["X"], file["Y"]))
            keys.append(file["keys"])
    if not blocks:
        return 0, 0, 0
    X, Y = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    every = np.concatenate(keys)
    order = np.argsort(every, kind="stable")  # rows of a key stay in their order
    cuts = np.flatnonzero(every[order][1:] != every[order][:-1]) + 1
    store = ModelStore(bucket.store)
    skipped = rows = 0
    groups = np.split(order, cuts)
    for group in groups:
        n = _learn_key(store, str(every[group[0]]), start, X[group], Y[group], bucket.append)
        skipped += n == 0
        rows += n
    return len(groups), skipped, rows


def _learn_key(store: ModelStore, key: str, start: Booster, X: Any, Y: Any, append: bool) -> int:
    from boostline.data.fingerprint import Fingerprint

    mark, done = Fingerprint(), 0
    if key in store:
        model, record = store.load(key)
        saved = {str(n): int(v) for n, v in record.get("checksum", {}).items()}
        if append:
            mark.sums.update(saved)
        else:
            done = int(record.get("rows", 0))
            mark.update(X[:done], Y[:done])
            if done > X.shape[0] or (done and mark.sums != saved):
                raise ValueError(
                    f"the model of {key!r} has learned {done} rows that are not the first ones of the source: pass the "
                    "same rows from the start, or append=True if all are new"
                )
    else:
        model = copy.deepcopy(start)
        record = {}
    n = int(X.shape[0]) - done
    if n == 0:
        return 0
    model.learn(X[done:], Y[done:], return_scores=False)
    mark.update(X[done:], Y[done:])
    total = n + (int(record.get("rows", 0)) if append else done)
    store.save(key, model, {"rows": total, "checksum": dict(mark.sums)})
    return n
