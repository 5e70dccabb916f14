"""Words and categories that a model has never seen: missing values, and counted."""

from __future__ import annotations

from collections import Counter

#: Names beyond so many are only counted: a stream may have a new one in every row.
MOST_NAMES = 1000


class Unseen:
    r"""Counts categories and features in the rows of a `stream` that are not known.

    If it is passed to `stream`, unknown values are treated as missing; without it they are errors.

    Attributes
    ----------
    total : int
        Number of unknown values.
    names : Counter
        Number of times that each occurred, for the first 1,000: ``colour=purple`` or the name of a feature.

    Examples
    --------
    >>> import io
    >>> from boostline.data import Unseen, stream
    >>> text = b"colour\nred\npurple\n"
    >>> unseen = Unseen()
    >>> known = {"colour": ["red", "blue"]}
    >>> for X, Y in stream(io.BytesIO(text), format="csv", labels=(), categories=known, unseen=unseen):
    ...     print(X.tolist(), unseen)
    [[1.0, 0.0], [nan, nan]] colour=purple (once)

    """

    def __init__(self) -> None:
        self.total = 0
        self.names: Counter[str] = Counter()

    def add(self, name: str, times: int = 1) -> None:
        """Count it."""
        self.total += times
        if name in self.names or len(self.names) < MOST_NAMES:
            self.names[name] += times

    def __str__(self) -> str:
        shown = [
            f"{name} ({'once' if times == 1 else f'{times:,} times'})"
            for name, times in self.names.most_common(5)
        ]
        more = len(self.names) - len(shown)
        at_least = "at least " if len(self.names) == MOST_NAMES else ""
        return ", ".join(shown) + (f" and {at_least}{more:,} more" if more else "")
