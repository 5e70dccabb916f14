"""Requests as bytes, and connections on which bytes are sent as they are."""

from __future__ import annotations

import json
import socket
from typing import Any

from serving import Server


def request(
    path: str, body: Any, *headers: str, method: str = "POST", version: str = "1.1"
) -> bytes:
    """A request with one more header, or several."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/{version}", "Host: localhost", *headers]
    if not any(line.lower().startswith("transfer-encoding") for line in headers):
        lines.append(f"Content-Length: {len(raw)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + raw


class Wire:
    """A connection on which bytes are sent as they are."""

    def __init__(self, server: Server) -> None:
        host, port = server.address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=20)
        self.file = self.socket.makefile("rb")

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()
        self.socket.close()

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer."""
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self.file.read(int(headers.get("content-length", 0)))

    @property
    def is_closed(self) -> bool:
        return self.file.read(1) == b""
