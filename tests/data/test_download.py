"""Downloads against a real server on this machine that breaks, lies and never ends."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import multiprocessing
import os
import shutil
import socket
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from boostline import data
from boostline.data import DownloadError, download, named_sets
from boostline.data.download import RemoteFile, fetch

CONTENT = np.random.default_rng(0).bytes(300_000)
SUM = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers as the path says; the server counts requests and notes the ranges asked for."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)  # type: ignore[attr-defined]
        start = int(asked[6:-1]) if asked else 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, self.path.strip("/").replace("-", "_"))(start)

    def rest(self, start: int, stop: int | None = None) -> None:
        if start:
            span = f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"
            self.head(206, Content_Length=len(CONTENT) - start, Content_Range=span)
        else:
            self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT[start:stop])

    def good(self, start: int) -> None:
        self.rest(start)

    def breaks_often(self, start: int) -> None:
        self.rest(start, start + 100_000)

    def breaks_for_good(self, start: int) -> None:
        self.rest(start, 100_000)

    def resets(self, start: int) -> None:
        """Send some, then have the connection torn down instead of closed."""
        self.rest(start, start + 100_000)
        if start < 200_000:
            self.wfile.flush()
            time.sleep(0.05)
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def byte_by_byte(self, start: int) -> None:
        self.rest(start, start + 1)

    def goes_away(self, start: int) -> None:
        """Send some, then stop listening for good."""
        assert isinstance(self.server, ThreadingHTTPServer)
        self.server.socket.close()
        self.rest(start, 100_000)

    def breaks_without_ranges(self, start: int) -> None:
        """Cut off at first, whole at the third time, always from the beginning."""
        self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT if len(self.server.ranges) == 3 else CONTENT[:5000])  # type: ignore[attr-defined]

    def no_such_range(self, start: int) -> None:
        if start:
            self.head(416, Content_Length=0)
        else:
            self.rest(0)

    def other_range(self, start: int) -> None:
        self.head(206, Content_Length=10, Content_Range="bytes 0-9/300000")
        self.wfile.write(CONTENT[:10])

    def wrong_sum(self, start: int) -> None:
        self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))

    def endless(self, start: int) -> None:
        self.head(200)
        for _ in range(10_000):
            self.wfile.write(CONTENT)
        self.server.endless_ended = True  # type: ignore[attr-defined]

    def endless_chunks(self, start: int) -> None:
        self.head(200, Transfer_Encoding="chunked")
        for _ in range(10_000):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT))

    def wrong_length(self, start: int) -> None:
        self.head(200, Content_Length=10**15)
        self.wfile.write(CONTENT)

    def mad_length(self, start: int) -> None:
        self.head(200, Content_Length="-5")
        self.wfile.write(CONTENT)

    def packed(self, start: int) -> None:
        self.head(200, Content_Encoding="gzip", Content_Length=20)
        self.wfile.write(b"\x1f\x8b" + bytes(18))

    def to_file(self, start: int) -> None:
        self.head(302, Location="file:///etc/passwd", Content_Length=0)

    def to_ftp(self, start: int) -> None:
        self.head(302, Location="ftp://127.0.0.1/x", Content_Length=0)

    def to_good(self, start: int) -> None:
        self.head(302, Location="/good", Content_Length=0)

    def in_circles(self, start: int) -> None:
        self.head(302, Location="/in-circles", Content_Length=0)

    def missing(self, start: int) -> None:
        self.head(404, Content_Length=0)

    def no_content(self, start: int) -> None:
        self.head(204)

    def busy(self, start: int) -> None:
        if len(self.server.ranges) < 3:  # type: ignore[attr-defined]
            self.head(503, Content_Length=0)
        else:
            self.rest(start)

    def silent(self, start: int) -> None:
        time.sleep(1.0)

    def no_http(self, start: int) -> None:
        self.wfile.write(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
        self.close_connection = True

    def crlf(self, start: int) -> None:
        body = b'<labels>\r\n<label name="a"/>\r\n</labels>\r\n'
        self.head(200, Content_Length=len(body))
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    httpd.ranges = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def remote(server: ThreadingHTTPServer, path: str, sha256: str = SUM) -> RemoteFile:
    url = f"http://127.0.0.1:{server.server_address[1]}/{path}"
    return RemoteFile("set-train.arff", url, sha256, len(CONTENT))


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "path", ["good", "to-good", "breaks-often", "resets", "breaks-without-ranges", "busy"]
)
def test_what_arrives_is_whole(server: ThreadingHTTPServer, tmp_path: Path, path: str) -> None:
    target = tmp_path / "new" / "set-train.arff"
    seen: list[int] = []
    fetch(remote(server, path), target, on_progress=seen.append, pause=0.001)
    assert target.read_bytes() == CONTENT
    assert everything_in(tmp_path / "new") == ["set-train.arff"]
    assert seen[-1] == len(CONTENT)


def test_a_broken_transfer_goes_on_where_it_broke(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    fetch(remote(server, "breaks-often"), tmp_path / "a", pause=0.001)
    assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]  # type: ignore[attr-defined]


def test_the_part_of_a_killed_process_is_taken_up(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT[:123_456])
    fetch(remote(server, "good"), tmp_path / "a")
    assert server.ranges == ["bytes=123456-"]  # type: ignore[attr-defined]
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert everything_in(tmp_path) == ["a"]


@pytest.mark.parametrize("path", ["good", "no-such-range"])
def test_a_part_of_something_else_is_thrown_away(
    server: ThreadingHTTPServer, tmp_path: Path, path: str
) -> None:
    (tmp_path / "a.part").write_bytes(b"something else")
    fetch(remote(server, path), tmp_path / "a", pause=0.001)
    assert (tmp_path / "a").read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT + b"more")
    fetch(remote(server, "no-such-range"), tmp_path / "a", pause=0.001)
    assert (tmp_path / "a").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("breaks-for-good", "the transfer breaks off"),
        ("byte-by-byte", "the transfer broke off 50 times"),
        ("goes-away", "the transfer breaks off: .*refused"),
        ("wrong-sum", f"has the SHA-256 .*, not {SUM}"),
        ("endless", "sends more than the 300000 bytes"),
        ("endless-chunks", "sends more than the 300000 bytes"),
        ("wrong-length", "is 1000000000000000 bytes long, not 300000"),
        ("mad-length", "has the Content-Length '-5'"),
        ("crlf", "is 40 bytes long, not 300000"),
        ("packed", "comes packed as gzip"),
        ("to-file", "Redirection to url 'file:.*not allowed"),
        ("to-ftp", "redirected from http to ftp, which is refused"),
        ("in-circles", "302"),
        ("missing", "404"),
        ("no-content", "204"),
        ("other-range", "the transfer breaks off"),
        ("silent", "cannot be reached: timed out"),
        ("no-http", "cannot be reached"),
    ],
)
def test_what_fails_leaves_nothing_behind(
    server: ThreadingHTTPServer, tmp_path: Path, path: str, message: str
) -> None:
    with pytest.raises(DownloadError, match=message):
        fetch(remote(server, path), tmp_path / "cache" / "set" / "a", pause=0.001, timeout=0.3)
    assert everything_in(tmp_path) == []
    assert not hasattr(server, "endless_ended")


def test_a_trickle_is_given_up(
    server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 10**9, 100))  # every look at the clock is 100 seconds later
    monkeypatch.setattr("boostline.data.download.time.monotonic", lambda: float(next(ticks)))
    monkeypatch.setattr(download, "LOWEST_RATE", 1e6)
    with pytest.raises(DownloadError, match="sends less than 1000000 bytes/s"):
        fetch(remote(server, "good"), tmp_path / "cache" / "a")
    assert everything_in(tmp_path) == []


def test_a_failure_keeps_what_was_in_the_cache(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(DownloadError):
        fetch(remote(server, "wrong-sum"), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"


def test_ctrl_c_keeps_the_part(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    def interrupt(done: int) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(remote(server, "good"), tmp_path / "a", on_progress=interrupt)
    kept = (tmp_path / "a.part").read_bytes()
    assert len(kept) > 100_000 and CONTENT.startswith(kept)
    fetch(remote(server, "good"), tmp_path / "a")
    assert server.ranges[-1] == f"bytes={len(kept)}-"  # type: ignore[attr-defined]


def test_an_xml_is_kept_without_carriage_returns(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    plain = b'<labels>\n<label name="a"/>\n</labels>\n'
    url = remote(server, "crlf").url
    file = RemoteFile("set.xml", url, hashlib.sha256(plain).hexdigest(), len(plain), text=True)
    fetch(file, tmp_path / "set.xml")
    assert (tmp_path / "set.xml").read_bytes() == plain


def _fetch_in_process(file: RemoteFile, target: Path) -> None:
    fetch(file, target, pause=0.001)


def test_two_processes_may_fetch_at_once(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    target = tmp_path / "a"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_fetch_in_process, args=(remote(server, "breaks-often"), target))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert target.read_bytes() == CONTENT and everything_in(tmp_path) == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="needs flock")
def test_a_part_that_another_process_holds_is_left_alone(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    import fcntl

    with open(tmp_path / "a.part", "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fetch(remote(server, "good"), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert everything_in(tmp_path) == ["a", "a.part"]


# -- through load ----------------------------------------------------------------------------------

ARFF = b"@relation r\n@attribute x numeric\n@attribute a {0,1}\n@data\n0.5,1\n0.25,0\n"
XML = b'<labels>\n<label name="a"/>\n</labels>\n'


@pytest.fixture
def small_set(server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A named set "small" on the local server, no data folder, an empty cache."""
    bodies = {"small-train.arff": ARFF, "small-test.arff": ARFF, "small.xml": XML}
    files = []
    for name, body in bodies.items():

        def answer(self: Handler, start: int, body: bytes = body) -> None:
            sent = body.replace(b"\n", b"\r\n") if body is XML else body
            self.head(200, Content_Length=len(sent))
            self.wfile.write(sent)

        monkeypatch.setattr(Handler, name.replace("-", "_"), answer, raising=False)
        files.append(
            RemoteFile(
                name,
                remote(server, name).url,
                hashlib.sha256(body).hexdigest(),
                len(body),
                text=name.endswith(".xml"),
            )
        )
    named = named_sets.NamedSet("small", "for the tests", (files[0], files[1], files[2]))
    monkeypatch.setitem(named_sets.NAMED_SETS, "small", named)
    monkeypatch.delenv("BOOSTLINE_DATA", raising=False)
    monkeypatch.setenv("BOOSTLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_set_is_downloaded_once(server: ThreadingHTTPServer, small_set: Path) -> None:
    loaded = data.load("small")
    assert (loaded.n_train, loaded.n_test, loaded.labels) == (2, 2, ["a"])
    assert loaded.X.tolist() == [[0.5], [0.25]] * 2
    assert everything_in(small_set / "small") == [
        "small-test.arff",
        "small-train.arff",
        "small.xml",
    ]
    assert len(server.ranges) == 3  # type: ignore[attr-defined]
    data.load("small")
    assert len(server.ranges) == 3  # type: ignore[attr-defined]
    assert data.available()["small"] == str(small_set / "small")


def test_only_what_the_cache_lacks_is_downloaded(
    server: ThreadingHTTPServer, small_set: Path
) -> None:
    (small_set / "small").mkdir(parents=True)
    (small_set / "small" / "small-train.arff.gz").write_bytes(gzip.compress(ARFF + b"7,1\n"))
    assert data.load("small").n_train == 3
    assert len(server.ranges) == 2  # type: ignore[attr-defined]


def test_the_data_folder_comes_before_the_cache(
    server: ThreadingHTTPServer, small_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.load("small")
    folder = tmp_path / "data"
    monkeypatch.setenv("BOOSTLINE_DATA", str(folder))
    assert data.load("small").n_train == 2  # the folder is not there: the cache serves
    shutil.copytree(small_set / "small", folder / "small")
    (folder / "small" / "small-train.arff").write_bytes(ARFF + b"7,1\n")
    assert data.load("small").n_train == 3
    assert data.available()["small"] == str(folder / "small")


def test_the_finished_part_of_a_killed_process_is_moved_into_place(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT)
    fetch(remote(server, "missing"), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == CONTENT and server.ranges == []  # type: ignore[attr-defined]


def test_a_terminal_shows_progress_and_a_pipe_does_not(
    small_set: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data.load("small")
    assert capfd.readouterr().err == ""
    shutil.rmtree(small_set)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any output for a terminal
    data.load("small")
    shown = capfd.readouterr().err
    assert "small-train.arff" in shown and "small.xml" in shown and "bytes" in shown


def test_offline_the_error_says_what_to_do(server: ThreadingHTTPServer, small_set: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match=r"cannot be reached.*BOOSTLINE_DATA.*put them into"):
        data.load("small")
    assert not small_set.exists()


def test_download_can_be_forbidden(server: ThreadingHTTPServer, small_set: Path) -> None:
    with pytest.raises(DownloadError, match="neither in BOOSTLINE_DATA"):
        data.load("small", download=False)
    assert server.ranges == [] and not small_set.exists()  # type: ignore[attr-defined]


def test_a_cache_that_cannot_be_written_is_named(
    small_set: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("BOOSTLINE_CACHE", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match="cannot be written"):
        data.load("small")
