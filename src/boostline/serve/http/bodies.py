"""Bodies of requests: each field is declared once, to be read, to be refused by its name, and to be described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orjson import loads

from boostline.serve.errors import Invalid, Problem
from boostline.serve.live.features import check_features
from boostline.serve.live.label_names import LONGEST_NAME, is_name
from boostline.serve.live.settings import Limits

__all__ = ["Body", "Field"]

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
            raise Invalid(odd, f"is not known, but fields must be {known}")
        for name, field in self._fields.items():
            one = value.setdefault(name)
            if one is not None:
                field.check(one, name, limits)
            elif field.is_required:
                raise Invalid(name, "is missing, but must be given")
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


def _typed(kind: type, wanted: str) -> Callable[[Any, str, Limits], None]:
    def check(value: Any, field: str, limits: Limits) -> None:
        if not isinstance(value, kind):
            raise Invalid(field, f"is a {kind_of(value)}, but must be {wanted}")

    return check


_check_string = _typed(str, "a string")
_check_object = _typed(dict, "an object")
_check_list = _typed(list, "a list of labels")


def _check_name(value: Any, field: str, limits: Limits) -> None:
    _check_string(value, field, limits)
    if not is_name(value):
        is_now = shortened(repr(value))
        raise Invalid(field, f"is {is_now}, but must have 1 to {LONGEST_NAME} printable characters")


def _check_names(value: Any, field: str, limits: Limits) -> None:
    _check_list(value, field, limits)
    if len(value) > limits.labels:
        raise Invalid(field, f"has {len(value)} labels, but must have at most {limits.labels}")
    seen = set()
    for i, name in enumerate(value):
        _check_name(name, f"{field}[{i}]", limits)
        if name in seen:
            raise Invalid(field, f"has label {name!r} twice, but must have each once")
        seen.add(name)


def _check_renames(value: Any, field: str, limits: Limits) -> None:
    _check_object(value, field, limits)
    _check_names(list(value), field, limits)
    _check_names(list(value.values()), field, limits)


def _check_text(value: Any, field: str, limits: Limits) -> None:
    _check_string(value, field, limits)
    if len(value) > limits.text:
        raise Invalid(field, f"has {len(value)} characters, but must have at most {limits.text}")


def whole(least: int) -> Field:
    """A whole number."""

    def check(value: Any, field: str, limits: Limits) -> None:
        if type(value) is not int or value < least:
            raise Invalid(
                field, f"is {shortened(value)}, but must be a whole number from {least} on"
            )

    return Field(check, {"type": "integer", "minimum": least})


def _check_share(value: Any, field: str, limits: Limits) -> None:
    if type(value) not in (int, float) or not 0 < value < 1:
        raise Invalid(field, f"is {shortened(value)}, but must be a number between 0 and 1")


def one_of(*choices: str) -> Field:
    """One of some strings."""

    def check(value: Any, field: str, limits: Limits) -> None:
        if value not in choices:
            raise Invalid(field, f"is {shortened(value)}, but must be {' or '.join(choices)}")

    return Field(check, {"type": "string", "enum": list(choices)})


SHARE = Field(_check_share, {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
NAME = Field(_check_name, {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME})
NAMES = Field(_check_names, {"type": "array", "items": {"type": "string"}, "uniqueItems": True})
RENAMES = Field(
    _check_renames, {"type": "object", "additionalProperties": {"type": "string"}}
).described("Old names and new ones.")
STRING = Field(_check_string, {"type": "string"})
OBJECT = Field(_check_object, {"type": "object"})
TEXT = Field(_check_text, {"type": "string"}).described("Instead of features.")
_VALUE = {"type": ["number", "string", "boolean", "null"]}
FEATURES = Field(
    lambda value, _, limits: check_features(value, limits.features),
    {
        "oneOf": [
            {"type": "array", "items": {"type": ["number", "null"]}},
            {"type": "object", "additionalProperties": _VALUE},
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
