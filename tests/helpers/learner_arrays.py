"""The arrays of one learner, by their own names."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def learner_arrays(model: Any, i: int = 0) -> dict[str, NDArray[Any]]:
    prefix = f"learners.{i}."
    arrays = model.state()["arrays"]
    return {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
