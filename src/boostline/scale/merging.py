"""Statistics of rows: `partial` makes them, `merge` adds them up, `finish` makes a model of them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.array_types import Arrays
from boostline.contract.numbers import whole_number
from boostline.learners.python import FromPython
from boostline.models import AdaOLMR, Booster, LabelRanker, OnlineBMR
from boostline.scale.row_blocks import given_blocks, learned_texts, row_blocks
from boostline.scale.rules import DealtChain, Rule, rule_for
from boostline.scale.sums import Moments, long_row
from boostline.text.features import TextFeatures

__all__ = ["VERSION", "Partial", "finish", "merge", "partial"]

#: Of what `Partial` holds. Workers and the process that merges must agree.
VERSION = 2


@dataclass(frozen=True)
class Partial:
    """What `partial` makes of some rows. It can be pickled, and its size does not depend on the number of rows.

    Attributes
    ----------
    base : str
        Fingerprint of the model that it was made with: only parts of the same model can be merged.
    n_rows : int
        Rows that went into it.
    sums : dict
        Statistics by name, all of which can be added.
    version : int
        Of the content; another version is refused.
    """

    base: str
    n_rows: int
    sums: dict[str, Any]
    version: int = VERSION

    @property
    def n_bytes(self) -> int:
        """What travels from a worker, in bytes."""
        return sum(_bytes(one) for one in self.sums.values())

    def __repr__(self) -> str:
        return f"Partial(n_rows={self.n_rows}, n_bytes={self.n_bytes}, base={self.base[:8]!r})"


def partial(model: Any, rows: Any, *, n_parts: int = 1) -> Partial:
    """Make statistics of some rows, to be merged with those of other rows.

    The model does not change. It has learned a sample before, which fixed what all workers must agree on: the scale
    of the features, the kernel's landmarks and its width.

    Parameters
    ----------
    model
        A `LabelRanker`, `AdaOLMR`, `OnlineBMR` or `TextRanker` that has learned a sample: at least as many rows as its
        kernel has landmarks, and that knows all tags.
    rows
        ``(X, Y)`` or ``(X, Y, weights)`` in the forms of the model's `learn`, or an iterable of such blocks.
    n_parts
        How many parts of about this size will be merged. Each remembers its share of the rows that learners use
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
    features = None
    if model.takes_texts:
        before = model.text_features.state()
        features = TextFeatures.from_state(before)
        rows, model = learned_texts(model, features, rows), model.booster
    arrays, base = _checked_state(model)
    k, n_rows = model.n_labels, 0
    rules = _rules_of(model, arrays)
    for rule in rules.values():
        rule.n_parts = whole_number(n_parts, "n_parts", 1)
    sums: dict[str, Any] = {
        "weight": np.zeros(1),
        "relevant": np.zeros(k),
        "unknown": np.zeros(k),
        "set_sizes": np.zeros(k + 1, np.int64),
        "without_pairs": np.zeros(1, np.int64),
    }
    if any(rule.needs_moments for rule in rules.values()):
        sums["moments"] = Moments.none(int(model.n_features or 0))
    for block in row_blocks(model, rows):
        n_rows += block.rows.n
        sums["weight"] += block.weights.sum()
        for name, lists in (("relevant", block.sets.relevant), ("unknown", block.sets.unknown)):
            sums[name] += np.bincount(lists.values, block.weights[lists.rows], minlength=k)
        sizes = block.sets.relevant.sizes[block.has_pairs]
        sums["set_sizes"] += np.bincount(sizes, minlength=k + 1)
        sums["without_pairs"] += int((~block.has_pairs).sum())
        if "moments" in sums:
            sums["moments"] = sums["moments"] + block.moments()
        for rule in rules.values():
            for piece in block.pieces(rule.width):
                rule.add(piece)
    for prefix, rule in rules.items():
        sums |= {prefix + name: value for name, value in rule.sums().items()}
    if features is not None:
        sums["words"] = _words(features.state()) - _words(before)
    return Partial(base, n_rows, sums)


