"""The limit of a model's size: a label takes memory for each feature, and requests bring both."""

from __future__ import annotations

from typing import Any

from boostline.serve.errors import Invalid
from boostline.serve.live.features import Features

__all__ = ["SizeLimit"]

#: Bytes that a model takes for each pair of a label and a feature (measured: 13.5 with 2,005 labels, 65,536 features).
_BYTES_OF_PAIR = 16


class SizeLimit:
    """Refuses labels and features that would make a model too large.

    Parameters
    ----------
    most_bytes
        What a model may take.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        #: New features that were accepted and are not learned yet.
        self._coming = 0

    def check(
        self, known: Features, n_labels: int, features: Any = None, *, all_learned: bool = False
    ) -> None:
        """Refuse an example, or labels, that would make the model too large; ``all_learned``: none is on its way."""
        if all_learned:
            self._coming = 0
        new = known.n_new(features)
        width = known.width + self._coming + new
        needed = n_labels * width * _BYTES_OF_PAIR
        if needed > self._most_bytes:
            raise Invalid(
                "features" if new else "relevant",
                f"{n_labels} labels and {width} features would take about {needed / 1e6:.0f} MB, but --max-bytes is "
                f"{self._most_bytes / 1e6:.0f} MB",
            )
        self._coming += new
