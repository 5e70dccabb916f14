"""Backup and restore: a store is copied to another path, whole or not at all.

A store is a database, its write-ahead log and a folder of snapshots. Copied file by file they may not fit together: a
newer write-ahead log next to an older database is a damaged database. So the copy is complete and checked before
anything at the target changes, and then takes the target's place. If that is interrupted, the target cannot be opened
until the command has run again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import NamedTuple

from boostline.serve.live.models import Registry
from boostline.serve.store.log import Log, StoreError, connect, restoring
from boostline.serve.store.snapshots import Snapshots, sha256
from boostline.serve.store.store_lock import StoreLock

__all__ = ["Copied", "copy_store"]

#: A service that erases or makes snapshots meanwhile may delete files before they are copied.
_ATTEMPTS = 5


class Copied(NamedTuple):
    """What a copy has."""

    events: int
    snapshots: int


def copy_store(source: str, target: str, *, replace: bool = False) -> Copied:
    """Copy a store, which may be in use, to a path that no service uses."""
    if not os.path.isdir(os.path.dirname(os.path.abspath(target))):
        raise FileNotFoundError(f"the folder of {target} does not exist")
    if os.path.realpath(source) == os.path.realpath(target):
        raise ValueError(f"{source} cannot be copied onto itself; give another path")
    with StoreLock(target):
        if os.path.exists(restoring(target)):
            _put_in_place(target)
        if os.path.lexists(target) and not replace:
            raise FileExistsError(f"{target} exists; give another path, or --replace to lose it")
        part = f"{restoring(target)}-part"
        try:
            copied = _copied(source, part)
            os.rename(part, restoring(target))
        finally:
            shutil.rmtree(part, ignore_errors=True)
        _put_in_place(target)
    return copied


def _copied(source: str, folder: str) -> Copied:
    for attempt in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        try:
            return _copy(source, os.path.join(folder, "store"))
        except StoreError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


def _copy(source: str, path: str) -> Copied:
    with closing(connect(source)) as db, closing(sqlite3.connect(path)) as copy:
        db.backup(copy)
        copy.execute(
            "PRAGMA journal_mode=DELETE"
        )  # one file, which can be read from a read-only disk
    with closing(Log(path)) as log:
        events = log.check()
        theirs, ours = Snapshots(source, log), Snapshots(path)
        os.mkdir(ours.folder)
        n = 0
        for name in Registry(log).models:
            whole = 0
            for snapshot in theirs.of(name):
                whole += _copy_file(theirs.path(snapshot), ours.path(snapshot), snapshot.sha256)
            if not whole:
                raise StoreError(f"the model {name} of {source} has no snapshot that can be read")
            n += whole
    _sync(path)
    return Copied(events, n)


def _copy_file(source: str, target: str, expected: str) -> bool:
    """Copy a snapshot; return whether it has the hash that the log says. If not, no copy stays."""
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        return False
    _sync(target)
    if sha256(target) == expected:
        return True
    os.unlink(target)
    return False


def _put_in_place(target: str) -> None:
    """Let the complete copy take the target's place; goes on where an earlier run was interrupted."""
    folder = restoring(target)
    database, snapshots = os.path.join(folder, "store"), os.path.join(folder, "store.snapshots")
    if os.path.exists(database):
        for end in ("-wal", "-shm", "-journal"):
            if os.path.exists(target + end):
                os.unlink(target + end)
        os.replace(database, target)
    if os.path.exists(snapshots):
        shutil.rmtree(f"{target}.snapshots", ignore_errors=True)
        os.rename(snapshots, f"{target}.snapshots")
    _sync(os.path.dirname(os.path.abspath(target)))
    os.rmdir(folder)


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
