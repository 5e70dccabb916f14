"""Errors as answers: application/problem+json (RFC 9457) that names the field."""

from __future__ import annotations

from typing import Any

__all__ = ["Invalid", "Problem"]

_TITLES = {
    400: "Not understood",
    401: "No valid token",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    410: "Gone",
    413: "Too large",
    415: "Wrong content type",
    422: "Not valid",
    429: "Too many requests",
    431: "Headers too large",
    500: "Internal error",
    503: "Not available",
    507: "Cannot be stored",
}


class Problem(Exception):
    """What is wrong with a request, or with the service."""

    def __init__(
        self, status: int, detail: str, field: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field = status, detail, field
        self.retry_after = retry_after

    @property
    def title(self) -> str:
        return _TITLES.get(self.status, "Error")

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.field is not None:
            told["field"] = self.field
        return told


class Invalid(Problem, ValueError):
    """A field of a request that cannot be: 422."""

    def __init__(self, field: str | None, detail: str) -> None:
        super().__init__(422, detail, field)
