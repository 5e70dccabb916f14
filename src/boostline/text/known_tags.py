"""The tags that a text model knows, and the places that they have in its booster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from boostline.text.told import checked_tags

# The compiled model has room for tags to come, because making room takes a copy of it: at least this many places, and
# one for every 8 known tags.
LEAST_SPARE, _SPARE_SHARE = 16, 8


class KnownTags:
    """Names of tags in the order in which they became known; a tag's place in it is its label in the booster."""

    def __init__(self, tags: Any, name: str) -> None:
        self.names = checked_tags(tags, name)
        self._places = {tag: i for i, tag in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, tag: str) -> bool:
        return tag in self._places

    def place(self, tag: str) -> int:
        """The place of a tag that is known."""
        return self._places[tag]

    def add(self, tags: Iterable[str]) -> None:
        """Add tags that are not known yet."""
        for tag in tags:
            self._places[tag] = len(self.names)
            self.names.append(tag)

    def forget_after(self, n: int) -> None:
        """Keep the first `n` tags only."""
        for tag in self.names[n:]:
            del self._places[tag]
        del self.names[n:]


def with_spare(n: int) -> int:
    """How many labels the booster has for `n` tags."""
    return n + max(LEAST_SPARE, n // _SPARE_SHARE)
