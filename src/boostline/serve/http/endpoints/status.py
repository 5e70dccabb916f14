"""How the service is: for load balancers, Prometheus and the page."""

from __future__ import annotations

from typing import Any

from boostline.serve.errors import Problem
from boostline.serve.http.endpoint import Call, Response, endpoint
from boostline.serve.ops import status


@endpoint("GET", "/health", None)
def health(call: Call) -> Any:
    """Whether the process is alive."""
    return {"alive": True}


@endpoint("GET", "/ready", None)
def ready(call: Call) -> Any:
    """Whether it can rank, log and learn."""
    champion = call.service.champion
    failure = champion.failure or call.service.writer.failure
    if failure is not None:
        raise Problem(503, str(failure))
    return {"ready": True, "lag": champion.lag(), "cold": champion.state.is_cold}


@endpoint("GET", "/metrics", "any")
def metrics(call: Call) -> Any:
    """Figures for Prometheus."""
    kind = b"text/plain; version=0.0.4; charset=utf-8"
    return Response(200, kind, call.telemetry.exposition())


@endpoint("GET", "/overview", "any")
def overview(call: Call) -> Any:
    """What the page shows at its top."""
    return status.overview(call.service, call.telemetry)
