"""Who may do what: tokens with roles, and requests that a browser was tricked into."""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import stat
from functools import lru_cache

from boostline.serve.errors import Problem

__all__ = ["HEADERS", "ROLES", "Guard", "check_framing", "is_loopback", "read_tokens"]

ROLES = ("rank", "feedback", "admin")
_SHORTEST_TOKEN = 16
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::\d*)?")

#: Sent with every answer; the pages have more of them (`endpoints.pages`).
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]

Headers = list[tuple[bytes, bytes]]


def read_tokens(path: str | os.PathLike[str]) -> list[tuple[str, bytes]]:
    """Read lines ``role token``; empty ones and those that begin with # are passed over."""
    tokens = []
    with open(path, encoding="utf-8") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IRWXO | stat.S_IWGRP):
            raise ValueError(
                f"{path} has the mode {mode:o}, but other users must not read or change tokens: chmod 600 {path}"
            )
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ROLES:
                raise ValueError(
                    f"line {number} of {path} must be a role ({', '.join(ROLES)}) and a token, with a space between"
                )
            if len(words[1]) < _SHORTEST_TOKEN:
                raise ValueError(
                    f"the token in line {number} of {path} has {len(words[1])} characters, but must have at least "
                    f"{_SHORTEST_TOKEN}"
                )
            tokens.append((words[0], words[1].encode()))
    if not tokens:
        raise ValueError(
            f"{path} has no tokens, but must have at least one line: a role and a token"
        )
    return tokens


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_framing(headers: Headers) -> None:
    """Refuse a body with two lengths: a proxy may take the other one (request smuggling)."""
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
        problem = "a request must have Content-Length or Transfer-Encoding, not both"
        raise Problem(400, problem, closes=True)


class Guard:
    """Lets requests pass, or raises a `Problem`.

    Parameters
    ----------
    tokens
        Roles and tokens; None: everybody who can reach the service may do everything.
    host
        The address it listens at.
    """

    def __init__(self, tokens: list[tuple[str, bytes]] | None, host: str = "127.0.0.1") -> None:
        if tokens is None and not is_loopback(host):
            raise ValueError(
                f"--host is {host}, where others can reach it, but without --tokens it must be 127.0.0.1"
            )
        self._tokens = tokens

    def check(self, headers: Headers, role: str | None) -> None:
        """Refuse whoever does not have the role ("any": any role will do; None: nobody is asked)."""
        given = origin = host = b""
        for name, value in headers:
            if name == b"authorization":
                given = value
            elif name == b"origin":
                origin = value
            elif name == b"host":
                host = value
        if origin and origin.partition(b"://")[2] != host:
            raise Problem(403, "the request comes from a page of another site")
        if self._tokens is None:
            # DNS rebinding: reject Host headers that are not ours.
            if host and not _is_here(host):
                raise Problem(403, "the Host header does not name this machine")
            return
        if role is None:
            return
        scheme, _, token = given.partition(b" ")
        found: set[str] = set()
        for its_role, its_token in self._tokens:
            # All are compared, each in a time that does not depend on what it is.
            if hmac.compare_digest(its_token, token) and scheme.lower() == b"bearer":
                found.add(its_role)
        if not found:
            raise Problem(401, "Authorization must be 'Bearer' and a token that the service knows")
        if role != "any" and role not in found and "admin" not in found:
            raise Problem(
                403, f"the token has the role {' and '.join(sorted(found))}, but {role} is needed"
            )


@lru_cache(maxsize=256)
def _is_here(host: bytes) -> bool:
    """Whether a Host header names this machine."""
    found = _HOST.fullmatch(host.decode("latin-1").lower())
    return found is not None and is_loopback(found[1])
