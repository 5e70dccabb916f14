"""What a set of labels is chosen for."""

from __future__ import annotations

from boostline.contract.numbers import real_number

#: ``"micro-f1"``, ``"macro-f1"``, or the probability above which a label is named.
Aim = str | float

AIMS = ("micro-f1", "macro-f1")


def read_aim(aim: Aim, name: str = "aim") -> Aim:
    """Check an aim; a number comes back as a float in (0, 1)."""
    if isinstance(aim, str):
        if aim not in AIMS:
            raise ValueError(
                f"{name} is {aim!r}, but must be one of {', '.join(AIMS)}, or a number in (0, 1)"
            )
        return aim
    share = real_number(aim, name, 0, 1)
    if not 0 < share < 1:
        raise ValueError(f"{name} is {aim!r}, but must be in (0, 1)")
    return share
