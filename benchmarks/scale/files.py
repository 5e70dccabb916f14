"""Rankings of many files with one process and with two.

    python benchmarks/scale/files.py --n 2000000

As `quality.py` otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from generated import LABELS, history_in
from measuring import Clock, Dask, say, temporary

import boostline as bl
from boostline import scale
from boostline.scale.engines import LocalEngine


def rank(arguments: argparse.Namespace) -> None:
    with history_in(arguments.n, 40, arguments.keep) as folder:
        model = bl.LabelRanker(labels=LABELS)
        model.features = [f"x{j}" for j in range(10)]
        rng = np.random.default_rng(1)
        X = rng.normal(size=(4000, 10))
        model.learn(X, X[:, :5] > 0.5)
        for _ in range(arguments.runs):
            for n_jobs in (1, 2):
                with temporary() as out:
                    clock = Clock()
                    made = scale.rank_files(
                        model, folder / "*.parquet", out, engine=LocalEngine(n_jobs)
                    )
                    say(job="rank", n=made.n_rows, workers=n_jobs, **clock.read(n_jobs))
                    assert is_complete(folder, out, model)
            cluster = Dask(2)
            with cluster as engine, temporary() as out:
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", help="where generated histories go, to be used again")
    rank(parser.parse_args())


if __name__ == "__main__":
    main()
