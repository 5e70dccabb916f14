"""The champion and its challengers: figures, promotion, rollback, snapshots."""

from __future__ import annotations

from typing import Any

from orjson import dumps

from boostline.serve.http.bodies import OBJECT, STRING, Body, whole
from boostline.serve.http.endpoint import JSON, Call, Response, endpoint
from boostline.serve.ops import status

CHALLENGER = Body(
    "Challenger",
    name=STRING.required(),
    config=OBJECT.described(
        "In the words of the shell: algorithm, learners, seed, drift, max_bytes, and so on."
    ),
)
ROLLBACK = Body("Rollback", version=whole(0).required())


@endpoint("GET", "/model", "any")
def model(call: Call) -> Any:
    """The champion, its challengers and snapshots."""
    return status.model(call.service)


@endpoint("GET", "/history", "any")
def history(call: Call) -> Any:
    """Losses by window."""
    return status.history(call.service, call.query)


@endpoint("POST", "/challengers", "admin", CHALLENGER)
async def challenge(call: Call) -> Any:
    """Let another model learn from the log in the shadow."""
    told = await call.service.models.challenge(call.body["name"], call.body["config"] or {})
    return Response(201, JSON, dumps(told))


@endpoint("DELETE", "/challengers/{name}", "admin")
async def dismiss(call: Call) -> Any:
    """End a challenger."""
    await call.service.models.dismiss(call.parameters["name"])
    return {"dismissed": call.parameters["name"]}


@endpoint("POST", "/challengers/{name}/promote", "admin")
async def promote(call: Call) -> Any:
    """Let a challenger serve."""
    return await call.service.models.promote(call.parameters["name"])


@endpoint("POST", "/rollback", "admin", ROLLBACK)
async def roll_back(call: Call) -> Any:
    """Go back to an earlier version of the champion."""
    return await call.service.models.roll_back(call.body["version"])


@endpoint("POST", "/snapshot", "admin")
async def snapshot(call: Call) -> Any:
    """Make a snapshot now."""
    return await status.snapshot(call.service)
