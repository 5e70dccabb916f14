"""Requests as bytes: those that are answered at once, and those that take the other way to the same answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import time

import pytest
import uvicorn
from serving import LABELS, features, serving
from wires import Wire, request

import boostline as bl
from boostline.serve.http.app import Application
from boostline.serve.http.connection import Connection
from boostline.serve.http.security import Guard
from boostline.serve.http.server import configured
from boostline.serve.live.bootstrap import open_store
from boostline.serve.live.service import Service
from boostline.serve.live.settings import Limits, Settings

pytestmark = pytest.mark.process


def test_all_ways_lead_to_the_same_answer(server):
    body = {"id": "way", "features": features(1), "top": 2}
    raw = json.dumps(body).encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(raw), raw)
    ways = [
        request("/rank", body),
        request("/rank", body, "Connection: keep-alive"),
        request("/rank", body, "Connection: close"),
        request("/rank", body, version="1.0"),
        request("/rank?x=1", body),
        request(f"http://{server.address}/rank", body),
        request("/rank", chunked, "Transfer-Encoding: chunked"),
        request("/rank", raw + b" " * 70_000),
    ]
    answers = []
    for way in ways:
        with Wire(server) as wire:
            wire.send(way)
            answers.append(wire.answer())
    assert [status for status, _, _ in answers] == [200] * len(ways)
    assert len({answer for _, _, answer in answers}) == 1
    assert len({headers["cache-control"] for _, headers, _ in answers}) == 1
    assert answers[2][1]["connection"] == "close"


def test_requests_sent_before_the_last_one_was_answered_are_answered_in_their_order(server):
    ids = [f"pipe-{i}" for i in range(8)]
    with Wire(server) as wire:
        wire.send(b"".join(request("/rank", {"id": id, "features": features(1)}) for id in ids))
        found = [wire.answer() for _ in ids]
        wire.send(request("/rank", {"id": "pipe-last", "features": features(1)}))
        found.append(wire.answer())
    assert [json.loads(body)["id"] for _, _, body in found] == [*ids, "pipe-last"]


def test_a_request_may_come_byte_by_byte(server):
    with Wire(server) as wire:
        for _ in range(2):
            for byte in request("/rank", {"features": features(2)}):
                wire.send(bytes([byte]))
            assert wire.answer()[0] == 200


def test_who_waits_for_permission_gets_it(server):
    with Wire(server) as wire:
        head, _, body = request(
            "/rank", {"features": features(2)}, "Expect: 100-continue"
        ).partition(b"\r\n\r\n")
        wire.send(head + b"\r\n\r\n")
        assert wire.answer()[0] == 100
        wire.send(body)
        assert wire.answer()[0] == 200


def test_refusals_leave_the_connection_open_and_nonsense_closes_it(server):
    with Wire(server) as wire:
        for body, status in (
            (b"{", 400),
            ({"features": []}, 422),
            ({"features": features(1)}, 200),
        ):
            wire.send(request("/rank", body))
            found = wire.answer()
            assert found[0] == status
            if status != 200:
                assert found[1]["content-type"] == "application/problem+json"
        wire.send(request("/rank", b"", method="GET"))
        assert wire.answer()[0] == 405
        wire.send(b"\x00\x01\r\n\r\n")
        assert wire.answer()[0] == 400
        assert wire.is_closed


@pytest.mark.parametrize("path", ["/rank", "/model"])
def test_two_lengths_of_a_body_are_refused_and_close_the_connection(server, path):
    raw = b"0\r\n\r\n"
    with Wire(server) as wire:
        wire.send(request(path, raw, "Transfer-Encoding: chunked", f"Content-Length: {len(raw)}"))
        status, headers, body = wire.answer()
        assert (status, headers["connection"]) == (400, "close")
        assert "not both" in json.loads(body)["detail"]
        assert wire.is_closed


def test_nonsense_after_a_request_ends_the_connection_and_is_no_error_of_the_service(tmp_path):
    with serving(tmp_path / "s.db", "--labels", ",".join(LABELS)) as server:
        for path in ("/rank?x=1", "/rank", "/model"):
            for _ in range(5):
                with Wire(server) as wire:
                    wire.send(request(path, {"features": features(1)}) + b"\x00\x01\r\n\r\n")
                    assert wire.answer()[0] in (200, 400, 405)
        assert server.stop() == 0
        assert "Traceback" not in server.said


def test_an_id_that_is_there_gets_its_answer_from_the_log(server):
    asked = {"id": "there", "features": features(3), "top": 1}
    with Wire(server) as wire:
        wire.send(request("/rank", asked))
        first = wire.answer()
        wire.send(request("/rank", asked) * 3)  # some of them while the first is on its way
        assert [wire.answer()[2] for _ in range(3)] == [first[2]] * 3
        wire.send(request("/rank", {**asked, "top": 2}))
        assert wire.answer()[0] == 409
        wire.send(
            request("/feedback", {"id": "example", "features": features(1), "relevant": ["sun"]})
        )
        assert wire.answer()[0] == 200
        wire.send(request("/rank", {"id": "example", "features": features(1)}))
        status, _, body = wire.answer()
        assert status == 409 and "labelled example" in json.loads(body)["detail"]
        # A form that the model does not take any more does not hide what was answered then.
        wire.send(request("/rank", {"id": "there", "features": [1.0, 2.0]}))
        assert wire.answer()[0] == 409


def test_clients_that_hang_up_harm_nobody_and_what_they_asked_is_in_the_log(tmp_path):
    with serving(tmp_path / "s.db", "--labels", ",".join(LABELS)) as server:
        for i in range(20):
            with Wire(server) as wire:
                wire.send(request("/rank", {"id": f"gone-{i}", "features": features(i)}))
        with Wire(server) as wire:
            wire.send(b"POST /rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{")
        end = time.monotonic() + 10
        missing = [f"/events/gone-{i}" for i in range(20)]
        while missing and time.monotonic() < end:
            missing = [path for path in missing if server.get(path).status != 200]
        assert not missing
        assert 'boostline_requests_total{path="/rank",status="500"}' not in str(
            server.get("/metrics").raw
        )
        assert server.stop() == 0
        assert "Traceback" not in server.said


def test_odd_bytes_are_never_an_internal_error_and_never_end_the_service(server):
    rng = random.Random(5)
    good = [
        request("/rank", {"features": features(1)}),
        request("/rank", {"id": "odd", "features": features(1)}, "Connection: keep-alive"),
        request("/feedback", {"id": "odd", "relevant": ["sun"]}),
        request("/rank", b'5\r\n{"fea\r\n0\r\n\r\n', "Transfer-Encoding: chunked"),
        request("/model", b"", method="GET"),
    ]
    for _ in range(150):
        raw = bytearray(b"".join(rng.choices(good, k=rng.randint(1, 3))))
        for _ in range(rng.choice([0, 1, 1, 3])):
            place = rng.randrange(len(raw))
            kind = rng.randrange(3)
            if kind == 0:
                raw[place] = rng.randrange(256)
            elif kind == 1:
                del raw[place : place + rng.randint(1, 9)]
            else:
                raw[place:place] = rng.choice([b"\r\n", b"\x00", b"Content-Length: 7\r\n", b"%00"])
        with Wire(server) as wire:
            cut = rng.randrange(len(raw))
            with contextlib.suppress(OSError):
                wire.send(raw[:cut])
                wire.send(raw[cut:])
                wire.socket.shutdown(socket.SHUT_WR)
                wire.socket.settimeout(0.3)
                assert b"HTTP/1.1 500" not in wire.file.read()
    assert server.post("/rank", {"features": features(1)}).status == 200


@contextlib.asynccontextmanager
async def listening(service):
    """The service in this process behind connections; yields its address."""
    loop = asyncio.get_running_loop()
    service.attach(loop)
    config = configured(Application(service, Guard(None)))
    state = uvicorn.server.ServerState()
    server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()
    server.close()


def test_clients_above_the_limit_are_refused_and_the_others_are_served(tmp_path, monkeypatch):
    monkeypatch.setattr("boostline.serve.http.connection._MOST_CONNECTIONS", 3)
    store = str(tmp_path / "s.db")
    open_store(store, bl.LabelRanker(labels=LABELS))
    service = Service(store)

    async def work():
        async with listening(service) as address:
            clients = [await asyncio.open_connection(*address) for _ in range(5)]
            for reader, _ in clients[3:]:
                answer = await asyncio.wait_for(reader.read(), 10)
                assert answer.startswith(b"HTTP/1.1 503") and b"too many connections" in answer
            for reader, writer in clients[:3]:
                writer.write(request("/rank", {"features": features(1)}))
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            for _, writer in clients:
                writer.close()

    try:
        asyncio.run(work())
    finally:
        service.close()


def test_clients_that_send_too_slowly_are_hung_up_on(tmp_path, monkeypatch):
    monkeypatch.setattr("boostline.serve.http.connection._HEAD_SECONDS", 0.3)
    store = str(tmp_path / "s.db")
    open_store(store, bl.LabelRanker(labels=LABELS))
    service = Service(store, Settings(limits=Limits(seconds=0.3)))
    whole = request("/rank", {"features": features(1)})
    head, _, body = whole.partition(b"\r\n\r\n")

    async def heard(address, *parts):
        reader, writer = await asyncio.open_connection(*address)
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.05)
        answer = await asyncio.wait_for(reader.read(), 10)  # until the service hangs up
        writer.close()
        return answer

    async def work():
        async with listening(service) as address:
            assert await heard(address) == b""  # says nothing
            assert await heard(address, head[:20]) == b""  # not all headers
            answer = await heard(address, head + b"\r\n\r\n" + body[:3])  # not all of the body
            assert answer.startswith(b"HTTP/1.1 408") and b"connection: close" in answer
            answer = await heard(address, whole, head[:20])  # a second request that does not end
            assert answer.startswith(b"HTTP/1.1 200") and answer.count(b"HTTP/1.1") == 1

    try:
        asyncio.run(work())
    finally:
        service.close()