def merge(partials: Iterable[Partial]) -> Partial:
    """Put parts together. The order changes the result by rounding only.

    Parameters
    ----------
    partials
        Made by `partial` with the same model. They are taken one after the other, so a generator keeps only two in
        memory.

    Examples
    --------
    >>> import numpy as np, boostline as bl
    >>> from boostline import scale
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = bl.LabelRanker(3, learners=[bl.learners.Ridge()])
    >>> _ = model.learn(X[:100], X[:100] > 0)
    >>> parts = [scale.partial(model, (X[i : i + 100], X[i : i + 100] > 0)) for i in (100, 200)]
    >>> scale.merge(parts).n_rows
    200
    """
    merged: Partial | None = None
    for one in partials:
        if not isinstance(one, Partial):
            raise TypeError(f"partials has a {type(one).__name__}, but must have what partial gave")
        if one.version != VERSION:
            raise ValueError(
                f"partials has one of version {one.version}, but must have version {VERSION}: all workers need the "
                "same version of boostline"
            )
        if merged is None:
            merged = one
            continue
        if one.base != merged.base:
            raise ValueError("partials were made with different models, but must be made with one")
        merged = Partial(
            one.base,
            merged.n_rows + one.n_rows,
            {name: value + one.sums[name] for name, value in merged.sums.items()},
        )
    if merged is None:
        raise ValueError("partials is empty, but must have at least one")
    return merged


def finish(model: Any, partial: Partial, tail: Any = ()) -> Any:
    """Make the model that has learned all rows of the statistics, and then the tail.

    Parameters
    ----------
    model
        The model that the statistics were made with; it does not change.
    partial
        Merged statistics of all rows but the sample and the tail.
    tail
        The last rows, ``(X, Y)`` or blocks of them. They are learned one by one: members that forget and the weights
        of all members follow from them. 1,000 to 4,000 rows are enough.

    Returns
    -------
    model
        An ordinary model of the same kind, which can be saved and goes on learning. Its ``clock`` counts all rows.
    """
    if model.takes_texts:
        booster = finish(model.booster, partial)
        state = model.text_features.state()
        words = _words(state) + partial.sums["words"]
        state |= {"columns": words.indices.astype(np.int32), "counts": words.data.astype(np.uint32)}
        state["n_documents"] += partial.n_rows
        finished = type(model).from_parts(booster, {"tags": model.labels, **state})
        for texts, tags, *weights in given_blocks(tail):
            finished.learn(texts, tags, **({"weight": weights[0]} if weights else {}))
        return finished
    arrays, base = _checked_state(model)
    partial = merge([partial])
    if partial.base != base:
        raise ValueError("partial was made with another model, but must be made with this one")
    made = dict(arrays)
    common = {
        name: value for name, value in partial.sums.items() if not name.startswith("learners.")
    }
    common["weight"] = float(common["weight"][0])
    for prefix, rule in _rules_of(model, arrays).items():
        sums = {n.removeprefix(prefix): v for n, v in partial.sums.items() if n.startswith(prefix)}
        rule.finish(sums, common, made)
    made["clock"] = arrays["clock"] + partial.n_rows
    # Only the workers of a chain rank their rows, and send the losses along.
    counted = "label_set_sizes" if isinstance(model, AdaOLMR | OnlineBMR) else "rows_merged"
    sizes = common["set_sizes"]
    made[counted] = arrays[counted] + (sizes.sum() if counted == "rows_merged" else sizes)
    made["rows_without_pairs"] = arrays["rows_without_pairs"] + common["without_pairs"]
    of_python = [d.learner for d in model.learners if isinstance(d, FromPython)]
    finished = type(model).from_config(model.config(), copy.deepcopy(of_python))
    finished.restore({name: np.ascontiguousarray(array) for name, array in made.items()})
    finished.n_threads = model.n_threads
    for block in row_blocks(finished, tail):
        finished.learn(block.rows, block.sets, weight=block.given_weights, return_scores=False)
    return finished


def _rules_of(model: Booster, arrays: Arrays) -> dict[str, Rule]:
    """The rules of all members that have one, by the prefix of the member's arrays."""
    if isinstance(model, AdaOLMR | OnlineBMR):
        return {"learners.": DealtChain(model, arrays)}
    found = {member.prefix: rule_for(member, arrays) for member in model.members()}
    return {prefix: rule for prefix, rule in found.items() if rule is not None}


def _checked_state(model: Any) -> tuple[Arrays, str]:
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


def _words(state: dict[str, Any]) -> Any:
    """In how many texts each word occurred."""
    return long_row(state["columns"].astype(np.int64), state["counts"], state["n_columns"])


def _bytes(value: Any) -> int:
    return int(
        value.data.nbytes + value.indices.nbytes if hasattr(value, "indices") else value.nbytes
    )
