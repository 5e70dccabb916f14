"""The API's description (OpenAPI 3.1), made from the declarations of the endpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints

from boostline.serve.http.endpoint import Endpoint

__all__ = ["description"]

Schema = dict[str, Any]
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_PROBLEM: Schema = {
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "The field that is meant."},
    },
}


def description(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document."""
    import boostline

    schemas: dict[str, Schema] = {"Problem": _PROBLEM}
    paths: dict[str, dict[str, Any]] = {}
    for one in endpoints:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "boostline serve", "version": boostline.__version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Endpoint, schemas: dict[str, Schema]) -> dict[str, Any]:
    kind = "application/x-ndjson" if one.is_batch else "application/json"
    problem = {"application/problem+json": {"schema": _reference("Problem")}}
    answer = {} if one.answer is None else _schema(one.answer, schemas)
    operation: dict[str, Any] = {
        "summary": one.summary,
        "responses": {
            "200": {"description": "Done.", "content": {kind: {"schema": answer}}},
            "default": {"description": "What is wrong.", "content": problem},
        },
    }
    if names := re.findall(r"\{(\w+)\}", one.path):
        operation["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if one.body is not None:
        schemas[one.body.name] = one.body.schema
        body = {"schema": _reference(one.body.name)}
        operation["requestBody"] = {"required": True, "content": {kind: body}}
    if one.role is not None:
        operation |= {"security": [{"token": []}], "x-role": one.role}
    return operation


def _schema(of: Any, schemas: dict[str, Schema]) -> Schema:
    """The schema of a type: of a `TypedDict` by reference, described where it is `Annotated`."""
    if get_origin(of) is NotRequired:
        return _schema(get_args(of)[0], schemas)
    if get_origin(of) is Annotated:
        inner, text = get_args(of)
        return {**_schema(inner, schemas), "description": text}
    if get_origin(of) is list:
        return {"type": "array", "items": _schema(get_args(of)[0], schemas)}
    if of in _TYPES:
        return {"type": _TYPES[of]}
    hints = get_type_hints(of, include_extras=True)
    schemas[of.__name__] = {
        "type": "object",
        "required": [name for name, hint in hints.items() if get_origin(hint) is not NotRequired],
        "properties": {name: _schema(hint, schemas) for name, hint in hints.items()},
    }
    return _reference(of.__name__)


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
