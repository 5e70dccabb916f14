"""Requests that nobody would send, as bytes on connections to a real server.

    python tests/helpers/fuzzed_wire.py [--requests 50000] [--seed N]

Bodies are those of `fuzzed_requests`. They come whole or in pieces, several at once, with lengths that are wrong, in
chunks, with odd headers; some clients hang up in the middle. Every client has marks of its own in what it sends. No
answer may be 500, no answer may have the mark of another client, and the memory of the server must level off.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from pathlib import Path

from fuzzed_requests import LABELS, PATHS, Fuzz
from serving import serving

N_CLIENTS = 8
_MARK = re.compile(rb"mark-(\d+)-")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
#: What tells of others by its nature: the admin's views.
_OF_ALL = ("/latest", "/metrics", "/model", "/history", "/overview", "/events", "/why", "/labels")


class Client:
    """Sends odd requests one after the other, and looks at what comes back."""

    def __init__(self, address: str, number: int, seed: int) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port)
        self._fuzz = Fuzz(seed * N_CLIENTS + number)
        self._rng = self._fuzz.rng
        self._mark = f"mark-{number}-"
        self.statuses: Counter[int] = Counter()
        self.hung_up = 0

    def request(self) -> tuple[bytes, str]:
        """One request and its path."""
        rng = self._rng
        path = rng.choice(PATHS)
        method = "POST" if "rank" in path or "feed" in path else "GET"
        body = self._fuzz.body(path).replace(b'"u', f'"{self._mark}'.encode())
        head = [f"{method} {path} HTTP/1.{rng.choice('1111110')}", "Host: localhost"]
        if rng.random() < 0.1:
            head.append(
                rng.choice(["Connection: close", "Expect: 100-continue", "X: " + "y" * 500])
            )
        kind = rng.random()
        if kind < 0.08:
            head.append("Transfer-Encoding: chunked")
            cut = rng.randrange(len(body) + 1)
            pieces = [piece for piece in (body[:cut], body[cut:]) if piece]
            body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        else:
            wrong = rng.choice([-3, 5, 10**9]) if kind < 0.1 else 0
            head.append(f"Content-Length: {max(0, len(body) + wrong)}")
        raw = bytearray("\r\n".join(head).encode() + b"\r\n\r\n")
        if kind > 0.95:  # odd bytes in the head
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        return bytes(raw) + body, path

    async def run(self, n: int) -> None:
        done = 0
        while done < n:
            asked = [self.request() for _ in range(self._rng.choice([1, 1, 1, 2, 5]))]
            done += len(asked)
            await self._send(b"".join(raw for raw, _ in asked), [path for _, path in asked])

    async def _send(self, raw: bytes, paths: list[str]) -> None:
        rng = self._rng
        reader, writer = await asyncio.open_connection(self._host, self._port)
        try:
            cuts = sorted(rng.randrange(len(raw)) for _ in range(rng.choice([0, 0, 1, 3])))
            for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
                writer.write(raw[begin:end])
                if cuts:
                    await asyncio.sleep(0)
            if rng.random() < 0.03:  # hangs up before it is answered
                self.hung_up += 1
                return
            await self._hear(reader, raw, paths)
        finally:
            writer.transport.abort()

    async def _hear(self, reader: asyncio.StreamReader, raw: bytes, paths: list[str]) -> None:
        """Read until as many answers have come as were asked for, or nothing more comes."""
        heard = b""
        while len(_STATUS.findall(heard)) < len(paths) or not _is_whole(heard):
            try:
                more = await asyncio.wait_for(reader.read(65536), 1.0)
            except (TimeoutError, ConnectionError):
                break
            if not more:
                break
            heard += more
        statuses = [int(status) for status in _STATUS.findall(heard)]
        assert 500 not in statuses, (raw, heard)
        if not any(path.startswith(_OF_ALL) for path in paths):
            marks = {b"mark-%s-" % number for number in _MARK.findall(heard)}
            assert marks <= {self._mark.encode()}, (raw, heard)
        self.statuses.update(statuses)


def _is_whole(heard: bytes) -> bool:
    """Whether the last answer has come to its end."""
    head, found, body = heard[heard.rfind(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(found) and (length is None or len(body) >= int(length[1]))


def fuzzed(folder: str, n: int, seed: int) -> tuple[Counter[int], list[int]]:
    """Statuses, and the memory of the server after each tenth of the requests."""
    statuses: Counter[int] = Counter()
    memory: list[int] = []
    with serving(Path(folder) / "s.db", "--labels", ",".join(LABELS)) as server:
        for part in range(10):
            clients = [Client(server.address, i, 10 * seed + part) for i in range(N_CLIENTS)]

            async def all_of_them(clients: list[Client] = clients) -> None:
                await asyncio.gather(*(one.run(n // 10 // N_CLIENTS) for one in clients))

            asyncio.run(all_of_them())
            for client in clients:
                statuses.update(client.statuses)
            found = re.search(rb"\nprocess_resident_memory_bytes (\S+)", server.get("/metrics").raw)
            assert found is not None
            memory.append(int(float(found[1])))
        assert server.get("/ready").status == 200
        assert server.stop() == 0
        assert "Traceback" not in server.said, server.said[server.said.index("Traceback") - 300 :][
            :3000
        ]
    return statuses, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        statuses, memory = fuzzed(folder, asked.requests, asked.seed)
    print(json.dumps({"statuses": statuses, "megabytes": [round(m / 1e6, 1) for m in memory]}))


if __name__ == "__main__":
    main()
