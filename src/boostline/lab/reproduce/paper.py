"""What the paper printed: Tables 2 and 3, its edges and its data sets (Section 4)."""

from __future__ import annotations

from dataclasses import dataclass

#: The sets that the paper's two algorithms both ran on. mediamill is asked for by name.
SMALL_SETS = ("emotions", "scene", "yeast", "m-reduced")

# Footnote 3 of the paper. It says "small k" and "large k"; its sets have k = 6, 6, 14 and k = 101.
_EDGES_SMALL_K = (0.2, 0.1, 0.01, 0.001)
_EDGES_LARGE_K = (0.05, 0.01, 0.005, 0.001)
_LARGE_K = 50


@dataclass(frozen=True)
class Data:
    """A row of Table 2: rows, features, labels, and sizes of the relevant sets."""

    n_train: int
    n_test: int
    n_features: int
    n_labels: int
    min_relevant: int
    mean_relevant: float
    max_relevant: int


@dataclass(frozen=True)
class Results:
    """A row of Table 3: rank losses, and runtimes in seconds on one 2.27 GHz Xeon core."""

    batch: float | None
    ada_olmr: float
    ada_olmr_seconds: float
    online_bmr: float | None
    online_bmr_seconds: float | None

    def loss(self, algorithm: str) -> float | None:
        """Rank loss of an algorithm, None where the paper has none."""
        return {"ada_olmr": self.ada_olmr, "online_bmr": self.online_bmr}[algorithm]

    def seconds(self, algorithm: str) -> float | None:
        """Runtime of an algorithm, None where the paper has none."""
        return {"ada_olmr": self.ada_olmr_seconds, "online_bmr": self.online_bmr_seconds}[algorithm]


DATA_SETS: dict[str, Data] = {
    "emotions": Data(391, 202, 72, 6, 1, 1.87, 3),
    "scene": Data(1211, 1196, 294, 6, 1, 1.07, 3),
    "yeast": Data(1500, 917, 103, 14, 1, 4.24, 11),
    "mediamill": Data(30993, 12914, 120, 101, 0, 4.38, 18),
    "m-reduced": Data(1500, 500, 120, 101, 0, 4.39, 13),
}

RESULTS: dict[str, Results] = {
    "emotions": Results(0.1699, 0.1600, 253, 0.1654, 611),
    "scene": Results(0.0720, 0.0881, 341, 0.0743, 1488),
    "yeast": Results(0.1820, 0.1874, 2675, 0.1836, 9170),
    "mediamill": Results(0.0665, 0.0508, 69565, None, None),
    "m-reduced": Results(None, 0.0632, 4148, 0.0630, 288204),
}


def edges_for(n_labels: int) -> tuple[float, ...]:
    """Return the four edges that the paper tried for OnlineBMR with this number of labels.

    Examples
    --------
    >>> edges_for(6), edges_for(101)
    ((0.2, 0.1, 0.01, 0.001), (0.05, 0.01, 0.005, 0.001))
    """
    return _EDGES_LARGE_K if n_labels >= _LARGE_K else _EDGES_SMALL_K
