"""What each learner of the default is worth, on train rows: ``python benchmarks/ablation.py --out ablation.json``.

A set gives its train rows, shuffled: the model learns two thirds, scores the last third without learning it (frozen),
and then learns it row by row (learning). beijing-air gives stretches of rows in order instead. A generated stream
counts with its second half, learning. No test row is read. Each learner of the default is left out, and used alone
(with the members whose scores it reads, if it reads any). The table shows the rank losses; those of a variant minus
those of the default, all times 10,000. ``mean`` is over all columns.

``--build NAME`` measures instead the default of the code that is imported and files it under NAME, with log losses and
times: that compares two versions, or a constant changed by hand. A run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import drift
import numpy as np

import boostline as bl
import boostline.text
from boostline import metrics
from boostline.learners import Committee, Recency
from boostline.learners.committee import MEMBERS, auto_mix

#: Rows of a shuffle at most, of sets that have more.
SETS = {
    "emotions": 400,
    "scene": 1300,
    "yeast": 1500,
    "m-reduced": 1500,
    "mediamill": 2400,
    "enron": 1200,
    "bibtex": 2400,
    "slashdot": 2000,
    "ng20": 2400,
    "beijing-air": 3000,
}
STREAMS = {
    "rotating 6k": lambda seed: drift.rotating(seed, 6000),
    "rotating 60k": lambda seed: drift.rotating(seed, 60_000),
    "network": drift.network_turning,
    "walking": drift.inputs_walking,
    "turns": drift.taking_turns,
    "bursts": lambda seed: bursts(seed)[:2],
}
#: Only for `--build`: the text model on raw text.
TEXTS = ("debtags",)


def bursts(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten bursts of 400 rows with labels of other rows; last, which rows these are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(drift.ROWS, 12))
    pairs = X[:, rng.permutation(12)] * X
    Z = X @ rng.normal(size=(12, 8)) + pairs @ rng.normal(size=(12, 8)) / 2
    Y = Z > 2.5
    wrong = np.arange(drift.ROWS) % 2000 < 400
    Y[wrong] = rng.permutation(Y[wrong])
    return X, Y, wrong


def train_rows(name: str, seed: int) -> tuple[Any, Any]:
    """Rows that a shuffle may use."""
    n, rng = SETS[name], np.random.default_rng([seed, 11])
    if name in ("slashdot", "ng20", "beijing-air"):
        folder = Path(os.environ["BOOSTLINE_DATA"]) / name
        held = np.load(folder / ("all.npz" if name == "beijing-air" else f"{name}.npz"))
        X, Y = held["X"].astype(float), held["Y"].astype(float)
        if name == "beijing-air":  # its first 60 % are train rows
            first = rng.integers(6 * len(X) // 10 - n)
            return X[first : first + n], Y[first : first + n]
        order = np.random.default_rng(0).permutation(len(X))[: 2 * len(X) // 3]
        rows = rng.permutation(order)[:n]
        return X[rows], Y[rows]
    data = bl.data.load(name)
    rows = rng.permutation(data.n_train)[:n]
    return data.X[rows], data.Y[rows]


def loss(Y: Any, scores: np.ndarray) -> float:
    return float(np.nanmean(metrics.rank_loss_rows(Y, scores)))


def learn(model: Any, X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Scores and probabilities from before each row was learned."""
    parts = [
        model.learn_with_probabilities(X[at : at + 500], Y[at : at + 500])
        for at in range(0, Y.shape[0] if hasattr(Y, "shape") else len(Y), 500)
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def measure(name: str, seed: int, learners: Any) -> dict[str, float]:
    if name in TEXTS:
        return measure_text(name, seed)
    if name in STREAMS:
        X, Y = STREAMS[name](seed)
        n = len(Y) // 2
    else:
        X, Y = train_rows(name, seed)
        n = 2 * Y.shape[0] // 3
    model = bl.LabelRanker(Y.shape[1], learners=learners, seed=seed)
    start = time.process_time()
    learn(model, X[:n], Y[:n])
    found = {"learn us": 1e6 * (time.process_time() - start) / n}
    tail = Y[n:]
    if name in SETS:
        start = time.process_time()
        frozen, likely = model.scores_and_probabilities(X[n:])
        found["score us"] = 1e6 * (time.process_time() - start) / len(frozen)
        found |= {"frozen": loss(tail, frozen), "frozen log": metrics.log_loss(tail, likely)}
    scores, likely = learn(model, X[n:], tail)
    judged = ~bursts(seed)[2][n:] if name == "bursts" else slice(None)
    found |= {"learning": loss(tail[judged], scores[judged])}
    found |= {"learning log": metrics.log_loss(tail[judged], likely[judged])}
    return found


def measure_text(name: str, seed: int) -> dict[str, float]:
    import gzip

    with gzip.open(
        Path(os.environ["BOOSTLINE_DATA"]) / name / f"{name}-train.jsonl.gz", "rt"
    ) as file:
        rows = [json.loads(line) for line in file]
    rows = [rows[i] for i in np.random.default_rng([seed, 11]).permutation(len(rows))]
    n = 2 * len(rows) // 3
    labels = sorted({label for row in rows for label in row["labels"]})
    texts, tags = [row["text"] for row in rows], [set(row["labels"]) for row in rows]
    Y = np.array([[label in tagged for label in labels] for tagged in tags])
    model = bl.text.TextRanker(labels=labels, seed=seed)
    for at in range(0, n, 500):
        model.learn(texts[at : min(at + 500, n)], tags[at : min(at + 500, n)])
    scores, likely = model.scores_and_probabilities(texts[n:])
    found = {"frozen": loss(Y[n:], scores), "frozen log": metrics.log_loss(Y[n:], likely)}
    scores, likely = learn(model, texts[n:], tags[n:])
    return found | {
        "learning": loss(Y[n:], scores),
        "learning log": metrics.log_loss(Y[n:], likely),
    }


def variants() -> Iterator[tuple[str, Any]]:
    yield "default", "auto"
    (committee, *recencies) = auto_mix()
    assert isinstance(committee, Committee)
    for member, name in zip(MEMBERS, committee.names, strict=True):
        yield f"without {name}", [Committee([m for m in MEMBERS if m is not member]), *recencies]
    for one in recencies:
        yield f"without {title(one)}", [committee, *(r for r in recencies if r is not one)]
    for member, name in zip(MEMBERS, committee.names, strict=True):
        yield (
            f"{name} alone",
            [Committee([m for m in MEMBERS if m is member or m.name in member.reads])],
        )
    for one in recencies:
        yield f"{title(one)} alone", [one]


def title(one: Any) -> str:
    return f"recency {one.decay:g}" if isinstance(one, Recency) else one.kind


def seeds_of(name: str, n: int) -> range:
    return range(n * (2 if SETS.get(name, 9999) < 2000 else 1))  # small sets: more shuffles


def show(kept: dict[str, Any], names: Sequence[str], n_seeds: int) -> None:
    columns = [
        (c, w) for c in names for w in (("learning", "frozen") if c in SETS else ("learning",))
    ]
    print("| | " + " | ".join(f"{c} {w[0]}" for c, w in columns) + " | mean |")
    print("|---" * (len(columns) + 2) + "|")
    base: np.ndarray | None = None
    for variant, runs in kept.items():
        if any(f"{c} {s}" not in runs for c in names for s in seeds_of(c, n_seeds)):
            continue
        row = [
            np.mean([runs[f"{c} {s}"].get(w, np.nan) for s in seeds_of(c, n_seeds)])
            for c, w in columns
        ]
        values = np.array([*row, np.mean(row)])
        if base is None:
            base, cells = values, [f"{v:.4f}"[1:] for v in values]
        else:
            cells = [f"{1e4 * v:+.0f}" for v in values - base]
        print(f"| {variant} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=[*SETS, *STREAMS], help="sets and streams")
    parser.add_argument(
        "--shuffles", type=int, default=2, help="twice as many for sets of less than 2,000 rows"
    )
    parser.add_argument("--only", default="", help="variants whose name contains this")
    parser.add_argument("--build", help="measure the default of this code only, under this name")
    parser.add_argument("--out", type=Path, help="JSON; what it has already is not measured again")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop measuring after so many")
    given = parser.parse_args()
    out, start = given.out, time.monotonic()
    kept: dict[str, Any] = json.loads(out.read_text()) if out and out.exists() else {}
    for variant, learners in [(given.build, "auto")] if given.build else variants():
        if variant != "default" and given.only not in variant:
            continue
        runs = kept.setdefault(variant, {})
        for name in given.names:
            for seed in seeds_of(name, given.shuffles):
                key = f"{name} {seed}"
                if key not in runs and time.monotonic() - start < given.seconds:
                    runs[key] = measure(name, seed, learners)
                    if out:
                        out.write_text(json.dumps(kept, indent=1))
    show(kept, [n for n in given.names if n not in TEXTS], given.shuffles)


if __name__ == "__main__":
    main()
