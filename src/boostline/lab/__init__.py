"""What studies the algorithms: the specification, theorems and experiments. The library does not use it.

- `boostline.lab.reference`: the algorithms in plain NumPy, in the paper's order and notation.
- `boostline.lab.theory`: edges, bounds, adversaries, and simulations of the theorems.
- `boostline.lab.reproduce`: the paper's experiments.
- `boostline.lab.synthetic`: problems whose best possible ranking is known.
- `boostline.lab.topk`: the boosters for top-k feedback of the paper's sequel.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boostline.lab import reference, reproduce, synthetic, theory, topk

__all__ = ["reference", "reproduce", "synthetic", "theory", "topk"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"boostline.lab.{name}")
    raise AttributeError(f"module 'boostline.lab' has no attribute {name!r}")
