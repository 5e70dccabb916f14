"""One server for a store: two would each learn what the other was told, and diverge."""

from __future__ import annotations

import fcntl
import os

from boostline.serve.store.log import StoreError

__all__ = ["StoreLock"]


class StoreLock:
    """Holds a store for this process; the system gives it up when the process ends, however it ends."""

    def __init__(self, store: str | os.PathLike[str]) -> None:
        self._path = f"{os.fspath(store)}.lock"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(self._handle, 32).decode(errors="replace").strip()
            os.close(self._handle)
            raise StoreError(
                f"{store} is in use by process {owner or 'unknown'}, but a store has one server: stop that one, or "
                "give another --store"
            ) from None
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        os.close(self._handle)
