"""Requests, read once: what is wrong with one is said with the name of the field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from orjson import loads

from boostline.serve.errors import Problem
from boostline.serve.live.features import MOST_FEATURES, FeatureError, check_features

__all__ = ["FeedbackRequest", "Limits", "RankRequest", "parse_json", "read_feedback", "read_rank"]

_LONGEST_NAME = 200
_OF_RANK = dict.fromkeys(("id", "features", "text", "top"))
_OF_FEEDBACK = dict.fromkeys(
    ("id", "relevant", "irrelevant", "unknown", "revision", "features", "text")
)


@dataclass(frozen=True)
class Limits:
    """How large a request may be."""

    body: int = 1_000_000
    batch_body: int = 16_000_000
    batch: int = 1000
    features: int = MOST_FEATURES
    text: int = 100_000
    labels: int = 10_000
    queue: int = 1000
    seconds: float = 20.0


@dataclass(slots=True)
class RankRequest:
    """What ``POST /rank`` asks for."""

    id: str | None
    features: Any  # list, dict, or str for text
    top: int | None
    raw: bytes

    def same(self, other: dict[str, Any]) -> bool:
        """Whether a request that was logged asked for the same."""
        theirs = other["features"] if other.get("features") is not None else other.get("text")
        return bool(theirs == self.features and other.get("top") == self.top)


@dataclass(slots=True)
class FeedbackRequest:
    """What ``POST /feedback`` tells."""

    id: str
    relevant: list[str]
    irrelevant: list[str] | None
    unknown: list[str]
    revision: int | None
    features: Any = None

    @property
    def told(self) -> dict[str, Any]:
        """The labels, in one form."""
        return {
            "relevant": sorted(self.relevant),
            "irrelevant": None if self.irrelevant is None else sorted(self.irrelevant),
            "unknown": sorted(self.unknown),
        }

    @property
    def named(self) -> list[tuple[str, str]]:
        """Every label that is named, with its field."""
        fields = (
            ("relevant", self.relevant),
            ("irrelevant", self.irrelevant or ()),
            ("unknown", self.unknown),
        )
        return [(field, label) for field, labels in fields for label in labels]


def parse_json(raw: bytes) -> dict[str, Any]:
    """Parse an object; NaN, infinities and half characters are no JSON."""
    try:
        value = loads(raw)
    except ValueError as error:
        raise Problem(400, f"the body is no JSON: {_short(str(error))}") from None
    if not isinstance(value, dict):
        raise Problem(400, f"the body is a {_kind(value)}, but must be an object")
    return value


def read_rank(raw: bytes, limits: Limits) -> RankRequest:
    """Read ``{"id", "features" or "text", "top"}``."""
    value = parse_json(raw)
    _refuse_others(value, _OF_RANK)
    id = value.get("id")
    if id is not None:
        id = _name(id, "id")
    top = value.get("top")
    if top is not None and (type(top) is not int or top < 1):
        raise Problem(422, f"top is {_short(top)}, but must be a whole number from 1 on", "top")
    return RankRequest(id, _features(value, limits, needed=True), top, raw)


def read_feedback(raw: bytes, limits: Limits) -> FeedbackRequest:
    """Read ``{"id", "relevant", "irrelevant" or "unknown", "revision", "features" or "text"}``."""
    value = parse_json(raw)
    _refuse_others(value, _OF_FEEDBACK)
    if "id" not in value:
        raise Problem(
            422, "id is missing, but must say which ranking (or which example) is meant", "id"
        )
    id = _name(value["id"], "id")
    if value.get("relevant") is None and value.get("irrelevant") is None:
        raise Problem(422, "relevant is missing, but must be a list of labels", "relevant")
    relevant = _labels(value, "relevant", limits) or []
    irrelevant = _labels(value, "irrelevant", limits)
    unknown = _labels(value, "unknown", limits) or []
    seen = dict.fromkeys(relevant, "relevant")
    for field, labels in (("irrelevant", irrelevant or []), ("unknown", unknown)):
        for label in labels:
            if label in seen:
                raise Problem(
                    422, f"{field} has label {label!r}, but {seen[label]} has it too", field
                )
            seen[label] = field
    revision = value.get("revision")
    if revision is not None and (type(revision) is not int or revision < 1):
        raise Problem(
            422, f"revision is {_short(revision)}, but must be a whole number from 1 on", "revision"
        )
    features = _features(value, limits, needed=False)
    return FeedbackRequest(id, relevant, irrelevant, unknown, revision, features)


def read_names(value: Any, field: str, most: int) -> list[str]:
    """A list of different names."""
    if not isinstance(value, list):
        raise Problem(422, f"{field} is a {_kind(value)}, but must be a list of labels", field)
    if len(value) > most:
        raise Problem(422, f"{field} has {len(value)} labels, but must have at most {most}", field)
    names = [_name(one, f"{field}[{i}]") for i, one in enumerate(value)]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise Problem(422, f"{field} has label {twice!r} twice, but must have each once", field)
    return names


def _features(value: dict[str, Any], limits: Limits, *, needed: bool) -> Any:
    features, text = value.get("features"), value.get("text")
    if features is None and text is None:
        if needed:
            raise Problem(
                422,
                "features is missing, but must be a list or an object (or give text)",
                "features",
            )
        return None
    if text is not None:
        if features is not None:
            raise Problem(422, "text is given beside features, but only one of them can be", "text")
        if not isinstance(text, str):
            raise Problem(422, f"text is a {_kind(text)}, but must be a string", "text")
        if len(text) > limits.text:
            raise Problem(
                422, f"text has {len(text)} characters, but must have at most {limits.text}", "text"
            )
        return text
    if isinstance(features, str):
        raise Problem(
            422, "features is a string, but must be a list or an object (or give text)", "features"
        )
    try:
        check_features(features, limits.features)
    except FeatureError as error:
        raise Problem(422, _short(str(error)), _short(error.field)) from None
    return features


def _labels(value: dict[str, Any], field: str, limits: Limits) -> list[str] | None:
    labels = value.get(field)
    return None if labels is None else read_names(labels, field, limits.labels)


def _name(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise Problem(422, f"{field} is a {_kind(value)}, but must be a string", field)
    if not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
        raise Problem(
            422,
            f"{field} is {_short(repr(value))}, but must have 1 to {_LONGEST_NAME} printable characters",
            field,
        )
    return value


def _refuse_others(value: dict[str, Any], known: dict[str, None]) -> None:
    if value.keys() <= known.keys():
        return
    for field in value:
        if field not in known:
            raise Problem(
                422,
                f"{_short(field)} is not known, but fields must be {', '.join(known)}",
                _short(field),
            )


def _kind(value: Any) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "bool", type(None): "null"}
    return names.get(type(value), "number")


def _short(value: Any) -> str:
    """What came, in an error: not all of it if it is long."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
