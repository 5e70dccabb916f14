"""Committees made small, so that tests reach every state of their members soon."""

from boostline.learners import (
    Committee,
    Kernel,
    Linear,
    Neighbours,
    OutputNeighbours,
    Ridge,
    SlidingWindow,
    Tracker,
)
from boostline.learners.scorer import Scorer

NAMES = (
    "kernel",
    "linear",
    "ridge",
    "neighbours",
    "output_neighbours",
    "forgetting_ridge",
    "recent_kernel",
    "recent_linear",
    "tracker",
)


def committee(
    *names: str,
    n_landmarks: int = 64,
    n_replays: int = 16,
    memory: int = 4000,
    n_neighbours: int = 40,
    seed: int | None = None,
    few_features: int = 512,
) -> Committee:
    """The default's members, or those with these names, with a few settings shared by all that have them."""
    members: dict[str, Scorer] = {
        "kernel": Kernel(n_landmarks),
        "linear": Linear(n_replays, memory, seed=seed),
        "ridge": Ridge(),
        "neighbours": Neighbours(n_neighbours, memory),
        "output_neighbours": OutputNeighbours(n_neighbours=n_neighbours, memory=memory),
        "forgetting_ridge": Ridge(forgetting=0.99),
        "recent_kernel": SlidingWindow(Kernel(), length=50),
        "recent_linear": SlidingWindow(Linear(min(n_replays, 4), memory, seed=seed), length=70),
        "tracker": Tracker(),
    }
    return Committee([members[name] for name in names or NAMES], few_features)
