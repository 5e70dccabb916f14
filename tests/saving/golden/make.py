"""Makes the golden files of the present format. Run it once when the format changes, and keep the old files.

    python tests/saving/golden/make.py

The expected scores are not kept: the test computes them with `boostline.reference`, the NumPy twin.
"""

from pathlib import Path

import numpy as np

import boostline as bl
from boostline import reference
from boostline.saving import FORMAT, save

K, D, ROWS = 4, 5, 240
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


def compiled(algorithm):
    learners = [bl.learners.HoeffdingTree(**settings) for settings in TREES]
    if algorithm == "ada_olmr":
        return bl.AdaOLMR(labels=LABELS, learners=learners, seed=SEED)
    return bl.OnlineBMR(labels=LABELS, learners=learners, edge=0.05, seed=SEED)


def twin(algorithm):
    learners = [reference.HoeffdingTree(K, **settings) for settings in TREES]
    if algorithm == "ada_olmr":
        return reference.AdaOLMR(K, learners, SEED)
    return reference.OnlineBMR(K, learners, 0.05)


if __name__ == "__main__":
    for name in ("ada_olmr", "online_bmr"):
        model = compiled(name)
        X, Y, weights = rows(0, ROWS)
        model.learn(X, Y, weight=weights)
        path = Path(__file__).parent / f"format-{FORMAT}-{name}.blm"
        save(model, path, {"rows": ROWS, "note": "golden"})
        print(path, path.stat().st_size)
