"""One server for a store: two would write to it and diverge."""

from __future__ import annotations

import fcntl
import os

from boostline.serve.store.log import StoreError

__all__ = ["StoreLock"]


class StoreLock:
    """Holds a store for this process until `close`, or until the process ends in any way. A context manager."""

    def __init__(self, store: str | os.PathLike[str]) -> None:
        path = os.path.realpath(store)
        if not os.path.isdir(os.path.dirname(path)):
            raise StoreError(f"the folder of {store} does not exist; give a path in one that does")
        if os.path.isfile(path) and os.stat(path).st_nlink > 1:
            raise StoreError(
                f"{store} has a second name (a hard link), under which another server could open it: remove one name"
            )
        self._handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
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

    def __enter__(self) -> StoreLock:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._handle)
