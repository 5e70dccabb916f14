"""Writes the golden files. Run it when the state of a model or a learner changes, and say why in the commit.

    PYTHONPATH=tests/helpers python tests/saving/golden/make.py

The expected scores are not kept. For the paper's algorithms the test computes them with `boostline.lab.reference`, the
NumPy twin; the others must go on as a model that was never saved, and their counts of labels are computed by hand.
"""

from pathlib import Path

import numpy as np
from committees import committee

import boostline as bl
from boostline.lab import reference
from boostline.saving import save

K, D = 4, 5
#: Models, and the rows that each has learned. With 64 landmarks the kernel has frozen them after 240 rows; after 40 it
#: has fitted 32 and added 8.
ROWS = {"ada_olmr": 240, "online_bmr": 240, "bmr_edge_auto": 240, "mix": 240, "mix_early": 40}
TWINS = ("ada_olmr", "online_bmr")
DECAYS = (1.0, 0.9, 0.5)
SEED = 2**63 + 11  # above 2**63: seeds are not signed
TREES = [
    dict(
        grace_period=3.0 + i,
        split_confidence=0.2,
        tie_threshold=0.4,
        weight_scale=4.0 + 0.5 * i,
        features=tuple((i + j) % D for j in range(3)),
    )
    for i in range(6)
]
LABELS = ["sport", "politics", "music", "Wetter, größer"]


def rows(first, n):
    """A stream from a formula, so that no generator has to stay the same for ever."""
    t = np.arange(first, first + n, dtype=np.float64)[:, None]
    X = np.sin(t * (1.0 + np.arange(D) * 0.37) + 0.01 * t**2 / (1 + np.arange(D)))
    X[(t[:, 0] % 17) == 5, 2] = np.nan
    Y = np.stack([X[:, 0] > 0.2, X[:, 1] > 0, X[:, 3] < -0.1, X[:, 4] > 0.5], axis=1)
    weights = 0.5 + 0.5 * np.cos(t[:, 0]) ** 2
    return X, Y, weights


def compiled(name):
    """The model as new."""
    if name.startswith("mix"):  # the default, made small
        small = committee(n_replays=2, memory=50, n_neighbours=5)
        learners = [small, *map(bl.learners.Recency, DECAYS)]
        return bl.LabelRanker(labels=LABELS, learners=learners, seed=SEED)
    learners = [bl.learners.HoeffdingTree(**settings) for settings in TREES]
    if name == "ada_olmr":
        return bl.AdaOLMR(labels=LABELS, learners=learners, seed=SEED)
    edge = "auto" if name == "bmr_edge_auto" else 0.05
    return bl.OnlineBMR(labels=LABELS, learners=learners, edge=edge, seed=SEED)


def learned(name):
    """The model as the golden file should have it."""
    model = compiled(name)
    X, Y, weights = rows(0, ROWS[name])
    model.learn(X, Y, weight=weights)
    return model


def twin(algorithm):
    learners = [reference.HoeffdingTree(K, **settings) for settings in TREES]
    if algorithm == "ada_olmr":
        return reference.AdaOLMR(K, learners, SEED)
    return reference.OnlineBMR(K, learners, 0.05)


if __name__ == "__main__":
    for name, n_rows in ROWS.items():
        path = Path(__file__).parent / f"{name}.blm"
        save(learned(name), path, {"rows": n_rows, "note": "golden"})
        print(path.name, path.stat().st_size)
