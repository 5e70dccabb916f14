"""What the description in a file claims, compared with what the file holds, before anything is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boostline.display.tables import size
from boostline.learners import Description, from_config
from boostline.saving.container import ArrayFile
from boostline.saving.errors import LoadError
from boostline.saving.limits import MOST_VOTES, least_bytes, machine_bytes
from boostline.saving.states import by_owner


def check_size(config: dict[str, Any], file: ArrayFile, max_bytes: int | None) -> None:
    """Compare what the description asks for with what the file holds, before anything is allocated."""
    k, d = config["n_labels"], config["n_features"]
    resolved = config["resolved"]
    source = config["learners"] if resolved is None else resolved
    described = {i: from_config(c) for i, c in enumerate(source) if c.get("kind") != "python"}
    votes = sum(one.n_votes for one in described.values()) + len(source) - len(described)
    if votes > MOST_VOTES:
        raise LoadError(f"it has {votes} learners, but at most {MOST_VOTES} are allowed")
    if resolved is not None:
        _check_stored(described, votes, k, d, file)
    needed = least_bytes(list(described.values()), k, None if resolved is None else d)
    limit = machine_bytes() if max_bytes is None else max_bytes
    if needed > limit:
        raise LoadError(
            f"it has {votes} learners and {k} labels, which need {size(needed)}; at most {size(limit)} "
            "are allowed"
        )


def _check_stored(
    described: dict[int, Description], votes: int, n_labels: int, n_features: int, file: ArrayFile
) -> None:
    """What a learner allocates at once is part of its state: the file must hold as much."""
    for name, length in (("label_set_sizes", n_labels + 1), ("learner_weights", votes)):
        entry = file.entries.get(name)
        if entry is None or entry.shape != (length,):
            raise LoadError(
                f"its array {name} does not match {n_labels} labels and {votes} learners"
            )
    names = by_owner(file.entries)
    for i, description in described.items():
        needed = description.least_bytes(n_labels, n_features)
        entries = [file.entries[name] for name in names.get(str(i), [])]
        found = sum(entry.stop - entry.start for entry in entries)
        if needed > found:
            raise LoadError(
                f"learner {i} with {n_labels} labels and {n_features} features has at least {needed} bytes of arrays, "
                f"but the file has {found}"
            )


def check_classes(config: dict[str, Any], learners: Sequence[Any]) -> None:
    """States must not go to learners of another class: that is how a wrong order shows."""
    source = config["learners"] if config["resolved"] is None else config["resolved"]
    wanted = [c["class"] for c in source if c.get("kind") == "python"]
    if len(learners) != len(wanted):
        raise LoadError(
            f"it has {len(wanted)} learners written in Python ({', '.join(map(str, wanted)) or 'none'}), "
            f"but learners= has {len(learners)}; pass these objects in the same order"
        )
    for i, (learner, name) in enumerate(zip(learners, wanted, strict=True)):
        found = type(learner).__qualname__
        if name.rpartition(".")[2] != found.rpartition(".")[2]:
            raise LoadError(f"learners[{i}] is a {found}, but the file's is a {name}")
        if not hasattr(learner, "set_state"):
            raise LoadError(f"learners[{i}], a {found}, has no set_state(state)")
