"""Fetching public files: resumable, checked, size-capped, and all or nothing.

A file grows beside its place as ``<name>.part`` and is moved there in one step, once its length and
SHA-256 are right. A transfer that breaks is taken up where it broke (HTTP Range). Whatever fails
for good leaves nothing behind; only a process that is killed or interrupted leaves its ``.part``,
and the next call goes on with that.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedRandom
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from boostline.data.errors import DownloadError

CHUNK = 64 * 1024
#: Tries in a row that may bring no new byte before a broken transfer is given up.
FRUITLESS_TRIES = 3
#: Tries in all: a server that sends a byte at a time does not hold us for ever.
MOST_TRIES = 50
#: A transfer slower than this (bytes per second, after the first minute) is given up.
LOWEST_RATE = 4096.0


@dataclass(frozen=True)
class RemoteFile:
    """A public file: where it is, how long it is, and its SHA-256.

    With `text`, carriage returns are taken out before length and sum are checked (and the file is
    kept without them): the public xml files have CRLF line ends.
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


class _Broken(Exception):
    """The transfer stopped before its end; going on may help."""


class _Stale(_Broken):
    """The server does not go on from what is there; start anew."""


class _SameSchemeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https or to the scheme it came from, to nothing else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in {"https", old}:
            raise DownloadError(f"is redirected from {old} to {new}, which is refused", path=newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """Build an opener that knows http and https only, no file: and no ftp:."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        _SameSchemeRedirects(),
    ):
        opener.add_handler(handler)
    return opener


def fetch(
    file: RemoteFile,
    target: Path,
    *,
    on_progress: Callable[[int], None] = lambda done: None,
    timeout: float = 30.0,
    pause: float = 0.5,
) -> None:
    """Download `file` to `target`, or raise `DownloadError` and leave nothing.

    Parameters
    ----------
    file
        What to fetch, and how to know it.
    target
        Where it goes; the folder is made if need be.
    on_progress
        Called with the number of bytes that are there.
    timeout
        Seconds without an answer after which a transfer counts as broken.
    pause
        Seconds before a broken transfer is taken up, doubled at each fruitless try.

    """
    with _made_folder(target.parent), _part_file(target) as (part, path):
        leftover = part.seek(0, os.SEEK_END)
        try:
            _fill(file, part, on_progress, timeout, pause)
            found = _sum(file, part)
            if found != file.sha256 and leftover:  # it may have been of another file
                part.truncate(0)
                _fill(file, part, on_progress, timeout, pause)
                found = _sum(file, part)
            if found != file.sha256:
                raise DownloadError(f"has the SHA-256 {found}, not {file.sha256}", path=file.url)
            part.flush()
            os.fsync(part.fileno())
            os.replace(path, target)
        except Exception:
            # A KeyboardInterrupt keeps the part: the user will come back for it.
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            raise


def _fill(
    file: RemoteFile,
    part: BufferedRandom,
    on_progress: Callable[[int], None],
    timeout: float,
    pause: float,
) -> None:
    """Bring `part` to its full length, going on after every break while that helps."""
    fruitless = 0
    for _ in range(MOST_TRIES):
        before = part.seek(0, os.SEEK_END)
        if not file.text and before == file.size:
            return
        try:
            _transfer(file, part, on_progress, timeout)
            return
        except _Broken as reason:
            if isinstance(reason, _Stale):
                part.truncate(0)
            fruitless = 0 if part.seek(0, os.SEEK_END) > before else fruitless + 1
            if fruitless == FRUITLESS_TRIES:
                raise DownloadError(f"the transfer breaks off: {reason}", path=file.url) from reason
            time.sleep(pause * 2**fruitless)
    raise DownloadError(f"the transfer broke off {MOST_TRIES} times", path=file.url)


def _transfer(
    file: RemoteFile, part: BufferedRandom, on_progress: Callable[[int], None], timeout: float
) -> None:
    """One request: append what is missing to `part`."""
    have = part.seek(0, os.SEEK_END)
    headers = {"User-Agent": "boostline", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        answer = _opener().open(urllib.request.Request(file.url, headers=headers), timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            raise _Stale("the server has no such range") from error
        if error.code in {408, 429, 500, 502, 503, 504}:
            raise _Broken(f"the server answers {error.code} {error.reason}") from error
        raise DownloadError(
            f"the server answers {error.code} {error.reason}", path=file.url
        ) from error
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if have:
            raise _Broken(str(reason)) from error
        raise DownloadError(f"cannot be reached: {reason}", path=file.url) from error
    with answer:
        have = _check_answer(file, answer, have, part)
        start = time.monotonic()
        arrived = 0
        while True:
            try:
                chunk = answer.read1(CHUNK)
            except (http.client.HTTPException, OSError) as error:
                raise _Broken(str(error) or type(error).__name__) from error
            if not chunk:
                break
            arrived += len(chunk)
            if have + arrived > file.limit:
                raise DownloadError(
                    f"sends more than the {file.limit} bytes it should have", path=file.url
                )
            part.write(chunk)
            on_progress(have + arrived)
            if (elapsed := time.monotonic() - start) > 60.0 and arrived / elapsed < LOWEST_RATE:
                raise DownloadError(f"sends less than {LOWEST_RATE:.0f} bytes/s", path=file.url)
    promised = answer.headers.get("Content-Length")
    missing = (int(promised) if promised else 0 if file.text else file.size - have) - arrived
    if missing > 0:
        raise _Broken(f"{missing} bytes are missing")


def _check_answer(file: RemoteFile, answer: Any, have: int, part: BufferedRandom) -> int:
    """Look at the head of an answer; return how much of `part` is to be kept."""
    encoding = answer.headers.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        raise DownloadError(f"comes packed as {encoding}, which was not asked for", path=file.url)
    length = answer.headers.get("Content-Length")
    if length is not None and not re.fullmatch(r"\d{1,18}", length):
        raise DownloadError(f"has the Content-Length {length!r}", path=file.url)
    if answer.status == http.HTTPStatus.PARTIAL_CONTENT:
        span = answer.headers.get("Content-Range", "")
        if not have or not span.startswith(f"bytes {have}-"):
            raise _Stale(f"the server answers with the range {span!r}")
    elif answer.status == http.HTTPStatus.OK:
        part.truncate(0)  # the server sends all of it again
        part.seek(0)
        have = 0
    else:
        raise DownloadError(f"the server answers {answer.status}", path=file.url)
    if length is not None:
        whole = have + int(length)
        if whole > file.limit or (not file.text and whole != file.size):
            raise DownloadError(f"is {whole} bytes long, not {file.size}", path=file.url)
    return have


def _sum(file: RemoteFile, part: BufferedRandom) -> str:
    """SHA-256 of what is there; a text loses its carriage returns first."""
    part.seek(0)
    if file.text:
        content = part.read().replace(b"\r", b"")
        part.seek(0)
        part.truncate()
        part.write(content)
        part.flush()
        part.seek(0)
    return hashlib.file_digest(part, "sha256").hexdigest()


@contextmanager
def _made_folder(folder: Path) -> Iterator[None]:
    """Make `folder`; after a failure take away those folders that were made and are empty."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for path in made:
            try:
                path.rmdir()
            except OSError:
                break
        raise


@contextmanager
def _part_file(target: Path) -> Iterator[tuple[BufferedRandom, Path]]:
    """Open ``<target>.part`` for this process alone, or a part of its own while another has it."""
    path = target.with_name(target.name + ".part")
    part = open(path, "a+b")  # noqa: SIM115 (closed below; "a" keeps what is there)
    if not _lock(part) or not _is_at(part, path):
        part.close()
        path = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
        part = open(path, "x+b")  # noqa: SIM115
    with part:
        yield part, path


def _lock(file: BufferedRandom) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows refuses to replace a file that another process holds open
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(file: BufferedRandom, path: Path) -> bool:
    """Whether `file` still is what `path` names: its owner may just have moved it into place."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False
