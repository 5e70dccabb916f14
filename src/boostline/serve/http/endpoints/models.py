"""The champion and its challengers: figures, promotion, rollback, snapshots."""

from __future__ import annotations

from typing import Any

from orjson import dumps

from boostline.serve.http.bodies import OBJECT, STRING, Body, whole
from boostline.serve.http.endpoint import JSON, Call, Response, endpoint

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
    service, models = call.service, call.service.models
    state = models.champion.state
    figures = models.describe(state.name)
    draws = getattr(state.model, "expert", None) == "draw"
    return {
        **{name: figures[name] for name in ("name", "algorithm", "clock", "version", "lag")},
        "offset": figures["version"],
        "log_offset": service.writer.head,
        "cold": state.is_cold,
        "memory_bytes": figures["memory_bytes"],
        "microseconds_per_row": figures["microseconds_per_row"],
        "labels": len(service.labels.active),
        "features": state.model.n_features,
        "challengers": [models.describe(name) for name in models.replicas if name != state.name],
        "snapshots": [s.to_dict() for s in models.snapshots.of(state.name)],
        "changes": models.registry.changes[-50:],
        "failure": figures["failure"],
        "warnings": ['it draws an expert for each row, so its scores jump: use expert "weighted"']
        * draws,
    }


@endpoint("POST", "/challengers", "admin", CHALLENGER)
async def challenge(call: Call) -> Any:
    """Let another model learn from the log in the shadow."""
    made = await call.service.models.challenge(call.body["name"], call.body["config"] or {})
    return Response(201, JSON, dumps(made))


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
    """Make a snapshot of the champion now."""
    models = call.service.models
    name = models.registry.champion
    await models.save(name)
    return models.snapshots.of(name)[-1].to_dict()
