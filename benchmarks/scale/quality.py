"""What is lost if rows are dealt to workers: models of parts of the data against models that learned row by row.

    python benchmarks/scale/quality.py mediamill            # BOOSTLINE_DATA: the paper's data sets; --shuffle SEED
    python benchmarks/scale/quality.py debtags --texts DIR  # DIR/debtags-train.jsonl.gz and -test
    python benchmarks/scale/quality.py trees                # AdaOLMR and OnlineBMR, dealt out to workers

Each prints one JSON object per run. Times are wall-clock seconds with the cluster already up, reading the files
included. Set OPENBLAS_NUM_THREADS=1, so that every process has one thread.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Clock, Dask, say, temporary, write_tables

import boostline as bl
from boostline import scale
from boostline.metrics import precision_at, rank_loss
from boostline.scale.parts import file_parts


def in_sequence(model: bl.LabelRanker, parts: list[Any]) -> bl.LabelRanker:
    for part in parts:
        for X, Y in part.blocks():
            model.learn(X, Y, return_scores=False)
    return model


def mediamill(arguments: argparse.Namespace, folder: Path) -> None:
    from boostline import data

    given = data.load("mediamill")
    labels = [str(name) for name in given.labels]
    order = np.arange(len(given.train.X))
    if arguments.shuffle is not None:
        np.random.default_rng(arguments.shuffle).shuffle(order)
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


def debtags(arguments: argparse.Namespace, folder: Path) -> None:
    from sklearn.datasets import dump_svmlight_file
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
    for i, rows in enumerate(np.array_split(np.arange(X.shape[0]), 4)):
        dump_svmlight_file(X[rows], Y[rows], str(folder / f"{i}.svm"), multilabel=True)
    options = {"labels": len(tags.classes_), "features": X.shape[1], "zero_based": True}
    relevant = U.toarray().astype(bool)

    def fresh() -> bl.LabelRanker:
        return bl.LabelRanker(len(tags.classes_), seed=0)

    def judged(model: bl.LabelRanker) -> dict[str, float]:
        scores = scale.score(model, T)
        first = float(precision_at(relevant, scores, 1))
        return {"precision_at_1": 100 * first, "rank_loss": float(rank_loss(relevant, scores))}

    for _ in range(arguments.runs):
        cluster = Dask(2)
        with cluster as engine:
            clock = Clock(cluster)
            model = scale.warm_start(
                fresh(), folder / "*.svm", engine=engine, n_groups=2, **options
            )
            took = clock.read()
        say(job="debtags", workers=2, **took, **judged(model))
        clock = Clock()
        model = in_sequence(fresh(), file_parts(folder / "*.svm", fresh(), **options))
        say(job="debtags", workers="in sequence", **clock.read(), **judged(model))


def trees(arguments: argparse.Namespace, _: Path) -> None:
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


JOBS = {"mediamill": mediamill, "debtags": debtags, "trees": trees}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--shuffle", type=int, help="seed of the order of mediamill's rows")
    parser.add_argument("--texts", help="folder of debtags")
    arguments = parser.parse_args()
    with temporary() as folder:
        JOBS[arguments.job](arguments, folder)


if __name__ == "__main__":
    main()
