"""Fetching public files with pooch: checked against a SHA-256, limited in size, all or nothing.

pooch writes to a new temporary file beside the target, compares the sum and moves it into place in
one step; it tries again where that may help. What is added here is the limit, the progress and
errors that say which file it is.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from boostline.data.errors import DownloadError, need

#: Seconds without an answer after which a transfer counts as broken.
TIMEOUT = 30.0
#: How often a broken transfer is tried again.
RETRIES = 2


@dataclass(frozen=True)
class RemoteFile:
    """A public file: where it is, how long it is, and its SHA-256.

    With `text`, carriage returns are taken out before the sum is compared (and the file is kept
    without them): the public xml files have CRLF line ends.
    """

    name: str
    url: str
    sha256: str
    size: int
    text: bool = False

    @property
    def limit(self) -> int:
        """Most bytes that an honest answer has."""
        return 2 * self.size if self.text else self.size


class _TooLong(Exception):
    """The server sends more than the file has; no use in trying again."""


class _Watched:
    """A file that is being written: reports how much has arrived, and stops what does not end."""

    def __init__(self, file: IO[bytes], remote: RemoteFile, tell: Callable[[int], None]) -> None:
        self._file, self._remote, self._tell = file, remote, tell
        self._arrived = 0

    def write(self, chunk: bytes) -> None:
        self._arrived += len(chunk)
        if self._arrived > self._remote.limit:
            raise _TooLong(f"sent more than the expected {self._remote.limit} bytes")
        self._file.write(chunk.replace(b"\r", b"") if self._remote.text else chunk)
        self._tell(self._arrived)

    def flush(self) -> None:
        self._file.flush()


_LOG = logging.getLogger("boostline.data")


def fetch(
    file: RemoteFile, target: Path, *, on_progress: Callable[[int], None] = lambda done: None
) -> None:
    """Download `file` to `target`, or raise `DownloadError` and leave no file.

    Parameters
    ----------
    file
        What to fetch, and how to know it.
    target
        Where it goes; the folder is made if need be.
    on_progress
        Called with the number of bytes that have come.

    """
    pooch = need("pooch", "downloading a data set")
    requests = need("requests", "downloading a data set")

    def download(url: str, part: str, _: Any) -> None:
        with open(part, "wb") as opened:
            os.chmod(part, 0o644)  # temporary files are for their owner; public data are not
            watched = _Watched(opened, file, on_progress)
            headers = {"User-Agent": "boostline", "Accept-Encoding": "identity"}
            pooch.HTTPDownloader(timeout=TIMEOUT, headers=headers)(url, watched, None)

    if target.is_dir():  # pooch would put the file into it
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    home = pooch.create(
        target.parent,
        base_url="",
        registry={target.name: f"sha256:{file.sha256}"},
        urls={target.name: file.url},
        retry_if_failed=RETRIES,
    )
    try:
        with _quiet(pooch.get_logger()):
            home.fetch(target.name, downloader=download)
    except requests.ConnectionError as error:
        raise DownloadError(f"cannot be reached: {error}", path=file.url) from error
    except (requests.RequestException, _TooLong, ValueError) as error:
        raise DownloadError(f"cannot be fetched: {error}", path=file.url) from error
    _LOG.info("fetched %s", file.url, extra={"fields": {"url": file.url, "path": str(target)}})


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch's messages off the terminal, where the progress bar is."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
