"""Streams: the rows of `load` in blocks, from any file or standard input, in constant memory."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

from boostline import data

LABELS = ["l0", "l1", "l2"]
FORMATS = [
    "a.arff",
    "sparse.arff",
    "a.arff.gz",
    "a.csv",
    "a.csv.gz",
    "a.parquet",
    "a.svm",
    "a.jsonl",
]


def numbers(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    X = np.round(random.normal(size=(n, 4)), 3) * (random.random((n, 4)) < 0.7)
    X[:, 3] = 1.0
    X[0, 0] = 0.0
    return X, random.random((n, 3)) < 0.4


def write(folder: Path, name: str, n: int) -> Path:
    """Write the same rows in the format that `name` says."""
    X, Y = numbers(n)
    path = folder / name
    kind = name.removesuffix(".gz").split(".")[-1]
    if kind == "arff":
        lines = ["@relation r"] + [f"@attribute f{j} numeric" for j in range(4)]
        lines += [f"@attribute {label} {{0,1}}" for label in LABELS] + ["@data"]
        for row in np.hstack([X, Y]):
            if name.startswith("sparse"):
                pairs = [f"{j} {value:g}" for j, value in enumerate(row) if value]
                lines.append("{" + ",".join(pairs) + "}")
            else:
                lines.append(",".join(f"{value:g}" for value in row))
        text = "\n".join(lines) + "\n"
    elif kind in {"csv", "parquet"}:
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(4)])
        frame[LABELS] = Y.astype(int)
        if kind == "parquet":
            frame.to_parquet(path, row_group_size=37)
            return path
        text = frame.to_csv(index=False)
    elif kind == "svm":
        buffer = io.BytesIO()
        dump_svmlight_file(X, Y.astype(int), buffer, multilabel=True, zero_based=False)
        text = buffer.getvalue().decode()
    else:
        rows = (
            {
                "features": {f"f{j}": value for j, value in enumerate(x) if value},
                "labels": [LABELS[label] for label in np.flatnonzero(y)],
            }
            for x, y in zip(X.tolist(), Y, strict=True)
        )
        text = "\n".join(map(json.dumps, rows))
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def options(name: str) -> dict[str, object]:
    """What a reader has to be told before it has seen a row."""
    if name.endswith("svm"):
        return {"labels": 3, "features": 4}
    if name.endswith("jsonl"):
        return {"labels": LABELS, "features": ["f0", "f1", "f2", "f3"]}
    return {"labels": LABELS}


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("block", [1, 7, 100, 1000])
def test_blocks_are_the_rows_of_the_file(name: str, block: int, tmp_path: Path) -> None:
    path = write(tmp_path, name, 100)
    X, Y = numbers(100)
    labels = None if name.endswith(("svm", "jsonl")) else LABELS  # these two are looked through
    stream = data.stream(path, block=block, labels=labels)
    for _ in range(2):  # a file can be walked again
        blocks = list(stream)
        assert [len(dense(b.Y)) for b in blocks] == [block] * (100 // block) + [100 % block] * (
            100 % block > 0
        )
        order = [stream.features.index(f) for f in sorted(stream.features)]
        np.testing.assert_allclose(np.vstack([dense(b.X) for b in blocks])[:, order], X)
        np.testing.assert_array_equal(np.vstack([dense(b.Y) for b in blocks]), Y)
    assert stream.n_features == 4 and stream.n_labels == 3
    whole = data.load(path, labels=labels)
    np.testing.assert_array_equal(dense(whole.X), np.vstack([dense(b.X) for b in blocks]))
    sparse = name in {"sparse.arff", "a.svm", "a.jsonl"}
    assert scipy.sparse.issparse(whole.X) == sparse and scipy.sparse.issparse(blocks[0].X) == sparse


@pytest.mark.parametrize("name", ["a.arff", "a.csv", "a.parquet"])
def test_labels_and_other_columns_may_be_chosen_by_the_header(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, 10)
    seen: list[list[str]] = []

    def labels(columns: list[str]) -> list[str]:
        seen.append(columns)
        return [column for column in columns if column.startswith("l")]

    loaded = data.load(path, labels=labels, drop=lambda columns: columns[1:3])
    assert seen == [["f0", "f1", "f2", "f3", *LABELS]]
    assert loaded.labels == LABELS and loaded.features == ["f0", "f3"]
    if name != "a.arff":
        coded = data.load(
            path, labels=labels, categories=lambda columns: {columns[3]: ["1.0", "1"]}
        )
        assert coded.features == ["f0", "f1", "f2", "f3=1.0", "f3=1"]


def test_rows_come_one_by_one(tmp_path: Path) -> None:
    X, Y = numbers(10)
    stream = data.stream(write(tmp_path, "a.csv", 10), labels=LABELS, block=3)
    assert repr(stream) == "Stream('a', csv, blocks of 3, 4 features, 3 labels)"
    rows = list(stream.rows())
    np.testing.assert_array_equal([x for x, _ in rows], X)
    np.testing.assert_array_equal([relevant for _, relevant in rows], Y)


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name in FORMATS if "parquet" not in name])
def test_standard_input(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, 50)
    kind = {"svm": "svmlight"}.get(extension := name.removesuffix(".gz").split(".")[-1], extension)
    script = f"""
        import sys
        from boostline import data
        stream = data.stream("-", format={kind!r}, block=8, **{options(name)!r})
        print(stream.name, sum(float(X.sum()) + float(Y.sum()) for X, Y in stream))
        try:
            list(stream)
        except ValueError as error:
            print(error)
        print(sys.stdin.buffer.closed)
    """
    with open(path, "rb") as file:
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            stdin=file,
            capture_output=True,
            text=True,
            check=True,
        )
    first, again, closed = run.stdout.splitlines()
    X, Y = numbers(50)
    assert float(first.split()[-1]) == pytest.approx(X.sum() + Y.sum())
    assert again == "standard input has been read already, and can be read only once"
    assert closed == "False"


@pytest.mark.process
def test_parquet_does_not_come_from_a_pipe() -> None:
    script = "from boostline import data; data.stream('-', format='parquet', labels=['a'])"
    run = subprocess.run(
        [sys.executable, "-c", script], input=b"PAR1", capture_output=True, check=False
    )
    assert b"standard input: cannot be read as a stream: parquet needs a file" in run.stderr


LIVE = {
    "arff": ("@relation r\n@attribute x real\n@attribute y {0,1}\n@data\n1,0\n2,1\n", "3,0\n", {}),
    "csv": ("x,y\n1,0\n2,1\n", "3,0\n", {}),
    "jsonl": (
        '{"features": [1], "labels": []}\n{"features": [2], "labels": ["y"]}\n',
        '{"features": [3], "labels": []}\n',
        {"features": ["0"]},
    ),
}


@pytest.mark.process
@pytest.mark.parametrize("kind", LIVE)
def test_rows_are_handed_out_before_the_input_ends(kind: str) -> None:
    """A block comes when its rows are there, whatever may still follow."""
    first, last, told = LIVE[kind]
    script = f"""
        from boostline import data
        for X, Y in data.stream("-", format={kind!r}, labels=["y"], block=2, **{told!r}):
            print(X.tolist(), flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as run:
        assert run.stdin is not None and run.stdout is not None
        watchdog = threading.Timer(120.0, run.kill)
        watchdog.start()
        run.stdin.write(first.encode())
        run.stdin.flush()
        assert run.stdout.readline() == b"[[1.0], [2.0]]\n"
        run.stdin.write(last.encode())
        run.stdin.close()
        assert run.stdout.readline() == b"[[3.0]]\n"
        watchdog.cancel()


TIMES = 10
MEASURE = """
    from boostline import data
    def peak():  # of this process: getrusage would begin with that of the one that started it
        status = open("/proc/self/status").read()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    def walk(path, **options):
        return sum(X.shape[0] for X, Y in data.stream(path, block=512, **options))
    options = {options!r}
    walk({small!r}, **options)
    before = peak()
    rows = walk({large!r}, **options)
    print(rows, peak() - before)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "name", ["a.arff.gz", "sparse.arff", "a.csv", "a.parquet", "a.svm", "a.jsonl"]
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    """Ten times the rows, 6 MiB of X alone: less than 1.5 MiB more at the peak."""
    kind = name.split(".", 1)[1]
    small, large = tmp_path / f"small.{kind}", tmp_path / f"large.{kind}"
    whole = write(tmp_path, name, 20_000)
    repeat(whole, small, 1)
    repeat(whole, large, TIMES)
    script = textwrap.dedent(MEASURE).format(
        options=options(name), small=str(small), large=str(large)
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    rows, grown = run.stdout.split()
    assert int(rows) == 20_000 * TIMES
    assert float(grown) < 1.5, f"{grown} MiB more"


def repeat(source: Path, target: Path, times: int) -> None:
    """Write the rows of `source` `times` over, without holding them."""
    if source.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(source)
        with pq.ParquetWriter(target, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table)
        return
    content = source.read_bytes()
    packed = source.suffix == ".gz"
    text = gzip.decompress(content) if packed else content
    start = {"arff": text.find(b"@data\n") + 6, "csv": text.find(b"\n") + 1}
    head = start.get(target.name.removesuffix(".gz").split(".")[-1], 0)
    with gzip.open(target, "wb", 1) if packed else open(target, "wb") as file:
        file.write(text[:head])
        for _ in range(times):
            file.write(text[head:].rstrip(b"\n") + b"\n")


def test_blocks_need_a_row() -> None:
    with pytest.raises(ValueError, match="block is 0, but must be at least 1"):
        data.stream("a.csv", labels=["y"], block=0)


def test_damage_in_a_later_block_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,0\n" * 10 + "1,5\n")
    walked = 0
    with pytest.raises(data.DataError, match=r"a\.csv:12: the label 'y' has '5'"):
        for X, _ in data.stream(path, labels=["y"], block=4):
            walked += len(X)
    assert walked == 8
