"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file, to write and to read, that takes the place of ``path`` when the block ends well, else vanishes.

    What was at ``path`` stays untouched until then. Where the system can do it (Linux), the file has no name while it
    is written, so that not even ``kill -9`` leaves half of it behind.
    """
    target = os.path.realpath(path)  # a link stays a link
    folder = os.path.dirname(target)
    part = os.path.join(folder, f".{secrets.token_hex(8)}.blm-part")
    handle, is_named = _create(folder, part)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            os.fsync(file.fileno())
            if not is_named:
                _give_name(file.fileno(), folder, part)
                is_named = True
        os.replace(part, target)
    except BaseException:
        if is_named:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)
        raise
    _sync_folder(folder)


def _create(folder: str, part: str) -> tuple[int, bool]:
    """A new file, without a name if possible; its permissions are those of any new file."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # not every file system has it
            return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666), False
    return os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666), True


def _give_name(handle: int, folder: str, part: str) -> None:
    # Only with a folder's handle does Python ask the system to follow the link in /proc to the file itself.
    folder_handle = os.open(folder, os.O_RDONLY)
    try:
        name = os.path.basename(part)
        os.link(f"/proc/self/fd/{handle}", name, dst_dir_fd=folder_handle, follow_symlinks=True)
    finally:
        os.close(folder_handle)


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
