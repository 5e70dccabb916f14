"""Real streams in the order of time, for ``benchmarks/live.py``.

The files are described in ``BOOSTLINE_DATA/README.md``, with their sources and licences. How to get each of them:

- arxiv: the metadata of arXiv (CC0), title and abstract of every twelfth paper; staeiou/arxiv_archive on GitHub.
- pkgsrc: the history of NetBSD/pkgsrc on GitHub; the description of each package when it was added.
- nuclei: projectdiscovery/nuclei-templates on GitHub; name and description of each template in the order of commits.
- beijing-air: UCI data set 501, Beijing Multi-Site Air Quality; each station's limits six hours later are the labels.
- debdepends: Debian's package index; it has no clock, and its periods are thousands of rows.

``sample`` needs no file: texts of generated words whose meaning changes slowly.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

STREAMS = (
    "arxiv",
    "pkgsrc labels",
    "pkgsrc depends",
    "nuclei",
    "beijing-air",
    "debdepends",
    "sample",
)


@dataclass
class Stream:
    """Rows in the order of time. ``labels[i]`` are numbers of labels, in the order in which they first occur."""

    name: str
    periods: list[str]  # the month of each row, or "rows 3,000" without a clock
    labels: list[list[int]]
    n_labels: int
    texts: list[str] = field(default_factory=list)  # of a stream of texts
    X: Any = None  # of a stream of tables, with NaN for missing values
    unknown: list[list[int]] = field(default_factory=list)  # labels that nobody knows
    delay: int = 0  # the labels of a row arrive so many rows later

    def __len__(self) -> int:
        return len(self.periods)


def load(name: str, rows: int | None = None) -> Stream:
    """Return the first ``rows`` rows of a stream, all by default."""
    if name == "sample":
        return _sample(rows or 3000)
    folder = os.environ.get("BOOSTLINE_DATA")
    if not folder:
        raise SystemExit(
            "BOOSTLINE_DATA must name the folder of the data sets; `sample` needs none"
        )
    if name == "beijing-air":
        return _air(Path(folder) / name / "all.npz", rows)
    source, _, key = name.partition(" ")
    files = {
        "arxiv": ["arxiv.jsonl.gz"],
        "debdepends": ["debdepends-train.jsonl.gz", "debdepends-test.jsonl.gz"],
    }.get(source, ["all.jsonl.gz"])
    texts, periods, tags = [], [], []
    lines = itertools.chain.from_iterable(map(_lines, (Path(folder) / source / f for f in files)))
    for i, line in enumerate(itertools.islice(lines, rows)):
        row = json.loads(line)
        texts.append(row["text"])
        periods.append(row["time"][:7] if "time" in row else f"rows {i // 1000},000")
        tags.append(row[key or "labels"])
    return _texts(name, texts, periods, tags)


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") as file:
        yield from file


def _texts(name: str, texts: list[str], periods: list[str], tags: list[list[str]]) -> Stream:
    number: dict[str, int] = {}
    labels = [[number.setdefault(tag, len(number)) for tag in dict.fromkeys(row)] for row in tags]
    return Stream(name, periods, labels, len(number), texts=texts)


def _air(path: Path, rows: int | None) -> Stream:
    data = np.load(path)
    X, Y = data["X"][:rows].astype(float), data["Y"][:rows]
    months = (
        (np.datetime64("1970-01-01T00") + data["hour"][:rows]).astype("datetime64[M]").astype(str)
    )
    return Stream(
        "beijing-air",
        list(months),
        [np.flatnonzero(y == 1).tolist() for y in Y],
        Y.shape[1],
        X=X,
        unknown=[np.flatnonzero(np.isnan(y)).tolist() for y in Y],
        delay=6,
    )


def _sample(rows: int) -> Stream:
    """Each label has ten words; every 500 rows one of them moves to the next label, and a label is new."""
    rng = np.random.default_rng(0)
    words = np.arange(200).reshape(20, 10)
    texts, tags = [], []
    for i in range(rows):
        if i % 500 == 499:
            words[:, 0] = np.roll(words[:, 0], 1)
        known = min(20, 14 + i // 500)
        chosen = rng.choice(known, size=rng.integers(1, 3), replace=False)
        terms = [
            *words[chosen].ravel()[rng.integers(10 * len(chosen), size=8)],
            *rng.integers(200, size=4),
        ]
        texts.append(" ".join(f"word{term}" for term in terms))
        tags.append([f"label {c}" for c in chosen])
    return _texts("sample", texts, [f"rows {i // 1000},000" for i in range(rows)], tags)
