"""What the service tells about itself."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostline.serve.errors import Invalid, Problem

if TYPE_CHECKING:
    from boostline.serve.live.service import Service
    from boostline.serve.ops.telemetry import Telemetry
    from boostline.serve.store.log import Event

_MOST_WINDOWS = 2000
_LATEST = 20
#: What `latest` shows of a ranking.
_SHOWN_CHARACTERS, _SHOWN_FEATURES = 200, 5
_WEEK = 7 * 86400.0


def model(service: Service) -> dict[str, Any]:
    """The champion and its challengers."""
    models = service.models
    told = models.describe(models.champion.state.name)
    return {
        "name": told["name"],
        "algorithm": told["algorithm"],
        "clock": told["clock"],
        "offset": told["version"],
        "version": told["version"],
        "log_offset": service.writer.head,
        "lag": told["lag"],
        "cold": models.champion.state.is_cold,
        "memory_bytes": told["memory_bytes"],
        "microseconds_per_row": told["microseconds_per_row"],
        "labels": len(service.labels.active),
        "features": models.champion.state.model.n_features,
        "challengers": [models.describe(name) for name in models.replicas if name != told["name"]],
        "snapshots": [s.to_dict() for s in models.snapshots.of(told["name"])],
        "changes": models.registry.changes[-50:],
        "failure": told["failure"],
        "warnings": _warnings(models.champion.state.model),
    }


def _warnings(model: Any) -> list[str]:
    if getattr(model, "expert", None) == "draw":
        return ['it draws an expert for each row, so its scores jump: use expert "weighted"']
    return []


def labels(service: Service) -> dict[str, Any]:
    names = service.labels
    return {
        "labels": [names.names[i] for i in names.active],
        "retired": [names.names[i] for i in names.retired],
    }


def history(service: Service, asked: Mapping[str, str]) -> dict[str, Any]:
    """Losses by window, of all models that are alive or of one."""
    name, most = asked.get("model"), asked.get("windows", "200")
    if not most.isdecimal() or not 0 < int(most) <= _MOST_WINDOWS:
        raise Invalid(
            "windows", f"windows is {most[:80]}, but must be a number from 1 to {_MOST_WINDOWS}"
        )
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


def overview(service: Service, telemetry: Telemetry) -> dict[str, Any]:
    """What the top of the page shows."""
    windows = service.log.windows(service.champion.state.name, _MOST_WINDOWS)
    present = _present(service, service.champion.state.name)
    recent = [*windows[-10:], present]
    week_ago = time.time() - _WEEK
    before = [w for w in windows if w["to"] < week_ago][-10:]
    return {
        "model": model(service),
        "members": _members(service),
        "takes_texts": service.champion.state.features.form == "text",
        "first_labels": [service.labels.names[i] for i in service.labels.active[:3]],
        "uptime": time.time() - service.started,
        "rankings": service.n_rankings,
        "waiting": service.n_rankings - service.n_with_feedback,
        "rank_loss": _mean(recent, "rank_loss"),
        "rank_loss_before": _mean(before or windows[:10], "rank_loss"),
        "before_is": "a week ago" if before else "at first",
        "precision@1": _mean(recent, "precision@1"),
        "served_rank_loss": _mean([w["served"] for w in recent if "served" in w], "rank_loss"),
        "delay_median": _mean(recent, "delay_median"),
        "delay_95": _mean(recent, "delay_95"),
        "weights_rows": turnover_rows([w for w in recent if "weights" in w]),
        **telemetry.recent(),
    }


def _members(service: Service) -> list[str]:
    """Names of the champion's learners, in the order of their weights."""
    from boostline.inspect.learner_rows import names_of_votes

    state = service.champion.state
    with state.turn:
        return [] if state.is_cold else list(names_of_votes(state.model))


