"""Who may do what, and what is too much."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest
from serving import LABELS, features, serving

from boostline.serve.errors import Problem
from boostline.serve.http.security import Guard, read_tokens

TOKENS = {"rank": "r" * 20, "feedback": "f" * 20, "admin": "a" * 20}


def headers(role):
    return [(b"host", b"127.0.0.1:1"), (b"authorization", f"Bearer {TOKENS[role]}".encode())]


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens.txt"
    path.write_text("# who\n" + "".join(f"{role} {token}\n" for role, token in TOKENS.items()))
    path.chmod(0o600)
    return path


def test_roles_may_do_what_they_are_for_and_admins_everything(tokens):
    guard = Guard(read_tokens(tokens), "0.0.0.0")
    for role in TOKENS:
        for needed in ("rank", "feedback", "admin", "any"):
            if needed in (role, "any") or role == "admin":
                guard.check(headers(role), needed)
            else:
                with pytest.raises(Problem, match="is needed") as refused:
                    guard.check(headers(role), needed)
                assert refused.value.status == 403
    for wrong in (b"", b"Bearer", b"Bearer " + b"x" * 20, b"Basic " + b"a" * 20, b"Bearer \xff"):
        with pytest.raises(Problem, match="Authorization"):
            guard.check([(b"authorization", wrong)], "rank")


def test_without_tokens_only_this_machine_may_ask():
    with pytest.raises(ValueError, match="without --tokens it must be"):
        Guard(None, "0.0.0.0")
    guard = Guard(None)
    guard.check([(b"host", b"localhost:8000")], "admin")
    guard.check([(b"host", b"[::1]:8000"), (b"origin", b"http://[::1]:8000")], "admin")
    for bad in (
        [(b"host", b"evil.example:8000")],
        [(b"host", b"127.0.0.1:8000"), (b"origin", b"http://evil.example")],
        [(b"host", b"127.0.0.1:8000"), (b"origin", b"null")],
    ):
        with pytest.raises(Problem) as refused:
            guard.check(bad, "rank")
        assert refused.value.status == 403


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("", "has no tokens"), ("king abcdefghijklmnopq", "line 1"), ("rank short", "at least 16")],
)
def test_token_files_that_make_no_sense_are_refused(tmp_path, text, wrong):
    (tmp_path / "t").write_text(text)
    (tmp_path / "t").chmod(0o600)
    with pytest.raises(ValueError, match=wrong):
        read_tokens(tmp_path / "t")


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o644])
def test_token_files_that_others_may_read_or_change_are_refused(tokens, mode):
    tokens.chmod(mode)
    with pytest.raises(ValueError, match=f"has the mode {mode:o}, .*: chmod 600"):
        read_tokens(tokens)
    tokens.chmod(0o440)
    assert len(read_tokens(tokens)) == 3


@pytest.mark.process
def test_a_real_server_asks_for_tokens_and_keeps_limits(tmp_path, tokens):
    options = (
        "--labels",
        ",".join(LABELS),
        "--tokens",
        str(tokens),
        "--max-body",
        "2000",
        "--max-batch",
        "3",
    )
    with serving(tmp_path / "s.db", *options) as server:
        body = {"features": features(0)}
        assert server.post("/rank", body).status == 401
        assert server.post("/rank", body).headers["www-authenticate"] == "Bearer"
        own = {role: {"Authorization": f"Bearer {token}"} for role, token in TOKENS.items()}
        assert server.post("/rank", body, **own["rank"]).status == 200
        assert server.post("/rank", body, **own["feedback"]).status == 403
        assert server.post("/labels", {"add": ["snow"]}, **own["rank"]).status == 403
        assert server.post("/labels", {"add": ["snow"]}, **own["admin"]).status == 200
        assert server.get("/health").status == 200 and server.get("/").status == 200
        assert server.get("/model").status == 401 and server.get("/events/x").status == 401
        page = server.get("/").headers
        assert "default-src 'none'" in page["content-security-policy"]
        large = server.post("/rank", b" " * 3000, **own["rank"])
        assert large.status == 413
        many = server.post("/rank/batch", b"{}\n" * 4, **own["rank"])
        assert many.status == 413
        assert not any(token in server.said for token in TOKENS.values())
        server.stop()


@pytest.mark.process
def test_elsewhere_needs_tokens(tmp_path):
    command = [sys.executable, "-m", "boostline", "serve", "--store", str(tmp_path / "s.db")]
    done = subprocess.run(
        [*command, "--labels", "a,b", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and "--tokens" in done.stderr
    assert not (tmp_path / "s.db").exists()


@pytest.mark.process
def test_bodies_that_never_end_hold_nobody_up(server):
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(b"POST /rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        began = time.monotonic()
        assert server.post("/rank", {"features": features(0)}).status == 200
        assert time.monotonic() - began < 5
