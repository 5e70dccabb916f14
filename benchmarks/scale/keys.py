"""A model for each of many keys.

    python benchmarks/scale/keys.py --n 10000

As `quality.py` otherwise.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from generated import LABELS
from measuring import say, temporary

import boostline as bl
from boostline import scale
from boostline.learners import Linear, Recency, Ridge
from boostline.metrics import rank_loss


def peak_megabytes() -> float:
    """Of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def keys(arguments: argparse.Namespace, folder: Path) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    with temporary() as folder:
        keys(parser.parse_args(), folder)


if __name__ == "__main__":
    main()
