"""A store at the start of the service: made if it is new, recovered if it is not."""

from __future__ import annotations

import json
import os
from typing import Any

from boostline.serve.fold import Fold
from boostline.serve.label_names import LabelNames
from boostline.serve.log import Log, StoreError, connect, create
from boostline.serve.snapshots import Snapshots
from boostline.serve.writer import Entry, Writer

__all__ = ["FIRST", "is_new", "open_store", "recovered", "start_of"]

#: The name of a store's first model.
FIRST = "first"


def is_new(path: str) -> bool:
    """Whether there is nothing in the store yet."""
    if not os.path.exists(path):
        return True
    connect(path).close()
    log = Log(path)
    try:
        return log.head()[0] == 0
    finally:
        log.close()


def open_store(path: str, model: Any) -> None:
    """Make a new store that begins with a model."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder} for --store")
    if not os.path.exists(path):
        create(path)
    if model.labels is not None:
        model.rename_labels({label: str(label) for label in model.labels})
    fold = Fold(FIRST, model)
    told = Snapshots(path).write(fold)
    writer = Writer(path)
    try:
        body = {"name": FIRST, "labels": fold.labels.names, "snapshot": told}
        writer.write(Entry("begin", body=json.dumps(body).encode()))
    finally:
        writer.close()


def recovered(name: str, log: Log, snapshots: Snapshots, n_threads: int) -> tuple[Fold, list[str]]:
    """A model from its newest snapshot that can be read, and what was wrong with newer ones.

    The events after it are still to be applied.
    """
    complaints: list[str] = []
    for snapshot in reversed(snapshots.of(name)):
        try:
            return snapshots.load(snapshot, n_threads), complaints
        except (OSError, ValueError) as error:
            complaints.append(str(error))
    compacted = max((event.data["up_to"] for event in log.of_kinds("compact")), default=0)
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


def start_of(log: Log, snapshots: Snapshots) -> tuple[LabelNames, int]:
    """Where a model that learns all of the log begins: the labels then, and the offset."""
    if not log.of_kinds("compact"):
        return LabelNames(log.of_kinds("begin")[0].data["labels"]), 0
    if not snapshots.known:
        raise StoreError(f"there is no snapshot in {snapshots.folder}")
    oldest = min(snapshots.known, key=lambda snapshot: snapshot.offset)
    return snapshots.load(oldest).labels, oldest.offset
