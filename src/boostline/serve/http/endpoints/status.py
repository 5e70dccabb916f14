"""How the service is: for load balancers, Prometheus and the page."""

from __future__ import annotations

import itertools
import time
from typing import Any

from boostline.inspect.learner_rows import names_of_votes
from boostline.serve.errors import Invalid, Problem
from boostline.serve.http.endpoint import Call, Response, endpoint
from boostline.serve.http.endpoints.models import model
from boostline.serve.live.service import Service
from boostline.serve.live.windows import mean_of

_MOST_WINDOWS = 2000
_WEEK = 7 * 86400.0


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


@endpoint("GET", "/history", "any")
def history(call: Call) -> Any:
    """Losses by window, of all models that are alive or of one."""
    service, name, most = call.service, call.query.get("model"), call.query.get("windows", "200")
    if not most.isdecimal() or not 0 < int(most) <= _MOST_WINDOWS:
        raise Invalid("windows", f"is {most[:80]}, but must be a number from 1 to {_MOST_WINDOWS}")
    if name is not None and name not in service.models.replicas:
        raise Problem(404, f"model is {name[:80]!r}, but there is no such model", "model")
    chosen = list(service.models.replicas) if name is None else [name]
    return {
        "labels": service.labels.names,
        "retired": service.labels.retired,
        "models": {
            one: [*service.log.windows(one, int(most)), _present(service, one)] for one in chosen
        },
        "changes": service.models.registry.changes[-200:],
    }


def _present(service: Service, name: str) -> dict[str, Any]:
    """The window that is being filled."""
    state = service.models.replicas[name].state
    with state.turn:
        return {"number": state.windows.number, "open": True, **state.figures()}


@endpoint("GET", "/overview", "any")
def overview(call: Call) -> Any:
    """What the page shows at its top."""
    service, state = call.service, call.service.champion.state
    windows = service.log.windows(state.name, _MOST_WINDOWS)
    recent = [*windows[-10:], _present(service, state.name)]
    week_ago = time.time() - _WEEK
    before = [w for w in windows if w["to"] < week_ago][-10:]
    with state.turn:
        members = [] if state.is_cold else list(names_of_votes(state.model))
    return {
        "model": model(call),
        "members": members,
        "takes_texts": state.features.form == "text",
        "first_labels": [service.labels.names[i] for i in service.labels.active[:3]],
        "uptime": time.time() - service.started,
        "rankings": service.n_rankings,
        "waiting": service.n_rankings - service.n_with_feedback,
        "rank_loss": mean_of(recent, "rank_loss"),
        "rank_loss_before": mean_of(before or windows[:10], "rank_loss"),
        "before_is": "a week ago" if before else "at first",
        "precision@1": mean_of(recent, "precision@1"),
        "served_rank_loss": mean_of([w["served"] for w in recent if "served" in w], "rank_loss"),
        "delay_median": mean_of(recent, "delay_median"),
        "delay_95": mean_of(recent, "delay_95"),
        "weights_rows": turnover_rows([w for w in recent if "weights" in w]),
        **call.telemetry.recent(),
    }


def turnover_rows(windows: list[dict[str, Any]]) -> float | None:
    """The time scale of the weights: in how many rows they would change completely, at the pace of these windows.

    >>> turnover_rows([{"weights": [1.0, 0.0], "rows": 100}, {"weights": [0.9, 0.1], "rows": 100}])
    1000.0
    """
    rows, moved = 0, 0.0
    for before, after in itertools.pairwise(windows):
        if len(before["weights"]) == len(after["weights"]):  # else learners came or went
            rows += after["rows"]
            pairs = list(zip(before["weights"], after["weights"], strict=True))
            of_all = max(sum(abs(b) for b, _ in pairs), sum(abs(a) for _, a in pairs)) or 1.0
            moved += sum(abs(b - a) for b, a in pairs) / 2 / of_all
    return round(rows / moved, 1) if moved else None
