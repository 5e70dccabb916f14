"""The backend in deploy/label_studio, run by Label Studio's own package against a running service."""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neighbours import environment
from serving import Server, serving

pytestmark = [pytest.mark.slow, pytest.mark.process]

FOLDER = Path(__file__).parents[2] / "deploy" / "label_studio"
CONFIG = """<View><Text name="body" value="$text"/>
<Choices name="tags" toName="body" choice="multiple">
<Choice value="network"/><Choice value="sound"/><Choice value="games"/></Choices></View>"""
TEXTS = {"network": "a tool for tcp sockets", "sound": "plays music", "games": "a chess engine"}


class Backend:
    """What Label Studio does with a backend: plain HTTP."""

    def __init__(self, address: str) -> None:
        self.address = address

    def post(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def suggest(self, task: int, text: str) -> Any:
        tasks = [{"id": task, "data": {"text": text}}]
        (result,) = self.post("/predict", {"tasks": tasks, "label_config": CONFIG})["results"]
        return result

    def annotate(self, task: int, text: str, chosen: list[str]) -> None:
        value = {"from_name": "tags", "to_name": "body", "value": {"choices": chosen}}
        self.post(
            "/webhook",
            {
                "action": "ANNOTATION_CREATED",
                "annotation": {"id": task, "result": [value]},
                "task": {"id": task, "data": {"text": text}},
                "project": {"id": 1, "label_config": CONFIG},
            },
        )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "stream.db", "--labels", "network,sound") as running:
        yield running


@pytest.fixture
def backend(server: Server, tmp_path: Path) -> Iterator[Backend]:
    python, variables = environment(tmp_path, "-r", str(FOLDER / "requirements.txt"))
    process = subprocess.Popen(
        [python, FOLDER / "boostline_backend.py", "--port", "0"],
        env={
            **variables,
            "BOOSTLINE_URL": f"http://{server.address}",
            "LABEL_STUDIO_ML_BACKEND_V2": "1",
        },
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if found := re.search(r"Running on (http://\S+?)/? ", line):
            break
    else:
        raise AssertionError(said)
    try:
        yield Backend(found[1])
    finally:
        process.kill()
        process.wait()


def test_annotators_teach_the_service(backend: Backend, server: Server) -> None:
    backend.post("/setup", {"project": "1", "schema": CONFIG})
    assert server.get("/labels").json["labels"] == ["network", "sound", "games"]  # one was added

    first = backend.suggest(0, TEXTS["sound"])
    (result,) = first["result"]
    assert (result["from_name"], result["to_name"], result["type"]) == ("tags", "body", "choices")

    for task in range(30):
        tag = list(TEXTS)[task % 3]
        text = TEXTS[tag] if task < 3 else f"{TEXTS[tag]}, number {task}"
        backend.suggest(task, text)
        backend.annotate(task, text, [tag])
    for _ in range(600):  # each annotation is a job in a process of its own
        if server.get("/model").json["clock"] == 30:
            break
        time.sleep(0.1)
    assert server.get("/model").json["clock"] == 30

    backend.annotate(29, f"{TEXTS['games']}, number 29", ["games"])  # told again: not learned again
    for tag, text in TEXTS.items():
        best = backend.suggest(100 + len(text), f"{text}, the last one")["result"][0]
        assert best["value"]["choices"][0] == tag
    assert server.get("/model").json["clock"] == 30
