"""Downloads against a real server on this machine that breaks, lies and never ends."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import multiprocessing
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pooch.core
import pytest

from boostline import data
from boostline.data import DownloadError, download, named_sets
from boostline.data.download import RemoteFile, fetch

CONTENT = np.random.default_rng(0).bytes(300_000)
BOMB = gzip.compress(bytes(20_000_000), 1)
SUM = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Answers as the path says; the server counts the requests."""

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
        self.server.requests += 1  # type: ignore[attr-defined]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            getattr(self, self.path.strip("/").replace("-", "_"))()

    def good(self) -> None:
        self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT)

    def breaks(self) -> None:
        self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT[:100_000])

    def breaks_once(self) -> None:
        self.breaks() if self.server.requests == 1 else self.good()  # type: ignore[attr-defined]

    def busy_at_first(self) -> None:
        if self.server.requests == 1:  # type: ignore[attr-defined]
            self.head(503, Content_Length=0)
        else:
            self.good()

    def wrong_sum(self) -> None:
        self.head(200, Content_Length=len(CONTENT))
        self.wfile.write(CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))

    def endless(self) -> None:
        self.head(200)
        for _ in range(10_000):
            self.wfile.write(CONTENT)
        self.server.endless_ended = True  # type: ignore[attr-defined]

    def endless_chunks(self) -> None:
        self.head(200, Transfer_Encoding="chunked")
        for _ in range(10_000):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT))
        self.server.endless_ended = True  # type: ignore[attr-defined]

    def bomb(self) -> None:
        self.head(200, Content_Encoding="gzip", Content_Length=len(BOMB))
        self.wfile.write(BOMB)

    def wrong_length(self) -> None:
        self.head(200, Content_Length=10**15)
        self.wfile.write(CONTENT)

    def mad_length(self) -> None:
        self.head(200, Content_Length="five")
        self.wfile.write(CONTENT)

    def to_file(self) -> None:
        self.head(302, Location="file:///etc/passwd", Content_Length=0)

    def to_half_an_address(self) -> None:
        self.head(302, Location="http://[::1", Content_Length=0)

    def to_good(self) -> None:
        self.head(302, Location="/good", Content_Length=0)

    def in_circles(self) -> None:
        self.head(302, Location="/in-circles", Content_Length=0)

    def missing(self) -> None:
        self.head(404, Content_Length=0)

    def no_content(self) -> None:
        self.head(204)

    def silent(self) -> None:
        time.sleep(1.0)

    def no_http(self) -> None:
        self.wfile.write(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
        self.close_connection = True

    def crlf(self) -> None:
        body = b'<labels>\r\n<label name="a"/>\r\n</labels>\r\n'
        self.head(200, Content_Length=len(body))
        self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    httpd.requests = 0  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait a second before a transfer is begun anew, nor long for an answer."""
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(download, "TIMEOUT", 0.3)


def remote(server: ThreadingHTTPServer, path: str) -> RemoteFile:
    url = f"http://127.0.0.1:{server.server_address[1]}/{path}"
    return RemoteFile("set-train.arff", url, SUM, len(CONTENT))


def files_in(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if not path.is_dir())
    return sorted(str(path.relative_to(folder)) for path in found)


@pytest.mark.parametrize("path", ["good", "to-good", "breaks-once", "busy-at-first"])
def test_what_arrives_is_whole(server: ThreadingHTTPServer, tmp_path: Path, path: str) -> None:
    target = tmp_path / "new" / "set-train.arff"
    seen: list[int] = []
    fetch(remote(server, path), target, on_progress=seen.append)
    assert target.read_bytes() == CONTENT
    assert files_in(tmp_path) == ["new/set-train.arff"]
    assert seen[-1] == len(CONTENT)
    assert target.stat().st_mode & 0o777 == 0o644  # a cache may be shared


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("breaks", "cannot be (fetched|reached)"),
        ("wrong-sum", f"cannot be fetched: SHA256 hash .* does not match .*{SUM}"),
        ("endless", "sent more than the expected 300000 bytes"),
        ("endless-chunks", "sent more than the expected 300000 bytes"),
        ("bomb", "sent more than the expected 300000 bytes"),
        ("wrong-length", "cannot be (fetched|reached)"),
        ("mad-length", "five"),
        ("crlf", "hash .* does not match"),
        ("no-content", "hash .* does not match"),
        ("to-file", "file:///etc/passwd"),
        ("to-half-an-address", "Invalid IPv6 URL"),
        ("in-circles", "Exceeded 30 redirects"),
        ("missing", "404"),
        ("silent", "cannot be .*timed out"),
        ("no-http", "cannot be reached"),
    ],
)
def test_what_fails_leaves_no_file_behind(
    server: ThreadingHTTPServer, tmp_path: Path, path: str, message: str
) -> None:
    file = remote(server, path)
    with pytest.raises(DownloadError, match=message) as caught:
        fetch(file, tmp_path / "cache" / "set" / "a")
    assert caught.value.path == file.url
    assert files_in(tmp_path) == []
    assert not hasattr(server, "endless_ended")


def test_a_failure_keeps_what_was_in_the_cache(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(DownloadError):
        fetch(remote(server, "wrong-sum"), tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"


def test_links_in_the_cache_are_not_followed(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    """Neither where the file goes, nor where it might be written at first."""
    mine = tmp_path / "mine"
    mine.write_bytes(b"precious")
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("a", "a.part"):
        (cache / name).symlink_to(mine)
    fetch(remote(server, "good"), cache / "a")
    assert mine.read_bytes() == b"precious"
    assert (cache / "a").read_bytes() == CONTENT and not (cache / "a").is_symlink()


def test_a_folder_in_the_place_of_the_file_is_named(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        fetch(remote(server, "good"), tmp_path / "a")
    assert files_in(tmp_path) == []


def test_ctrl_c_leaves_no_file_behind(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(remote(server, "good"), tmp_path / "a", on_progress=interrupt)
    assert files_in(tmp_path) == []


def test_an_xml_is_kept_without_carriage_returns(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    plain = b'<labels>\n<label name="a"/>\n</labels>\n'
    url = remote(server, "crlf").url
    file = RemoteFile("set.xml", url, hashlib.sha256(plain).hexdigest(), len(plain), text=True)
    fetch(file, tmp_path / "set.xml")
    assert (tmp_path / "set.xml").read_bytes() == plain


@pytest.mark.process
def test_two_processes_may_fetch_at_once(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    target = tmp_path / "a"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=fetch, args=(remote(server, "good"), target)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert target.read_bytes() == CONTENT and files_in(tmp_path) == ["a"]


# -- through load ----------------------------------------------------------------------------------

ARFF = b"@relation r\n@attribute x numeric\n@attribute a {0,1}\n@data\n0.5,1\n0.25,0\n"
XML = b'<labels>\n<label name="a"/>\n</labels>\n'


@pytest.fixture
def small_set(server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A named set "small" on the local server, no data folder, an empty cache."""
    bodies = {"small-train.arff": ARFF, "small-test.arff": ARFF, "small.xml": XML}
    files = []
    for name, body in bodies.items():

        def answer(self: Handler, body: bytes = body) -> None:
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
    assert files_in(small_set / "small") == [
        "small-test.arff",
        "small-train.arff",
        "small.xml",
    ]
    assert server.requests == 3  # type: ignore[attr-defined]
    data.load("small")
    assert server.requests == 3  # type: ignore[attr-defined]
    assert data.available()["small"] == str(small_set / "small")


def test_only_what_the_cache_lacks_is_downloaded(
    server: ThreadingHTTPServer, small_set: Path
) -> None:
    (small_set / "small").mkdir(parents=True)
    (small_set / "small" / "small-train.arff.gz").write_bytes(gzip.compress(ARFF + b"7,1\n"))
    assert data.load("small").n_train == 3
    assert server.requests == 2  # type: ignore[attr-defined]


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


def test_a_terminal_shows_progress_and_a_pipe_does_not(
    small_set: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data.load("small")
    assert capfd.readouterr().err == ""
    shutil.rmtree(small_set)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    data.load("small")
    shown = capfd.readouterr().err
    assert "small-train.arff" in shown and "small.xml" in shown and " MB" in shown


def test_offline_the_error_says_what_to_do(server: ThreadingHTTPServer, small_set: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match=r"cannot be reached.*BOOSTLINE_DATA.*put them into"):
        data.load("small")
    assert files_in(small_set) == []


def test_without_pooch_the_error_says_what_to_install(
    small_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DownloadError, match=r"pip install boostline\[data\].*put them into"):
        data.load("small")


def test_download_can_be_forbidden(server: ThreadingHTTPServer, small_set: Path) -> None:
    with pytest.raises(DownloadError, match="neither in BOOSTLINE_DATA"):
        data.load("small", download=False)
    assert server.requests == 0 and not small_set.exists()  # type: ignore[attr-defined]


def test_a_cache_that_cannot_be_written_is_named(
    small_set: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("BOOSTLINE_CACHE", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match="cannot be written"):
        data.load("small")
