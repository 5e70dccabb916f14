"""What the log has: events, the latest rankings, why a label was ranked where it was."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
from orjson import dumps

from boostline.inspect import explain
from boostline.serve.errors import Invalid, Problem
from boostline.serve.http.endpoint import JSON, Call, Response, endpoint
from boostline.serve.live.features import features_of
from boostline.serve.live.service import Service
from boostline.serve.store.log import Event

_LATEST = 20
#: What ``/latest`` shows of a ranking.
_SHOWN_CHARACTERS, _SHOWN_FEATURES = 200, 5


@endpoint("GET", "/events/{id}", "admin")
def event(call: Call) -> Any:
    """All that the log has of an id."""
    log, id = call.service.log, call.parameters["id"]
    events = log.of_id(id)
    if not events:
        if log.is_gone(id):
            raise Problem(410, f"id is {id!r}, whose events were compacted away", "id")
        raise Problem(404, f"id is {id!r}, but there is no such event", "id")
    return {"id": id, "events": [_described(call.service, one) for one in events]}


def _described(service: Service, one: Event) -> dict[str, Any]:
    shown: dict[str, Any] = {"offset": one.offset, "time": one.time, "kind": one.kind, **one.data}
    if one.answer is not None:
        shown["answer"] = json.loads(one.answer)
    if one.kind == "feedback":
        refused, champion = service.log.refusals(one.offset), service.champion
        is_applied = champion.version() >= one.offset and champion.state.name not in refused
        shown["learned"] = bool(shown["learn"] and is_applied)
        if refused:
            shown["refused"] = refused
    return shown


@endpoint("DELETE", "/events/{id}", "admin")
async def erase(call: Call) -> Any:
    """Erase the features and labels of an id. 202: a reader of the store still keeps the old bytes."""
    erased = await call.service.erase(call.parameters["id"])
    return Response(200 if erased["done"] else 202, JSON, dumps(erased))


@endpoint("GET", "/latest", "admin")
def latest(call: Call) -> Any:
    """The last rankings and what came back."""
    found = []
    for ranked in call.service.log.latest("rank", _LATEST):
        if ranked.answer is None or ranked.id is None:
            continue
        feedback = [e.data for e in call.service.log.of_id(ranked.id) if e.kind == "feedback"]
        shown, request = json.loads(ranked.answer), ranked.data
        features = request.get("features") or {}
        named = features.items() if isinstance(features, dict) else enumerate(features)
        found.append(
            {
                "id": ranked.id,
                "time": ranked.time,
                "version": shown["version"],
                "text": (request.get("text") or "")[:_SHOWN_CHARACTERS],
                "features": {str(name): v for name, v in itertools.islice(named, _SHOWN_FEATURES)},
                "labels": shown["labels"][:3],
                "relevant": feedback[-1]["relevant"] if feedback else None,
            }
        )
    return found


@endpoint("GET", "/why/{id}", "admin")
def why(call: Call) -> Any:
    """Each learner's share of a label's score, by the champion as it is now."""
    champion, id, label = call.service.champion, call.parameters["id"], call.query.get("label")
    events = call.service.log.of_id(id)
    if not events or events[0].data.get("erased"):
        raise Problem(404, f"id is {id!r}, but there is no such ranking", "id")
    features = features_of(events[0].data)
    state = champion.state
    with state.turn:
        if state.is_cold:
            raise Problem(409, "the model has learned nothing yet, so there is nothing to explain")
        state.features.check(features)
        row = state.features.row(features)
        if label is None:
            scores = state.model.score(row)
            index = int(state.labels.active[np.argmax(scores[state.labels.active])])
        elif label in state.labels.index:
            index = state.labels.index[label]
        else:
            raise Invalid("label", f"is {label[:80]!r}, but there is no such label")
        found = explain(state.model, row, index, names=state.features.names or None)
        words = state.features.words(features) if isinstance(features, str) else {}
    return {
        "id": id,
        "label": state.labels.names[index],
        "score": found.score,
        "rank": found.rank,
        "version": champion.version(),
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
