"""A newcomer's path: start, rank, feedback the next day, restart, and the page shows it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from serving import LABELS, Server, features, label, serving

from boostline.serve.client import AsyncClient, Client, ServiceError

pytestmark = pytest.mark.process

# A clock that is a day ahead, for a process of its own.
NEXT_DAY = """
import time
now = time.time
time.time = lambda: now() + 86400
from boostline.cli import main
main()
"""


class Tomorrow(Server):
    """The same command, with the clock moved."""

    def __init__(self, store, *options):
        real = subprocess.Popen

        def popen(command, **named):
            return real([sys.executable, "-c", NEXT_DAY, *command[3:]], **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess, "Popen", popen)
            super().__init__(store, *options)


@pytest.mark.gate
def test_feedback_comes_the_next_day_and_the_page_shows_it(tmp_path):
    store = tmp_path / "stream.db"
    (tmp_path / "tags.txt").write_text("\n".join(LABELS) + "\n")
    with serving(store, "--labels", f"@{tmp_path / 'tags.txt'}") as server:
        client = Client(f"http://{server.address}")
        # A cold model gives every label a probability of 0.5.
        assert client.rank(features(0), threshold=0.6)["labels"] == []
        assert len(client.rank(features(0), optimize="micro-f1")["labels"]) == len(LABELS)
        answer = client.rank(features(0), id="page-1", top=2)
        assert answer["cold"] and len(answer["labels"]) == 2
        assert server.stop() == 0
    server = Tomorrow(store)
    try:
        client = Client(f"http://{server.address}")
        told = client.feedback("page-1", ["sun"])
        assert told["learn"]
        for i in range(12):
            told = client.feedback(f"more-{i}", [label(i)], features=features(i))
        server.reached(told["offset"])
        window = server.get("/history").json["models"]["first"][-1]
        assert 86_400 <= window["delay_median"] < 90_000
        assert client.rank(features(1))["labels"][0]["label"] == label(1)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            pytest.skip("the page was not looked at: there is no chromium")
        done = subprocess.run(
            [
                *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
                *(f"--user-data-dir={tmp_path / 'chrome'}", "--virtual-time-budget=4000"),
                f"http://{server.address}/",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "HOME": str(tmp_path)},
            check=False,
        )
        for shown in ("learned 13 rows", "page-1", "24 h", "sun", "neighbours"):
            assert shown in done.stdout, (shown, done.stdout[-2000:], done.stderr[-500:])
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()


def test_the_client_repeats_what_may_be_repeated_and_says_what_is_wrong(server):
    client = Client(f"http://{server.address}")
    first = client.rank({"a": np.float64(0.5), "b": float("nan")}, id="c1")
    assert client.rank({"a": 0.5, "b": None}, id="c1") == first
    client._local.connection.sock.close()  # the connection breaks
    assert client.feedback("c1", {"sun"}) == client.feedback("c1", {"sun"})
    with pytest.raises(ServiceError, match="404: id is 'nobody'") as refused:
        client.feedback("nobody", {"sun"})
    assert refused.value.field == "id"
    assert client.event("c1")["events"][1]["relevant"] == ["sun"]
    server.reached(client.event("c1")["events"][1]["offset"])

    async def both():
        own = AsyncClient(f"http://{server.address}")
        return await asyncio.gather(own.rank([1.0], id="c1"), own.model(), return_exceptions=True)

    conflict, model = asyncio.run(both())
    assert isinstance(conflict, ServiceError) and conflict.status == 409
    assert model["clock"] >= 1
    with pytest.raises(ValueError, match="must be like http"):
        Client("localhost:8000")


def test_answers_of_many_clients_are_not_mixed_up(server):
    """Each of many rankings at the same time gets its own id and its own answer."""

    async def many():
        own = AsyncClient(f"http://{server.address}")
        asked = [own.rank({"a": float(i)}, id=f"many-{i}", top=1 + i % 3) for i in range(60)]
        return await asyncio.gather(*asked)

    for i, answer in enumerate(asyncio.run(many())):
        assert answer["id"] == f"many-{i}" and len(answer["labels"]) == 1 + i % 3
        logged = server.get(f"/events/many-{i}").json["events"][0]
        assert logged["features"] == {"a": float(i)}
        assert json.dumps(logged["answer"]) == json.dumps(answer)
