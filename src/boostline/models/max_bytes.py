"""`LabelRanker(max_bytes=...)`: how the memory of a model is divided among its learners.

Learners know how much they take at the most (`Description.most_bytes`), how to be smaller, and whether they keep to a
cap. The bounds hold for rows without a single zero; `memory_usage` counts what a model takes now.
"""

from __future__ import annotations

from collections.abc import Sequence

from boostline.learners.description import OBJECT, Description

_ROWS_OF_BLOCK = 64
# How often learners are made smaller before only those with a cap are left.
_HALVINGS = 5
# What a share of a cap has at least, besides so much for each label.
_LEAST_SHARE, _LEAST_SHARE_OF_LABEL = 2**16, 256


def divided(
    learners: Sequence[Description],
    n_labels: int,
    n_features: int,
    max_bytes: int,
    trials: bool = False,
) -> list[Description]:
    """Make learners smaller, so that a model of them never takes more than ``max_bytes``.

    What the model needs for itself comes first. Learners whose size follows from their settings may have all that is
    left, or one half if there are learners with a cap. They are made smaller until they fit, or else left out. Those
    with a cap divide the rest. With ``trials`` two such models fit: after a drift alarm a fresh one is tried.

    Examples
    --------
    >>> from boostline.learners import Kernel
    >>> divided([Kernel()], n_labels=10, n_features=20, max_bytes=2**22)
    [Kernel(n_landmarks=500, ridge=0.2)]
    """
    n_models = 2 if trials else 1
    tries = [list(learners)]
    for _ in range(_HALVINGS):
        tries.append([one.smaller() for one in tries[-1]])
    capped = [kept for one in learners if (kept := one.within())]
    if _shares(capped):
        tries.append(capped)
    needed = 0
    for found in tries:
        own, fixed, least = _needs(found, n_labels, n_features)
        left = max_bytes // n_models - own
        if fixed <= (left // 2 if least else left) and fixed + least <= left:
            return _with_caps(found, left - fixed)
        needed = own + (max(2 * fixed, fixed + least) if least else fixed)
    raise ValueError(
        f"max_bytes is {max_bytes:,}, but must be at least {n_models * needed:,} for a model with "
        f"{n_labels:,} labels and {n_features:,} features"
    )


def recapped(
    learners: Sequence[Description],
    n_labels: int,
    n_features: int,
    max_bytes: int,
    trials: bool = False,
) -> list[Description]:
    """The same learners in a model that has grown: those with a cap give way to the others."""
    n_models = 2 if trials else 1
    own, fixed, least = _needs(learners, n_labels, n_features)
    left = max_bytes // n_models - own - fixed
    if left < least:
        raise ValueError(
            f"max_bytes is {max_bytes:,}, but must be about {n_models * (own + fixed + least):,} for a model of these "
            f"learners with {n_labels:,} labels and {n_features:,} features; make a new one"
        )
    return _with_caps(learners, left, keep_rows=True)


def _needs(learners: Sequence[Description], k: int, d: int) -> tuple[int, int, int]:
    """Bytes of the model itself, of learners without a cap, and the least of those with one."""
    n_votes, shares = sum(one.n_votes for one in learners), _shares(learners)
    # Votes and costs of a row, or of a block, and statistics of each label.
    block = 0 if shares else _ROWS_OF_BLOCK * k * (24 * n_votes + 1)
    own = OBJECT * (4 + n_votes) + k * (64 * n_votes + 512) + block
    fixed = sum(one.uncapped_bytes(k, d) for one in learners)
    return own, fixed, shares * (_LEAST_SHARE + _LEAST_SHARE_OF_LABEL * k)


def _shares(learners: Sequence[Description]) -> int:
    return sum(one.cap_shares for one in learners)


def _with_caps(
    learners: Sequence[Description], left: int, keep_rows: bool = False
) -> list[Description]:
    share = left // max(_shares(learners), 1)
    return [one.capped(share, keep_rows) for one in learners]
