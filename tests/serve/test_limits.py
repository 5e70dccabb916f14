"""Each limit of a request: what is too much is refused with a 4xx that names the limit, and nobody else waits."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from urllib.parse import quote

import pytest
from serving import LABELS, features, serving
from wires import Wire, request

import boostline as bl
from boostline.serve.client import Client, ServiceError
from boostline.serve.http.bodies import NAMES
from boostline.serve.live.bootstrap import open_store
from boostline.serve.live.features import Features, check_features
from boostline.serve.live.label_names import LabelNames
from boostline.serve.live.settings import Limits

pytestmark = pytest.mark.process


def refused(answer, status, words):
    assert answer.status == status, answer.raw
    assert words in answer.json["detail"], answer.raw


def test_heads_that_do_not_end_are_refused_and_cost_no_memory(server):
    many = b"".join(b"x%d: %s\r\n" % (i, b"a" * 60) for i in range(2000))
    for start in (b"POST /rank HTTP/1.1\r\nHost: localhost\r\n" + many, b"GET /" + b"a" * 70_000):
        with Wire(server) as wire:
            wire.send(start[:66_000])
            status, headers, body = wire.answer()
            assert (status, headers["connection"]) == (431, "close")
            assert "65536 bytes" in json.loads(body)["detail"]
            assert wire.is_closed


def test_a_large_body_is_refused_before_it_is_sent(server):
    with Wire(server) as wire:
        wire.send(b"POST /rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        status, _, body = wire.answer()
        assert status == 413 and "1000000 bytes" in json.loads(body)["detail"]


def test_a_client_that_does_not_read_holds_up_nobody(server):
    asks = request("/openapi.json", b"", method="GET") * 3000
    idle = [socket.create_connection(server.address.split(":")) for _ in range(10)]
    try:
        for one in idle:
            one.setblocking(False)
            with pytest.raises(BlockingIOError):
                while True:
                    one.send(asks)
        began = time.monotonic()
        assert server.post("/rank", {"features": features(0)}).status == 200
        assert time.monotonic() - began < 5
    finally:
        for one in idle:
            one.close()


def test_an_upgrade_is_ignored_and_the_body_is_read(server):
    # As Java's client sends it by default.
    headers = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    with Wire(server) as wire:
        for _ in range(2):
            wire.send(request("/rank", {"features": features(0)}, *headers))
            assert wire.answer()[0] == 200


def test_what_was_asked_before_the_client_closed_its_side_is_answered(server):
    with Wire(server) as wire:
        wire.send(request("/rank", {"features": features(0)}))
        wire.socket.shutdown(socket.SHUT_WR)
        assert wire.answer()[0] == 200
        assert wire.is_closed


@pytest.mark.parametrize("id", ["user/1", "a//b", "x/promote", "..", "a?b", "100%", "%2e"])
def test_any_id_can_be_read_and_erased(server, id):
    path = "/events/" + quote(id, safe="")
    server.post("/feedback", {"id": id, "features": features(0), "relevant": []})
    assert server.get(path).status == 200
    assert server.ask("DELETE", path).status == 200
    assert server.get(path).json["events"][0]["erased"]


@pytest.mark.parametrize("origin", ["http://[", "http://evil.example", "null", "http://localhost"])
def test_origins_of_other_sites_are_refused_however_odd(server, origin):
    assert server.ask("POST", "/rollback", b"{}", {"Origin": origin}).status == 403


def test_names_of_features_and_categories_have_a_length(server):
    long = {"n" * 201: 1.0}
    refused(server.post("/rank", {"features": long}), 422, "at most 200")
    refused(server.post("/rank", {"features": {"a": "w" * 201}}), 422, "at most 200")
    check_features({"n" * 200: "w" * 200})
    with pytest.raises(match="a name of 201 characters"):
        check_features(long)


def test_all_names_of_features_together_have_a_limit():
    model, known = bl.LabelRanker(3), Features()
    for start in range(0, 8000, 2000):
        example = {f"{i:07}{'é' * 193}": "w" * 199 for i in range(start, start + 2000)}
        known.learned_row(example, model)
    assert sum(map(len, known.names)) <= 3_000_000 and len(known.names) < 8000


def test_labels_times_features_have_a_limit(tmp_path):
    options = ("--labels", "a,b", "--new-labels", "add", "--max-bytes", "4000000")
    with serving(tmp_path / "s.db", *options) as server:
        wide = {"features": [1.0] * 5000, "relevant": ["a"]}
        assert server.post("/feedback", {"id": "e0", **wide}).status == 200
        more = {**wide, "relevant": [f"l{i}" for i in range(100)]}
        refused(server.post("/feedback", {"id": "e1", **more}), 422, "--max-bytes is 4 MB")
        refused(server.post("/labels", {"add": more["relevant"]}), 422, "--max-bytes is 4 MB")
        assert server.post("/feedback", {"id": "e2", **wide}).status == 200
    with serving(tmp_path / "d.db", *options) as server:
        # Many examples at once, none of which is learned yet when the next is read.
        lines = [
            {"id": f"d{i}", "features": {f"f{i}-{j}": 1 for j in range(1000)}, "relevant": ["a"]}
            for i in range(200)
        ]
        raw = b"\n".join(json.dumps(line).encode() for line in lines)
        statuses = [one["status"] for one in server.post("/feedback/batch", raw).lines]
        assert set(statuses) == {200, 422} and statuses.count(200) <= 125


def test_labels_have_a_number_however_they_come(server):
    refused(server.post("/labels", {"add": [f"n{i}" for i in range(10_001)]}), 422, "at most 10000")
    refused(server.post("/labels", {"add": [f"n{i}" for i in range(9_999)]}), 422, "than 10000")


def test_checks_of_names_take_time_in_proportion_to_them():
    names = [f"n{i}" for i in range(10_000)]
    began = time.process_time()
    LabelNames(["a", "b"]).check({"add": names, "rename": {f"n{i}": f"m{i}" for i in range(5000)}})
    with pytest.raises(Exception, match="twice"):
        NAMES.check([*names[:-1], names[0]], "relevant", Limits())
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize("name", ["b\x07", "x" * 201, "\u202eb"])
def test_a_store_begins_with_labels_that_requests_may_name(tmp_path, name):
    with pytest.raises(ValueError, match="1 to 200 printable characters"):
        open_store(str(tmp_path / "s.db"), bl.LabelRanker(labels=["a", name]))
    assert not list(tmp_path.iterdir())


def test_why_of_another_form_of_features_is_refused(tmp_path):
    with serving(tmp_path / "s.db", "--labels", "a,b") as server:
        server.post("/rank", {"id": "o1", "features": {"x": 1}})
        told = server.post("/feedback", {"id": "l1", "features": [1, 2], "relevant": ["a"]})
        server.reached(told.json["offset"])
        refused(server.get("/why/o1"), 422, "the model has learned from a list")
        assert server.get("/why/l1").status == 200


@pytest.mark.parametrize(
    ("status", "page", "headers"),
    [
        (502, b"<html>Bad Gateway</html>", {}),
        (503, b"Service Unavailable", {}),
        (503, b"{}", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
    ],
)
def test_the_client_repeats_what_a_proxy_refuses_in_its_own_words(status, page, headers):
    asked = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            first = len(asked) == 1
            body = page if first else b'{"id": "x"}'
            self.send_response(status if first else 200)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{proxy.server_port}"
        assert Client(address).rank([1.0]) == {"id": "x"}
        asked.clear()
        with pytest.raises(ServiceError) as failed:
            Client(address, tries=1).rank([1.0])
        assert failed.value.status == status
        proxy.shutdown()


def test_ada_olmr_serves_the_weighted_vote_of_its_experts(tmp_path):
    options = ("--labels", ",".join(LABELS), "--algorithm", "ada_olmr", "--learners", "paper:3")
    with serving(tmp_path / "s.db", *options) as server:
        for i in range(20):
            example = {"id": f"e{i}", "features": features(i), "relevant": [LABELS[i % 3]]}
            offset = server.post("/feedback", example).json["offset"]
        server.reached(offset)
        ranked = [server.post("/rank", {"features": features(1)}).json["labels"] for _ in range(8)]
        assert all(one == ranked[0] for one in ranked)
        assert server.get("/model").json["warnings"] == []
        config = {"algorithm": "ada_olmr", "learners": "paper:3", "expert": "draw"}
        assert server.post("/challengers", {"name": "drawn", "config": config}).status == 201
        assert server.post("/challengers/drawn/promote").status == 200
        assert "draws an expert" in server.get("/model").json["warnings"][0]
        assert server.post("/rank", {"features": features(1)}).json["model"] == "drawn"
