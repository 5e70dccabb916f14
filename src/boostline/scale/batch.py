"""Rows that are only scored: in several processes, on a cluster, from files to files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.contract.numbers import whole_number
from boostline.contract.rows import read_rows
from boostline.data import Unseen
from boostline.data.errors import need
from boostline.data.inputs import Input, rows_to_score
from boostline.display.progress import ProgressLike, show_progress
from boostline.metrics import Metric
from boostline.saving.atomic import replace_file
from boostline.scale.engines import Engine, LocalEngine, advancing
from boostline.scale.parts import FilePart, file_parts, source_parts
from boostline.scale.row_blocks import judged_sets

__all__ = ["Ranked", "evaluate", "rank_files", "score"]

#: Rows that a worker scores at a time.
BLOCK = 1024
#: In the metadata of a file of rankings: of which model and of which file.
_MADE_BY = b"boostline"


def score(model: Any, X: Any, *, n_jobs: int = 1, block: int = BLOCK) -> NDArray[np.float64]:
    """Score rows in several processes.

    Each process gets the model once. For some thousand rows and more: starting a process takes about a second.

    Parameters
    ----------
    model
        Any model of boostline.
    X
        A block of rows, in the forms of `LabelRanker.score`, or of texts for a `TextRanker`.
    n_jobs
        Number of processes; -1 for one per core.
    block
        Rows that are scored at a time.

    Returns
    -------
    scores
        (n, k), the same bits as those of ``model.score(X)``.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline import scale
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = bl.LabelRanker(3)
    >>> _ = model.learn(X, X > 0)
    >>> np.array_equal(scale.score(model, X), model.score(X))
    True
    """
    size = whole_number(block, "block", 1)
    if model.takes_texts:
        if isinstance(X, str) or not hasattr(X, "__len__"):
            raise TypeError(f"X is a {type(X).__name__}, but must be a list of strings")
        texts = list(X)
        pieces: Iterator[Any] = (texts[a : a + size] for a in range(0, len(texts), size))
    else:
        rows = read_rows(X, model.features)
        if rows.is_single:
            raise ValueError("X is one example, but must be a block of rows")
        pieces = (rows.take(slice(a, a + size)) for a in range(0, rows.n, size))
    found = list(LocalEngine(n_jobs).map(_scores, pieces, model))
    return np.concatenate(found) if found else np.zeros((0, model.n_labels))


def _scores(model: Any, rows: Any) -> Any:
    return np.atleast_2d(model.score(rows))


@dataclass(frozen=True)
class Ranked:
    """What `rank_files` did."""

    files: list[str]
    n_rows: int
    n_skipped: int

    def __repr__(self) -> str:
        return f"Ranked(files={len(self.files)}, n_rows={self.n_rows}, n_skipped={self.n_skipped})"


def rank_files(
    model: Any,
    source: Any,
    out: str | os.PathLike[str],
    *,
    top: int = 5,
    keys: Sequence[str] = (),
    text: str | Sequence[str] | None = None,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> Ranked:
    """Rank the labels of all rows of many files.

    Every file becomes a Parquet file of the same name in the folder `out`, with its rows in their order. A file
    appears when it is complete. After an interruption call it again: files that this model has ranked already are
    skipped.

    Parameters
    ----------
    model
        Any model of boostline. Columns are matched by name; additional ones are ignored.
    source
        Paths or patterns of files in any format of `boostline.data.stream`.
    out
        A folder; it is made if need be.
    top
        Labels per row.
    keys
        Columns of Parquet files to copy to the result, such as an id.
    text
        For a `TextRanker`: the column with the text, or several.
    n_jobs, engine, progress
        As in `warm_start`; progress counts files.
    **options
        As in `boostline.data.stream`. What the model has never seen is missing; with ``unseen=None`` it is an error.

    Returns
    -------
    Ranked
        ``files``, ``n_rows``, and ``n_skipped``, the files that were there already.

    Notes
    -----
    Columns of the result: the keys, ``row`` (from 1), ``labels`` and ``scores`` (lists, best first).
    """
    engine = engine or LocalEngine(n_jobs)
    if model.takes_texts:
        options["text"] = text
    elif text is not None:
        raise ValueError(f"text is {text!r}, but the model is no model of texts")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    parts = file_parts(source, model, **{"labels": (), **options})
    targets: dict[str, str] = {}
    for part in parts:
        name = f"{Path(part.path).name.partition('.')[0]}.parquet"
        if (other := targets.get(name)) is not None:
            raise ValueError(
                f"source has {other!r} and {part.path!r}, which would both become {name!r}"
            )
        targets[name] = part.path
    digest = _digest(model)
    wanted = [
        _Ranking(part, str(folder / name), whole_number(top, "top", 1), tuple(keys), digest)
        for part, name in zip(parts, targets, strict=True)
    ]
    with show_progress(progress, "files", len(wanted), "files") as advance:
        made = list(advancing(engine.map(_rank_file, wanted, model), advance))
    return Ranked([one.target for one in wanted], sum(n for n, _ in made), sum(s for _, s in made))


@dataclass(frozen=True)
class _Ranking:
    """A file to rank."""

    part: FilePart
    target: str
    top: int
    keys: tuple[str, ...]
    digest: str

    def mark(self) -> bytes:
        """What a complete result of this call says of itself."""
        found = os.stat(self.part.path)
        size, changed = found.st_size, found.st_mtime_ns
        what = f"{self.digest} {self.part.path} {size} {changed} {self.top} {self.keys}"
        text = self.part.options.get("text")
        return (what if text is None else f"{what} {text}").encode()


def _rank_file(model: Any, wanted: _Ranking) -> tuple[int, bool]:
    """Rows of the result, and whether it was there already."""
    pa, parquet = need("pyarrow", "ranking files"), need("pyarrow.parquet", "ranking files")
    mark = wanted.mark()
    if os.path.exists(wanted.target):
        found = parquet.read_metadata(wanted.target)
        if (found.metadata or {}).get(_MADE_BY) == mark:
            return int(found.num_rows), True
    names = list(range(model.n_labels)) if model.labels is None else list(model.labels)
    label_type = pa.int64() if model.labels is None else pa.string()
    schema = pa.schema(
        [("row", pa.int64()), ("labels", pa.list_(label_type)), ("scores", pa.list_(pa.float64()))]
    )
    copied = parquet.ParquetFile(wanted.part.path) if wanted.keys else None
    if copied is not None:
        known = [copied.schema_arrow.field(key) for key in wanted.keys]
        schema = pa.schema([*known, *schema])
    schema = schema.with_metadata({_MADE_BY: mark})
    values = names if model.labels is None else [str(name) for name in names]
    labels = pa.array(values, label_type)
    n_rows = 0
    with replace_file(wanted.target) as file, parquet.ParquetWriter(file, schema) as writer:
        key_blocks = iter(()) if copied is None else _key_blocks(copied, wanted.keys)
        options = wanted.part.options
        how = {n: v for n, v in options.items() if n in Input.__dataclass_fields__}
        given, unseen = Input(wanted.part.path, **{**how, "labels": None}), Unseen()
        rows = rows_to_score(given, BLOCK, model, {}, options.get("unseen", unseen))
        for X, _ in rows:
            scores = np.atleast_2d(model.score(X))
            count = min(wanted.top, scores.shape[1])
            order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
            best = np.take_along_axis(scores, order, axis=1)
            n = len(scores)
            offsets = pa.array(np.arange(0, (n + 1) * count, count, dtype=np.int32))
            columns = [
                pa.array(np.arange(n_rows + 1, n_rows + n + 1)),
                pa.ListArray.from_arrays(offsets, labels.take(pa.array(order.ravel()))),
                pa.ListArray.from_arrays(offsets, pa.array(best.ravel())),
            ]
            if copied is not None:
                columns = [*next(key_blocks), *columns]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            n_rows += n
        writer.close()
    return n_rows, False


def _key_blocks(file: Any, keys: Sequence[str]) -> Iterator[list[Any]]:
    for batch in file.iter_batches(batch_size=BLOCK, columns=list(keys), use_threads=False):
        yield [batch.column(key) for key in keys]


def _digest(model: Any) -> str:
    state = model.booster.state()
    settings, arrays = {"config": state["config"]}, dict(state["arrays"])
    if model.takes_texts:
        for name, value in {"tags": model.labels, **model.text_features.state()}.items():
            (arrays if isinstance(value, np.ndarray) else settings)[name] = value
    digest = hashlib.blake2b(repr(settings).encode(), digest_size=16)
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).data)
    return digest.hexdigest()


def evaluate(
    model: Any,
    source: Any,
    metrics: str | Metric | Iterable[str | Metric] = ("rank_loss",),
    *,
    n_jobs: int = 1,
    engine: Engine | None = None,
    progress: ProgressLike = None,
    **options: Any,
) -> dict[str, float]:
    """Evaluate a model, which does not learn, on the rows of many files, or of a frame.

    Parameters
    ----------
    model
        Any model of boostline, with names of labels.
    source, n_jobs, engine, progress, **options
        As in `warm_start`; progress counts files.
    metrics
        Names or metrics of `boostline.metrics`.

    Returns
    -------
    dict
        The mean of each metric over all rows, and ``n``, their number.
    """
    engine = engine or LocalEngine(n_jobs)
    engine, parts = source_parts(source, model, engine, **options)
    from boostline.evaluate.judged_models import make_metrics

    made = make_metrics(metrics)
    with show_progress(progress, "parts", len(parts), "parts") as advance:
        items = [(part, made) for part in parts]
        found = list(advancing(engine.map(judge, items, model), advance))
    return means(made, found)


def means(
    metrics: Sequence[Metric], found: Sequence[tuple[int, dict[str, float]]]
) -> dict[str, float]:
    """Means over all rows, of what `judge` found in parts of them."""
    n = sum(count for count, _ in found)
    if n == 0:
        raise ValueError("source has no rows")
    return {m.name: sum(c * v[m.name] for c, v in found if c) / n for m in metrics} | {"n": n}


def judge(model: Any, item: tuple[Any, list[Metric]]) -> tuple[int, dict[str, float]]:
    """Number of rows of a part, and the means of metrics over them."""
    part, metrics = item
    mine = [metric.fresh() for metric in metrics]
    for X, Y in part.blocks():
        scores = np.atleast_2d(model.score(X))
        sets = judged_sets(model, Y, len(scores))
        for metric in mine:
            metric.update(sets.is_relevant, scores, sets.is_unknown)
    return mine[0].n, {metric.name: metric.get() for metric in mine}
