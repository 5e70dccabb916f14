"""The labels of a service: their names, which may change, and those that are retired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostline.serve.errors import Invalid

__all__ = ["LONGEST_NAME", "LabelNames", "is_name"]

#: Characters of an id, or of the name of a label or a feature.
LONGEST_NAME = 200


def is_name(text: str) -> bool:
    """Whether requests may use a name."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable()


class LabelNames:
    """Names by index. A label keeps its index for ever; a retired one is neither shown nor learned.

    Examples
    --------
    >>> labels = LabelNames(["sun", "rain"])
    >>> labels.apply({"add": ["snow"], "rename": {"rain": "drizzle"}, "retire": ["sun"]})
    ['snow']
    >>> labels.names, labels.active.tolist()
    (['sun', 'drizzle', 'snow'], [1, 2])
    """

    def __init__(self, names: Sequence[str], retired: Sequence[int] = ()) -> None:
        self.names = list(names)
        self._retired = set(retired)
        self._reindex()

    def _reindex(self) -> None:
        self.index = {name: i for i, name in enumerate(self.names)}
        self.retired = sorted(self._retired)
        self.active = np.array(
            [i for i in range(len(self.names)) if i not in self._retired], np.intp
        )

    def state(self) -> dict[str, Any]:
        return {"names": self.names, "retired": self.retired}

    def copy(self) -> LabelNames:
        return LabelNames(self.names, self.retired)

    def check(self, change: dict[str, Any]) -> None:
        """Refuse a change that cannot be made."""
        names, renames = set(self.names), change.get("rename", {})
        for name in change.get("add", ()):
            if name in names:
                raise Invalid("add", f"has label {name!r}, but it is there already")
            names.add(name)
        for old, new in renames.items():
            if old not in names:
                raise Invalid("rename", f"has label {old!r}, but there is no such label")
            if new in names:
                raise Invalid("rename", f"has the new name {new!r}, but it is taken")
        names = (names - renames.keys()) | set(renames.values())
        for field in ("retire", "restore"):
            for name in change.get(field, ()):
                if name not in names:
                    raise Invalid(field, f"has label {name!r}, but there is no such label")
        trial = self.copy()
        trial.apply(change)
        if len(trial.active) < 2:
            raise Invalid("retire", "would leave fewer than 2 labels, but ranking needs 2")

    def renamed(self, change: dict[str, Any]) -> dict[str, str]:
        """The renamings of a change that can be made: two changes may have met on their way to the log."""
        asked = change.get("rename", {})
        return {o: n for o, n in asked.items() if o in self.index and n not in self.index}

    def apply(self, change: dict[str, Any]) -> list[str]:
        """Make a change; return the labels that are new. What is done already is passed over."""
        new = [name for name in dict.fromkeys(change.get("add", ())) if name not in self.index]
        self.names += new
        self._reindex()
        for old, name in self.renamed(change).items():
            self.names[self.index[old]] = name
        self._reindex()
        index = self.index
        self._retired |= {index[name] for name in change.get("retire", ()) if name in index}
        self._retired -= {index[name] for name in change.get("restore", ()) if name in index}
        self._reindex()
        return new
