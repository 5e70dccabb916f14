"""How much a model may ask for, before anything is allocated: for users' models and for strangers' files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from boostline.display.tables import size
from boostline.learners import Description

#: The most votes that a model combines: the description of so many learners still fits into a file.
MOST_VOTES = 2**14

# Votes, scores and costs of one round: what a booster holds for every vote and label.
_WORKSPACE_BYTES = 3 * 8
# The least memory of a learner.
_LEARNER_BYTES = 512


def least_bytes(learners: Sequence[Description], n_labels: int, n_features: int | None) -> int:
    """What a model with these learners takes from its first example on; without them if that is yet to come (None)."""
    votes = sum(learner.n_votes for learner in learners)
    needed = votes * (n_labels * _WORKSPACE_BYTES + _LEARNER_BYTES)
    if n_features is not None:
        needed += sum(learner.least_bytes(n_labels, n_features) for learner in learners)
    return needed


def machine_bytes() -> int:
    """The most memory that this process may use: the machine's, or its limit."""
    limits = [2**36]  # not every system says
    with contextlib.suppress(AttributeError, ValueError, OSError):
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # of a container, version 2 and 1
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path("/sys/fs/cgroup", name).read_text()))
    with contextlib.suppress(ImportError, OSError):
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            limits.append(limit)
    return min(limits)


def too_little_memory(learners: Sequence[Description], n_labels: int, n_features: int) -> str:
    """What to say to users whose model does not fit."""
    needed = least_bytes(learners, n_labels, n_features)
    largest = max(learners, key=lambda learner: learner.least_bytes(n_labels, n_features))
    return (
        f"x has {n_features:,} features and the model has {n_labels:,} labels, for which its learners need at least "
        f"{size(needed)} ({type(largest).__name__} the most), but this process can have "
        f"{size(machine_bytes())}; use fewer features (such as HashingVectorizer(n_features=2**14)), fewer "
        "labels, or learners that need less: "
        "Linear(n_hashed=2**14) hashes features, and trees (paper_trees) do not grow with their number"
    )


def too_little_memory_to_grow(n_labels: int, n_features: int, needed: int, held: int) -> str:
    """The error for a model that cannot grow; the larger one is made before the present one goes."""
    return (
        f"there is no memory for a model with {n_labels:,} labels and {n_features:,} features: growing needs at least "
        f"{size(needed)} in addition to the present model's {size(held)}, and this process can have "
        f"{size(machine_bytes())}; the model is as it was"
    )
