"""How much memory learners take at the most, and how one cap for a whole model is divided among them.

The figures are upper bounds, for rows without a single zero: what a learner has now, `memory_usage` counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from boostline.learners.committee import Committee
from boostline.learners.composite_scorers import (
    MOST_SWEPT,
    Generations,
    OutputNeighbours,
    Stack,
)
from boostline.learners.description import Description
from boostline.learners.python import FromPython
from boostline.learners.scorers import (
    Centroids,
    Kernel,
    Linear,
    Neighbours,
    Recency,
    Ridge,
    Scorer,
    SparseLinear,
    Tracker,
)
from boostline.learners.trees import HoeffdingTree

#: Of the whole: for the examples that are learned anew when the stream has changed.
RECENT_SHARE = 1 / 16
_RECENT_ROWS = 256

# Rows of a block, which are learned together.
_BLOCK = 64
# What a learner takes whatever its size: objects, and vectors that are hardly used.
_OBJECT = 2**12
# A row that is kept: its place, its importance, its length.
_ROW = 64
# An entry of a row takes 12 bytes; what holds them has up to two and a half times the room.
_ENTRY = 32
# How often sizes are halved before a member is left out.
_HALVINGS = 5
# Caps of learners in generations are halved no further.
_LEAST_HALVED = 2**20
# How the learners that have a cap share what is left, and what each needs, beside so much for each label.
_PARTS: dict[type[Description], int] = {SparseLinear: 3, Centroids: 1, HoeffdingTree: 1}
_LEAST_PART, _LEAST_PART_OF_LABEL = 2**16, 256


def _least_squares(n: int, k: int) -> int:
    """Of n inputs and k outputs: weights, packed covariance, and the gains that wait to be subtracted from it."""
    return n * (8 * n + 16 * k + 48 * _BLOCK) + 32 * k


def _rows(n: int, d: int, k: int) -> int:
    return n * (_ENTRY * d + 2 * k + _ROW)


def _fixed_bytes(scorer: Scorer, k: int, d: int) -> int:
    """What a scorer takes at the most that has no cap of its own."""
    match scorer:
        case Recency():
            return _OBJECT + 16 * k
        case Ridge():
            return _OBJECT + _least_squares(d + 1, k) + 8 * (8 + _BLOCK) * (d + 1)
        case Tracker():
            return _OBJECT + 8 * (k + 8) * (d + 2) + 64 * d
        case Stack():
            return _OBJECT + _least_squares(k + 1, k) + 8 * (8 + _BLOCK) * (k + 1)
        case Kernel(n_landmarks=n):
            # The packed covariance; weights, targets and renewed scores; entries; the kernel of a block, and gains that
            # wait.
            of_row = 6 * n + 28 * k + 24 * d + 36 * _BLOCK + _ROW
            return _OBJECT + n * of_row + 8 * (2 * _BLOCK + 16) * d + 32 * k
        case Linear(memory=n):
            width = scorer.n_hashed or d
            return _OBJECT + width * (16 * (k + 16) + 256) + _rows(n + _BLOCK, width, k) + 64 * k
        case Neighbours(memory=n):
            points = (n + _BLOCK) * (8 * d + 4 * _BLOCK + 16)
            return _OBJECT + _rows(n + _BLOCK, d, k) + points + 512 * d + 32 * k
        case OutputNeighbours(memory=n):
            points = (n + _BLOCK) * (8 * k + 4 * _BLOCK + 16 + k + _ROW)
            # Rows that the kernel keeps for it, and scores on their way from there.
            swept = 4 * min(n * d, MOST_SWEPT) + 8 * _BLOCK * (4 * k + 8)
            return _OBJECT + points + swept + 512 * k
        case Generations(of=of, length=length):
            old, young = (_fixed_bytes(_no_larger(of, n * length), k, d) for n in (2, 1))
            return _OBJECT + old + young
        # In generations each of the two has this cap for itself.
        case SparseLinear(max_bytes=n) | Centroids(max_bytes=n):
            return _OBJECT + n
        case _:
            raise TypeError(
                f"learners has {type(scorer).__name__}, whose memory has no known limit, so max_bytes must be None"
            )


def _no_larger(scorer: Scorer, n: int) -> Scorer:
    """The same with at most n landmarks and rows."""
    match scorer:
        case Kernel():
            return dataclasses.replace(scorer, n_landmarks=min(scorer.n_landmarks, max(n, 32)))
        case Linear() | Neighbours() | OutputNeighbours():
            return dataclasses.replace(scorer, memory=min(scorer.memory, max(n, 1)))
        case Generations():
            return dataclasses.replace(scorer, of=_no_larger(scorer.of, n))
    return scorer


def _halved(scorer: Scorer) -> Scorer:
    """The same with half as many landmarks and rows."""
    match scorer:
        case Kernel():
            return _no_larger(scorer, scorer.n_landmarks // 2)
        case Linear() | Neighbours() | OutputNeighbours():
            return _no_larger(scorer, scorer.memory // 2)
        case Generations(of=SparseLinear() | Centroids() as of):
            smaller = max(of.max_bytes // 2, min(of.max_bytes, _LEAST_HALVED))
            return dataclasses.replace(scorer, of=dataclasses.replace(of, max_bytes=smaller))
        case Generations():
            return dataclasses.replace(scorer, of=_halved(scorer.of))
    return scorer


def _own_bytes(n_votes: int, k: int, takes_blocks: bool) -> int:
    """What a model has for itself: votes and costs of a row, or of a block, and what is known of each label."""
    block = _BLOCK * k * (24 * n_votes + 1) if takes_blocks else 0
    return _OBJECT * (4 + n_votes) + k * (64 * n_votes + 512) + _RECENT_ROWS * (k + _ROW) + block


def most_entries(max_bytes: int) -> int:
    """The longest row that is kept in case the stream has changed."""
    return int(max_bytes * RECENT_SHARE) // (_RECENT_ROWS * 2 * _ENTRY)


def divided(
    learners: Sequence[Description], n_labels: int, n_features: int, max_bytes: int
) -> list[Description]:
    """Make learners smaller, so that a model of them never takes more than ``max_bytes``.

    What the model needs for itself comes first. Of what is left, learners whose size follows from their settings
    may have all, or one half if there are learners with a cap of their own; landmarks and rows are halved until they
    fit, and if that is not enough, these learners are left out. The rest is divided among those with a cap:
    `SparseLinear` has three parts, `Centroids` and trees one each.

    Parameters
    ----------
    learners
        Concrete descriptions: see `Description.resolve`.

    Examples
    --------
    >>> from boostline.learners import Kernel
    >>> divided([Kernel()], n_labels=10, n_features=20, max_bytes=2**22)
    [Kernel(n_landmarks=500, ridge=0.2)]
    """
    best, needed = _division(learners, n_labels, n_features, max_bytes)
    if best is None:
        raise ValueError(
            f"max_bytes is {max_bytes:,}, but must be at least {needed:,} for a model with {n_labels:,} labels and "
            f"{n_features:,} features"
        )
    return best


def recapped(
    learners: Sequence[Description], n_labels: int, n_features: int, max_bytes: int
) -> list[Description]:
    """The same learners in a model that has grown: those with a cap give way to the others."""
    parts = _parts(learners)
    own = _own_bytes(_n_votes(learners), n_labels, not parts) + int(max_bytes * RECENT_SHARE)
    fixed = _fixed(learners, n_labels, n_features)
    left = max_bytes - own - fixed
    missing = (_LEAST_PART + _LEAST_PART_OF_LABEL * n_labels) * parts - left
    if missing > 0:
        raise ValueError(
            f"max_bytes is {max_bytes:,}, but must be about {max_bytes + missing:,} for a model of these learners "
            f"with {n_labels:,} labels and {n_features:,} features; make a new one"
        )
    return _with_caps(learners, left // parts if parts else 0, keep_rows=True)


def caps(learner: Description) -> list[int]:
    """The cap of each vote; 0 for none."""
    return [
        one.max_bytes if isinstance(one, SparseLinear | Centroids) else 0
        for one in _scorers(learner)
    ]


def _division(
    learners: Sequence[Description], k: int, d: int, max_bytes: int
) -> tuple[list[Description] | None, int]:
    """The learners that fit, or None and how many bytes would do."""
    tries = [_shrunk(learners, n) for n in range(_HALVINGS + 1)]
    capped_alone = _without_fixed(learners)
    if capped_alone:
        tries.append(capped_alone)
    needed = 0
    for found in tries:
        own = _own_bytes(_n_votes(found), k, not _parts(found)) + int(max_bytes * RECENT_SHARE)
        fixed, parts = _fixed(found, k, d), _parts(found)
        least = (_LEAST_PART + _LEAST_PART_OF_LABEL * k) * parts
        left = max_bytes - own
        if fixed <= (left // 2 if parts else left) and fixed + least <= left:
            return _with_caps(found, (left - fixed) // parts if parts else 0), 0
        own -= int(max_bytes * RECENT_SHARE)
        needed = own + (max(2 * fixed, fixed + least) if parts else fixed)
    return None, int(needed / (1 - RECENT_SHARE)) + 1


def _scorers(learner: Description) -> Sequence[Description]:
    return learner.members if isinstance(learner, Committee) else [learner]


def _n_votes(learners: Sequence[Description]) -> int:
    return sum(learner.n_votes for learner in learners)


def _parts(learners: Sequence[Description]) -> int:
    return sum(_PARTS.get(type(one), 0) for learner in learners for one in _scorers(learner))


def _fixed(learners: Sequence[Description], k: int, d: int) -> int:
    total = 0
    for learner in learners:
        few = learner.few_features if isinstance(learner, Committee) else d
        for one in _scorers(learner):
            if type(one) in _PARTS or isinstance(one, FromPython):
                continue  # learners written in Python are not counted in a model's memory
            if not isinstance(one, Scorer):
                raise TypeError(
                    f"learners has {type(one).__name__}, whose memory has no known limit, so max_bytes must be None"
                )
            total += _fixed_bytes(one, k, min(d, few) if one.is_for_few_features else d)
    return total


def _shrunk(learners: Sequence[Description], times: int) -> list[Description]:
    def smaller(one: Description) -> Description:
        for _ in range(times):
            one = _halved(one) if isinstance(one, Scorer) else one
        return one

    return _changed(learners, smaller)


def _without_fixed(learners: Sequence[Description]) -> list[Description]:
    """The learners that have a cap, and those that need next to nothing."""
    out: list[Description] = []
    for learner in learners:
        kept = tuple(one for one in _scorers(learner) if type(one) in _PARTS)
        if isinstance(learner, Committee) and kept:
            out.append(dataclasses.replace(learner, members=kept))  # type: ignore[arg-type]
        elif kept or isinstance(learner, Recency | FromPython):
            out.append(learner)
    return out if _parts(out) else []


def _with_caps(
    learners: Sequence[Description], part: int, keep_rows: bool = False
) -> list[Description]:
    def capped(one: Description) -> Description:
        n = part * _PARTS.get(type(one), 0)
        match one:
            case SparseLinear():
                n = min(n, one.max_bytes)
                memory = one.memory if keep_rows else max(1, min(one.memory, n // 2**11))
                return dataclasses.replace(one, max_bytes=n, memory=memory)
            case Centroids():
                return dataclasses.replace(one, max_bytes=min(n, one.max_bytes))
            case HoeffdingTree():
                return dataclasses.replace(one, max_bytes=min(n, one.max_bytes or n))
        return one

    return _changed(learners, capped)


def _changed(
    learners: Sequence[Description], change: Callable[[Description], Description]
) -> list[Description]:
    """The same with each learner, or each member of a committee, changed."""
    return [
        dataclasses.replace(one, members=tuple(map(change, one.members)))  # type: ignore[arg-type]
        if isinstance(one, Committee)
        else change(one)
        for one in learners
    ]