def _mean(windows: list[dict[str, Any]], name: str) -> float | None:
    pairs = [(w[name], w.get("rows", 1)) for w in windows if w.get(name) is not None]
    total = sum(n for _, n in pairs)
    return sum(value * n for value, n in pairs) / total if total else None


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


def latest(service: Service) -> list[dict[str, Any]]:
    """The last rankings, with what came back."""
    found = []
    for ranked in service.log.latest("rank", _LATEST):
        if ranked.answer is None or ranked.id is None:
            continue
        told = [e.data for e in service.log.of_id(ranked.id) if e.kind == "feedback"]
        shown, request = json.loads(ranked.answer), ranked.data
        found.append(
            {
                "id": ranked.id,
                "time": ranked.time,
                "version": shown["version"],
                "text": (request.get("text") or "")[:_SHOWN_CHARACTERS],
                "features": _first_features(request.get("features")),
                "labels": shown["labels"][:3],
                "relevant": told[-1]["relevant"] if told else None,
            }
        )
    return found


def _first_features(features: Any) -> dict[str, Any]:
    """A few features by name, to tell a ranking from others."""
    named = features.items() if isinstance(features, dict) else enumerate(features or ())
    return {str(name): value for name, value in itertools.islice(named, _SHOWN_FEATURES)}


def event(service: Service, id: str) -> dict[str, Any]:
    """All that the log has of an id."""
    events = service.log.of_id(id)
    if not events:
        if service.log.is_gone(id):
            raise Problem(410, f"id is {id!r}, whose events were compacted away", "id")
        raise Problem(404, f"id is {id!r}, but there is no such event", "id")
    return {"id": id, "events": [_told(service, one) for one in events]}


def _told(service: Service, one: Event) -> dict[str, Any]:
    told: dict[str, Any] = {"offset": one.offset, "time": one.time, "kind": one.kind, **one.data}
    if one.answer is not None:
        told["answer"] = json.loads(one.answer)
    if one.kind == "feedback":
        refused = service.log.refusals(one.offset)
        version = service.champion.version()
        told["learned"] = bool(
            told["learn"] and version >= one.offset and service.champion.state.name not in refused
        )
        if refused:
            told["refused"] = refused
    return told


def why(service: Service, id: str, label: str | None) -> dict[str, Any]:
    """Each learner's share of a label's score, by the champion as it is now."""
    from boostline.inspect import explain

    events = service.log.of_id(id)
    if not events or events[0].data.get("erased"):
        raise Problem(404, f"id is {id!r}, but there is no such ranking", "id")
    request = events[0].data
    state = service.champion.state
    with state.turn:
        if state.is_cold:
            raise Problem(409, "the model has learned nothing yet, so there is nothing to explain")
        features = request["features"] if request.get("features") is not None else request["text"]
        state.features.check(features)
        row = state.features.row(features)
        if label is None:
            scores = state.model.score(row)
            place = int(state.labels.active[np.argmax(scores[state.labels.active])])
        elif label in state.labels.place:
            place = state.labels.place[label]
        else:
            raise Invalid("label", f"label is {label[:80]!r}, but there is no such label")
        found = explain(state.model, row, place, names=state.features.names or None)
        words = state.features.words(features) if isinstance(features, str) else {}
    return {
        "id": id,
        "label": state.labels.names[place],
        "score": found.score,
        "rank": found.rank,
        "version": service.champion.version(),
        "learners": [
            {
                "learner": found.names[i],
                "share": float(found.shares[i]),
                "lift": float(found.lifts[i]),
            }
            for i in found.top(8)
        ],
        "features": [
            {
                "name": words.get(part.feature, part.name),
                "value": None if part.feature in words else part.value,
                "part": part.part,
            }
            for part in found.features[:8]
        ],
    }


async def snapshot(service: Service) -> dict[str, Any]:
    """Make a snapshot of the champion now."""
    models = service.models
    name = models.registry.champion
    await models.save(name)
    return models.snapshots.of(name)[-1].to_dict()
