"""The API's description, as /openapi.json serves it."""

from __future__ import annotations

from typing import Any

__all__ = ["description"]

_NAMES = {"type": "array", "items": {"type": "string"}}
_FEATURES = {
    "oneOf": [
        {"type": "array", "items": {"type": ["number", "null"]}},
        {
            "type": "object",
            "additionalProperties": {"type": ["number", "string", "boolean", "null"]},
        },
    ],
    "description": "Numbers in a fixed order, or by name; strings are categories, null is missing.",
}
_SCHEMAS: dict[str, Any] = {
    "RankRequest": {
        "type": "object",
        "properties": {
            "id": {
                "type": "string",
                "maxLength": 200,
                "description": "Makes repeating safe; else one is made.",
            },
            "features": _FEATURES,
            "text": {"type": "string"},
            "top": {
                "type": "integer",
                "minimum": 1,
                "description": "How many labels; all if not given.",
            },
        },
        "additionalProperties": False,
    },
    "Ranking": {
        "type": "object",
        "required": ["id", "model", "version", "labels"],
        "properties": {
            "id": {"type": "string"},
            "model": {"type": "string"},
            "version": {
                "type": "integer",
                "description": "Events applied to the model that ranked.",
            },
            "cold": {
                "type": "boolean",
                "description": "Whether the model has learned nothing yet.",
            },
            "known_words": {
                "type": "integer",
                "description": "Of a text: how many of its words were learned. With 0 labels come about by frequency.",
            },
            "labels": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "label": {"type": "string"},
                        "score": {"type": "number"},
                        "probability": {"type": "number", "minimum": 0, "maximum": 1},
                    },
                },
            },
        },
    },
    "Feedback": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string", "maxLength": 200},
            "relevant": _NAMES,
            "irrelevant": {
                **_NAMES,
                "description": "If given, labels that are not named are unknown.",
            },
            "unknown": {
                **_NAMES,
                "description": "Of the others it is known that they are irrelevant.",
            },
            "revision": {"type": "integer", "minimum": 1},
            "features": _FEATURES,
            "text": {"type": "string"},
        },
        "additionalProperties": False,
    },
    "FeedbackAnswer": {
        "type": "object",
        "required": ["id", "revision", "offset", "learn"],
        "properties": {
            "id": {"type": "string"},
            "revision": {"type": "integer"},
            "offset": {"type": "integer"},
            "learn": {
                "type": "boolean",
                "description": "Whether it is learned; a later revision is only kept.",
            },
            "note": {"type": "string"},
        },
    },
    "LabelChange": {
        "type": "object",
        "properties": {
            "add": _NAMES,
            "rename": {"type": "object", "additionalProperties": {"type": "string"}},
            "retire": _NAMES,
            "restore": _NAMES,
        },
        "additionalProperties": False,
    },
    "Challenger": {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "config": {
                "type": "object",
                "description": "In the words of the shell: algorithm, learners, seed, drift, max_bytes, and so on.",
            },
        },
    },
    "Rollback": {
        "type": "object",
        "required": ["version"],
        "properties": {"version": {"type": "integer", "minimum": 0}},
    },
    "Problem": {
        "type": "object",
        "required": ["title", "status", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "field": {"type": "string", "description": "The field that is meant."},
        },
    },
}

# path -> method -> summary, role, request schema, answer schema, parameters
_PATHS: dict[str, dict[str, tuple[str, str | None, str | None, str | None]]] = {
    "/rank": {"post": ("Rank the labels of an example.", "rank", "RankRequest", "Ranking")},
    "/rank/batch": {
        "post": ("Rank many: JSON lines, each with its own status.", "rank", None, None)
    },
    "/feedback": {
        "post": (
            "Tell the labels of a ranking, or of a new example.",
            "feedback",
            "Feedback",
            "FeedbackAnswer",
        )
    },
    "/feedback/batch": {
        "post": ("Tell many: JSON lines, each with its own status.", "feedback", None, None)
    },
    "/events/{id}": {
        "get": ("All that the log has of an id.", "admin", None, None),
        "delete": ("Erase the features and labels of an id.", "admin", None, None),
    },
    "/why/{id}": {"get": ("Each learner's share of a label's score.", "admin", None, None)},
    "/latest": {"get": ("The last rankings and what came back.", "admin", None, None)},
    "/labels": {
        "get": ("The labels.", "any", None, None),
        "post": ("Add, rename, retire or restore labels.", "admin", "LabelChange", None),
    },
    "/model": {"get": ("The champion, its challengers and snapshots.", "any", None, None)},
    "/history": {"get": ("Losses by window.", "any", None, None)},
    "/overview": {"get": ("What the page shows at its top.", "any", None, None)},
    "/challengers": {
        "post": ("Let another model learn from the log in the shadow.", "admin", "Challenger", None)
    },
    "/challengers/{name}": {"delete": ("End a challenger.", "admin", None, None)},
    "/challengers/{name}/promote": {"post": ("Let a challenger serve.", "admin", None, None)},
    "/rollback": {
        "post": ("Go back to an earlier version of the champion.", "admin", "Rollback", None)
    },
    "/snapshot": {"post": ("Make a snapshot now.", "admin", None, None)},
    "/metrics": {"get": ("Figures for Prometheus.", "any", None, None)},
    "/health": {"get": ("Whether the process is alive.", None, None, None)},
    "/ready": {"get": ("Whether it can rank, log and learn.", None, None, None)},
    "/openapi.json": {"get": ("This description.", None, None, None)},
}


def description() -> dict[str, Any]:
    """The OpenAPI 3.1 document.

    Examples
    --------
    >>> description()["paths"]["/rank"]["post"]["summary"]
    'Rank the labels of an example.'
    """
    import boostline

    return {
        "openapi": "3.1.0",
        "info": {"title": "boostline serve", "version": boostline.__version__},
        "paths": {
            path: {method: _operation(path, *told) for method, told in methods.items()}
            for path, methods in _PATHS.items()
        },
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(
    path: str, summary: str, role: str | None, request: str | None, answer: str | None
) -> dict[str, Any]:
    schema: dict[str, Any] = {} if answer is None else _reference(answer)
    lines = path.endswith("/batch")
    told: dict[str, Any] = {
        "summary": summary,
        "responses": {
            "200": {
                "description": "Done.",
                "content": {
                    "application/x-ndjson" if lines else "application/json": {"schema": schema}
                },
            },
            "default": {
                "description": "What is wrong.",
                "content": {"application/problem+json": {"schema": _reference("Problem")}},
            },
        },
    }
    names = [part.strip("{}") for part in path.split("/") if part.startswith("{")]
    if names:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if request is not None:
        told["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _reference(request)}},
        }
    if role is not None:
        told["security"] = [{"token": []}]
        told["x-role"] = role
    return told


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
