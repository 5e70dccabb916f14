"""Errors as responses: application/problem+json (RFC 9457) that names the field."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

__all__ = ["Invalid", "Problem"]


class Problem(Exception):
    """What is wrong with a request, or with the service."""

    def __init__(
        self,
        status: int,
        detail: str,
        field: str | None = None,
        retry_after: int | None = None,
        *,
        closes: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.field = status, detail, field
        self.title = HTTPStatus(status).phrase
        self.retry_after = retry_after
        #: Whether the connection is closed after the answer: the rest of the body is not read.
        self.closes = closes or status in (408, 413)

    def to_dict(self) -> dict[str, Any]:
        fields = {"type": "about:blank", "title": self.title, "status": self.status}
        fields["detail"] = self.detail
        return fields if self.field is None else {**fields, "field": self.field}


class Invalid(Problem, ValueError):
    """A field of a request that is not valid: 422. The field's name begins the sentence."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(422, f"{field} {problem}", field)
