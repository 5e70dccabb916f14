"""A store at the start of the service: made if it is new, recovered if it is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from typing import Any

from boostline.serve.live.features import Features
from boostline.serve.live.label_names import LONGEST_NAME, LabelNames, is_name
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.store.log import Log, StoreError, create
from boostline.serve.store.snapshots import Snapshots
from boostline.serve.store.writer import Entry, Writer
from boostline.text import TextRanker

__all__ = ["FIRST", "from_the_start", "is_new", "open_store", "recovered"]

#: The name of a store's first model.
FIRST = "first"


def is_new(path: str) -> bool:
    """Whether there is nothing in the store yet."""
    if not os.path.exists(path):
        return True
    with closing(Log(path)) as log:
        return log.head()[0] == 0


def open_store(path: str, model: Any, *, texts: bool = False) -> None:
    """Make a new store that begins with a model; ``texts``: one that will learn from texts only."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder} for --store")
    state = _first_state(model, texts)
    if (odd := next((name for name in state.labels.names if not is_name(name)), None)) is not None:
        raise ValueError(
            f"labels has {odd[:80]!r}, but must have names of 1 to {LONGEST_NAME} printable characters"
        )
    if not os.path.exists(path):
        create(path)
    snapshot = Snapshots(path).write(state)
    writer = Writer(path)
    try:
        body = {
            "name": FIRST,
            "labels": state.labels.names,
            "retired": state.labels.retired,
            "texts": state.features.form == "text",
            "snapshot": snapshot,
        }
        writer.write(Entry("begin", body=json.dumps(body).encode()))
    finally:
        writer.close()


def _first_state(model: Any, texts: bool) -> ReplicaState:
    if isinstance(model, TextRanker):
        state = ReplicaState(FIRST, model.booster)
        # The model has unused slots for future tags.
        n_spare = model.booster.n_labels - len(model.labels)
        spare = [f"(place {len(model.labels) + i})" for i in range(n_spare)]
        places = range(len(model.labels), model.booster.n_labels)
        state.labels = LabelNames([*model.labels, *spare], places)
        state.features = Features.of_texts(model.text_features)
        return state
    if model.labels is not None:
        model.rename_labels({label: str(label) for label in model.labels})
    state = ReplicaState(FIRST, model)
    if texts:
        state.features = Features.of_texts()
    return state


def recovered(
    name: str, log: Log, snapshots: Snapshots, n_threads: int
) -> tuple[ReplicaState, list[str]]:
    """A model from its newest snapshot that can be read, and what was wrong with newer ones.

    The events after it are still to be applied.
    """
    complaints: list[str] = []
    for snapshot in reversed(snapshots.of(name)):
        try:
            return ReplicaState.load(snapshots.checked(snapshot), n_threads), complaints
        except (OSError, ValueError) as error:
            complaints.append(str(error))
    compacted = log.compacted_to()
    why = "; ".join(complaints) or f"there is no file in {snapshots.folder}"
    raise StoreError(
        f"the model {name} of {log.path} has no snapshot that can be read ({why}), and "
        + (
            f"events up to {compacted} were compacted away"
            if compacted
            else "the log begins with one"
        )
        + ": restore the folder of snapshots from a backup"
    )


def from_the_start(
    name: str, make: Callable[[list[str]], Any], log: Log, snapshots: Snapshots
) -> ReplicaState:
    """A new model that is to learn all that the log has; ``make`` gets the labels of then."""
    begin = log.of_kinds("begin")[0].data
    labels, offset = LabelNames(begin["labels"], begin.get("retired", ())), 0
    if log.compacted_to():
        if not snapshots.known:
            raise StoreError(f"there is no snapshot in {snapshots.folder}")
        oldest = snapshots.known[0]
        labels, offset = ReplicaState.load(snapshots.checked(oldest)).labels, oldest.offset
    state = ReplicaState(name, make(labels.names), offset)
    state.labels = labels
    if begin.get("texts", False):
        state.features = Features.of_texts()
    return state
