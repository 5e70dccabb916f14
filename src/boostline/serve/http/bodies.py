"""Bodies of requests: each field is declared once, to be read, to be refused by its name, and to be described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orjson import loads

from boostline.serve.errors import Invalid, Problem
from boostline.serve.live.features import check_features
from boostline.serve.live.label_names import LONGEST_NAME, is_name
from boostline.serve.live.requests import Limits

__all__ = ["Body", "Field", "check_name"]

Schema = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """One field: how its value is checked, and its JSON schema."""

    check: Callable[[Any, str, Limits], None]
    schema: Schema
    is_required: bool = False

    def described(self, description: str) -> Field:
        return Field(self.check, {**self.schema, "description": description}, self.is_required)

    def required(self) -> Field:
        return Field(self.check, self.schema, is_required=True)


class Body:
    """A JSON object with known fields; null is the same as leaving a field out."""

    def __init__(self, name: str, /, **fields: Field) -> None:
        self.name, self._fields = name, fields

    def read(self, raw: bytes, limits: Limits) -> dict[str, Any]:
        """The values of all fields; None for those that were not given."""
        try:
            value = loads(raw)  # rejects NaN, Infinity and lone surrogates
        except ValueError as error:
            raise Problem(400, f"the body is not JSON: {shortened(str(error))}") from None
        if not isinstance(value, dict):
            raise Problem(400, f"the body is a {kind_of(value)}, but must be an object")
        if not value.keys() <= self._fields.keys():
            odd = shortened(next(field for field in value if field not in self._fields))
            known = ", ".join(self._fields)
            raise Invalid(odd, f"{odd} is not known, but fields must be {known}")
        for name, field in self._fields.items():
            one = value.setdefault(name)
            if one is not None:
                field.check(one, name, limits)
            elif field.is_required:
                raise Invalid(name, f"{name} is missing, but must be given")
        return value

    @property
    def schema(self) -> Schema:
        required = [name for name, field in self._fields.items() if field.is_required]
        schema: Schema = {
            "type": "object",
            "properties": {name: field.schema for name, field in self._fields.items()},
            "additionalProperties": False,
        }
        return {**schema, "required": required} if required else schema


def check_name(value: Any, field: str) -> None:
    """Refuse what cannot be the name of a label or an id."""
    if not isinstance(value, str):
        raise Invalid(field, f"{field} is a {kind_of(value)}, but must be a string")
    if not is_name(value):
        raise Invalid(
            field,
            f"{field} is {shortened(repr(value))}, but must have 1 to {LONGEST_NAME} printable characters",
        )


def _check_names(value: Any, field: str, limits: Limits) -> None:
    if not isinstance(value, list):
        raise Invalid(field, f"{field} is a {kind_of(value)}, but must be a list of labels")
    if len(value) > limits.labels:
        raise Invalid(
            field, f"{field} has {len(value)} labels, but must have at most {limits.labels}"
        )
    seen = set()
    for i, name in enumerate(value):
        check_name(name, f"{field}[{i}]")
        if name in seen:
            raise Invalid(field, f"{field} has label {name!r} twice, but must have each once")
        seen.add(name)


def _check_renames(value: Any, field: str, limits: Limits) -> None:
    if not isinstance(value, dict):
        raise Invalid(field, f"{field} must be an object of old and new names")
    _check_names(list(value), field, limits)
    _check_names(list(value.values()), field, limits)


def _check_text(value: Any, field: str, limits: Limits) -> None:
    if not isinstance(value, str):
        raise Invalid(field, f"{field} is a {kind_of(value)}, but must be a string")
    if len(value) > limits.text:
        raise Invalid(
            field, f"{field} has {len(value)} characters, but must have at most {limits.text}"
        )


def _check_features(value: Any, field: str, limits: Limits) -> None:
    if isinstance(value, str):
        raise Invalid(field, f"{field} is a string, but must be a list or an object (or give text)")
    check_features(value, limits.features)


def _check_object(value: Any, field: str, limits: Limits) -> None:
    if not isinstance(value, dict):
        raise Invalid(field, f"{field} must be an object")


def _check_string(value: Any, field: str, limits: Limits) -> None:
    if not isinstance(value, str):
        raise Invalid(field, f"{field} is a {kind_of(value)}, but must be a string")


def whole(least: int) -> Field:
    """A whole number."""

    def check(value: Any, field: str, limits: Limits) -> None:
        if type(value) is not int or value < least:
            what = shortened(value)
            raise Invalid(field, f"{field} is {what}, but must be a whole number from {least} on")

    return Field(check, {"type": "integer", "minimum": least})


NAME = Field(
    lambda value, field, _: check_name(value, field),
    {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
)
NAMES = Field(_check_names, {"type": "array", "items": {"type": "string"}, "uniqueItems": True})
RENAMES = Field(
    _check_renames, {"type": "object", "additionalProperties": {"type": "string"}}
).described("Old names and new ones.")
STRING = Field(_check_string, {"type": "string"})
OBJECT = Field(_check_object, {"type": "object"})
TEXT = Field(_check_text, {"type": "string"}).described("Instead of features.")
FEATURES = Field(
    _check_features,
    {
        "oneOf": [
            {"type": "array", "items": {"type": ["number", "null"]}},
            {
                "type": "object",
                "additionalProperties": {"type": ["number", "string", "boolean", "null"]},
            },
        ]
    },
).described("Numbers in a fixed order, or by name; strings are categories, null is missing.")


def kind_of(value: Any) -> str:
    """The type of a value, as JSON calls it."""
    names = {dict: "object", list: "list", str: "string", bool: "bool", type(None): "null"}
    return names.get(type(value), "number")


def shortened(value: Any) -> str:
    """A value in an error: not all of it if it is long."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
