"""What the log has: events, the latest rankings, why a label was ranked where it was."""

from __future__ import annotations

from typing import Any

from boostline.serve.http.endpoint import Call, endpoint
from boostline.serve.ops import status


@endpoint("GET", "/events/{id}", "admin")
def event(call: Call) -> Any:
    """All that the log has of an id."""
    return status.event(call.service, call.parameters["id"])


@endpoint("DELETE", "/events/{id}", "admin")
async def erase(call: Call) -> Any:
    """Erase the features and labels of an id."""
    return await call.service.erase(call.parameters["id"])


@endpoint("GET", "/latest", "admin")
def latest(call: Call) -> Any:
    """The last rankings and what came back."""
    return status.latest(call.service)


@endpoint("GET", "/why/{id}", "admin")
def why(call: Call) -> Any:
    """Each learner's share of a label's score."""
    return status.why(call.service, call.parameters["id"], call.query.get("label"))
