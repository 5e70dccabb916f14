"""yeast out of river's wheel, put back into MULAN's order.

river 0.26 and later ship yeast as a csv whose first 917 rows are MULAN's test rows and whose next
1500 rows are its train rows; columns and values are MULAN's.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from boostline.data.dataset import Dataset
from boostline.data.errors import DataError
from boostline.data.source import LineReader, open_bytes

N_TRAIN, N_TEST = 1500, 917
FEATURES = [f"Att{number}" for number in range(1, 104)]
LABELS = [f"Class{number}" for number in range(1, 15)]


def find_river_yeast() -> Path | None:
    """Path of yeast in an installed river, without importing river; None if it has none."""
    spec = find_spec("river")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "datasets" / "yeast.csv.gz"
        if path.is_file():
            return path
    return None


def load_river_yeast(path: Path, name: str = "yeast") -> Dataset:
    """Read river's csv and return it as MULAN's train and test rows."""
    with open_bytes(path) as file:
        lines = list(LineReader(file, str(path)))
    header = lines[0].decode().strip().split(",")
    if header != FEATURES + LABELS:
        raise DataError("does not have the columns of MULAN's yeast", path=str(path), line=1)
    table = np.loadtxt(lines[1:], delimiter=",", ndmin=2)
    if len(table) != N_TRAIN + N_TEST:
        raise DataError(f"has {len(table)} rows, not {N_TRAIN + N_TEST}", path=str(path))
    table = np.concatenate([table[N_TEST:], table[:N_TEST]])
    width = len(FEATURES)
    return Dataset(table[:, :width].copy(), table[:, width:] == 1, N_TRAIN, LABELS, FEATURES, name)
