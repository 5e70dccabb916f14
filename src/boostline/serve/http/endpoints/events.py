"""What the log has: events, the latest rankings, why a label was ranked where it was."""

from __future__ import annotations

from typing import Any

from orjson import dumps

from boostline.serve.http.endpoint import JSON, Call, Response, endpoint
from boostline.serve.ops import status


@endpoint("GET", "/events/{id}", "admin")
def event(call: Call) -> Any:
    """All that the log has of an id."""
    return status.event(call.service, call.parameters["id"])


@endpoint("DELETE", "/events/{id}", "admin")
async def erase(call: Call) -> Any:
    """Erase the features and labels of an id. 202: a reader of the store still keeps the old bytes."""
    erased = await call.service.erase(call.parameters["id"])
    return Response(200 if erased["done"] else 202, JSON, dumps(erased))


@endpoint("GET", "/latest", "admin")
def latest(call: Call) -> Any:
    """The last rankings and what came back."""
    return status.latest(call.service)


@endpoint("GET", "/why/{id}", "admin")
def why(call: Call) -> Any:
    """Each learner's share of a label's score."""
    return status.why(call.service, call.parameters["id"], call.query.get("label"))
