"""Rows and files for the tests of the command, and the command itself."""

import os
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEATURES = [f"f{i}" for i in range(5)]
LABELS = ["tag_sport", "tag_music", "tag_news", "tag_art"]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "boostline", *map(str, arguments)]


def rows(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(FEATURES))).round(4)
    Y = (X[:, :4] + 0.2 * rng.normal(size=(n, 4)) > 0.4).astype(int)
    return X, Y


def write_csv(path: str | os.PathLike[str], X: NDArray[Any], Y: NDArray[Any]) -> None:
    with open(path, "w") as file:
        file.write(",".join(["id", *FEATURES, *LABELS]) + "\n")
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            file.write(",".join([f"row-{i}", *map(str, x), *map(str, y)]) + "\n")
