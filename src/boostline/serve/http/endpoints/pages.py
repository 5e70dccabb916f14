"""The pages for people, their files, and the description that programs read."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from orjson import dumps

from boostline.serve.errors import Problem
from boostline.serve.http.endpoint import ENDPOINTS, Call, Response, endpoint
from boostline.serve.http.openapi import description

_KINDS = {"html": b"text/html; charset=utf-8", "js": b"text/javascript", "css": b"text/css"}
_FILES = ("page.html", "page.css", "page.js", "docs.html", "docs.js")

#: The pages need nothing but their own files.
_POLICY = (
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)


@cache
def _file(name: str) -> Response:
    text = resources.files("boostline.serve.http").joinpath("page", name).read_bytes()
    return Response(200, _KINDS[name.rpartition(".")[2]], text, _POLICY)


@endpoint("GET", "/", None)
def page(call: Call) -> Response:
    """The page of the service."""
    return _file("page.html")


@endpoint("GET", "/docs", None)
def docs(call: Call) -> Response:
    """This description, for people."""
    return _file("docs.html")


@endpoint("GET", "/static/{name}", None)
def static(call: Call) -> Response:
    """A file of the pages."""
    name = call.parameters["name"]
    if name not in _FILES:
        raise Problem(404, f"there is no file {name[:80]!r}")
    return _file(name)


@endpoint("GET", "/openapi.json", None)
def openapi(call: Call) -> Any:
    """This description."""
    return _description()


@cache  # anybody may ask for it, without a token
def _description() -> bytes:
    return dumps(description(ENDPOINTS))
