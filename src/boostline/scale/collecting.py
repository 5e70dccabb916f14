"""`partial`: a worker's rows become statistics."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.contract.numbers import whole_number
from boostline.models import AdaOLMR, Booster, LabelRanker, OnlineBMR
from boostline.scale.partials import Partial
from boostline.scale.row_blocks import RowBlock, row_blocks
from boostline.scale.rules import DealtChain, Rule, rule_for
from boostline.scale.sums import Moments

__all__ = ["Collector", "checked_state", "partial"]


def partial(model: Booster, rows: Any, *, n_parts: int = 1) -> Partial:
    """Make statistics of some rows, to be merged with those of other rows.

    The model does not change. It has learned a sample before, which fixed what all workers must agree on: the scale
    of the features, the kernel's landmarks and its width.

    Parameters
    ----------
    model
        A `LabelRanker`, `AdaOLMR` or `OnlineBMR` that has learned a sample: at least as many rows as its kernel has
        landmarks.
    rows
        ``(X, Y)`` or ``(X, Y, weights)`` in the forms of `LabelRanker.learn`, or an iterable of such blocks.
    n_parts
        How many parts of about this size will be merged. Each remembers its share of the rows that learners look at
        again; with 1 as many as if it were alone, which is more than is needed.

    Returns
    -------
    Partial
        To be passed to `merge` and `finish`.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline import scale
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> model = bl.LabelRanker(4, learners=[bl.learners.Kernel(n_landmarks=50)])
    >>> _ = model.learn(X[:100], X[:100] > 0.5)
    >>> parts = [scale.partial(model, (X[i : i + 150], X[i : i + 150] > 0.5)) for i in (100, 250)]
    >>> merged = scale.finish(model, scale.merge(parts), (X[400:], X[400:] > 0.5))
    >>> merged.clock
    500
    """
    collector = Collector(model, whole_number(n_parts, "n_parts", 1))
    for block in row_blocks(model, rows):
        collector.add(block)
    return collector.result()


class Collector:
    """Statistics that grow block by block."""

    def __init__(self, model: Booster, n_parts: int = 1) -> None:
        arrays, self._base = checked_state(model)
        self._n_features, k = int(model.n_features or 0), model.n_labels
        self._rules = rules_of(model, arrays)
        for rule in self._rules.values():
            rule.n_parts = n_parts
        self._n_rows = 0
        self._common: dict[str, Any] = {
            "weight": np.zeros(1),
            "relevant": np.zeros(k),
            "unknown": np.zeros(k),
            "set_sizes": np.zeros(k + 1, np.int64),
            "without_pairs": np.zeros(1, np.int64),
        }
        if any(rule.needs_moments for rule in self._rules.values()):
            self._common["moments"] = Moments.none(self._n_features)

    def add(self, block: RowBlock) -> None:
        """Take in some rows."""
        self._n_rows += block.rows.n
        common, sets = self._common, block.sets
        common["weight"] += block.weights.sum()
        for name, lists in (("relevant", sets.relevant), ("unknown", sets.unknown)):
            weights = block.weights[lists.rows]
            common[name] += np.bincount(lists.values, weights, minlength=sets.n_labels)
        sizes = sets.relevant.sizes[block.has_pairs]
        common["set_sizes"] += np.bincount(sizes, minlength=sets.n_labels + 1)
        common["without_pairs"] += int((~block.has_pairs).sum())
        if "moments" in common:
            common["moments"] = common["moments"] + block.moments()
        for rule in self._rules.values():
            for piece in block.pieces(rule.width):
                rule.add(piece)

    def result(self) -> Partial:
        """All sums."""
        sums = dict(self._common)
        for prefix, rule in self._rules.items():
            sums |= {prefix + name: value for name, value in rule.sums().items()}
        return Partial(self._base, self._n_rows, sums)


def rules_of(model: Booster, arrays: Arrays) -> dict[str, Rule]:
    """The rules of all members that have one, by the prefix of the member's arrays."""
    if isinstance(model, AdaOLMR | OnlineBMR):
        return {"learners.": DealtChain(model, arrays)}
    found = {member.prefix: rule_for(member, arrays) for member in model.members()}
    return {prefix: rule for prefix, rule in found.items() if rule is not None}


def checked_state(model: Any) -> tuple[Arrays, str]:
    """The arrays of a model whose parts can be merged, and their fingerprint."""
    if not isinstance(model, LabelRanker | AdaOLMR | OnlineBMR):
        raise TypeError(
            f"model is of type {type(model).__name__}, but must be a LabelRanker, an AdaOLMR or an OnlineBMR: the "
            "parts of others cannot be merged"
        )
    if model.n_features is None:
        raise ValueError("model has learned no row, but must have learned a sample")
    arrays = model.state()["arrays"]
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).view(np.uint8).data)
    return arrays, digest.hexdigest()
