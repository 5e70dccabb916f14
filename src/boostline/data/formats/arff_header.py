"""The header of an ARFF file: attributes and their types.

ARFF is Weka's format; https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from boostline.contract.advice import advice
from boostline.data.formats.arff_tokens import BLANKS, read_value
from boostline.data.source import LineReader

NUMERIC_TYPES = frozenset({"numeric", "real", "integer"})
BINARY = frozenset({"0", "1"})

_VALUE_OF_DOMAIN = re.compile(r"[ \t,]*+(?=[^ \t,])")


@dataclass(frozen=True)
class Attribute:
    """One ``@attribute`` line: `values` is the domain of a nominal one, else None."""

    name: str
    kind: str
    values: tuple[str, ...] | None
    line: int

    @property
    def is_plain(self) -> bool:
        """Whether its values are numbers that stay one column: numeric, or nominal {0,1}."""
        return self.kind == "numeric" if self.values is None else BINARY.issuperset(self.values)

    def __str__(self) -> str:
        if self.values is None:
            return f"of type {self.kind}"
        shown = ", ".join(self.values[:8]) + (", ..." if len(self.values) > 8 else "")
        return f"nominal {{{shown}}}"


def read_header(lines: LineReader, encoding: str) -> list[Attribute]:
    """Read up to and with ``@data``; return the attributes."""
    attributes: dict[str, Attribute] = {}
    for number, raw in enumerate(lines, start=1):
        line = lines.decode(raw, encoding).strip(BLANKS)
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not line or line.startswith("%"):
            continue
        keyword = re.split(r"[ \t]", line, maxsplit=1)[0]
        match keyword.lower():
            case "@relation":
                pass
            case "@attribute":
                try:
                    attribute = _parse_attribute(line[len(keyword) :].strip(BLANKS), lines.number)
                except ValueError as error:
                    raise lines.error(str(error)) from error
                if first := attributes.get(attribute.name):
                    raise lines.error(
                        f"names the attribute {attribute.name!r} a second time "
                        f"(first in line {first.line})"
                    )
                attributes[attribute.name] = attribute
            case "@data":
                if not attributes:
                    raise lines.error("@data comes before any @attribute")
                return list(attributes.values())
            case _:
                raise lines.error(
                    f"has {line[:40]!r} in the header, but must have @relation, @attribute or @data"
                )
    raise lines.error("ends before @data: the file is incomplete, or not an ARFF file")


def _parse_attribute(text: str, line: int) -> Attribute:
    # A nominal domain may follow the name without a blank between them.
    name, position = read_value(text, 0, BLANKS + "{")
    kind = text[position:].strip(BLANKS)
    words = kind.split()  # at more kinds of blanks than BLANKS has
    if not name or not words:
        raise ValueError("has an @attribute without a name or without a type")
    if not kind.startswith("{"):
        word = words[0].lower()
        return Attribute(name, "numeric" if word in NUMERIC_TYPES else word, None, line)
    domain: dict[str, None] = {}
    position = 1
    while start := _VALUE_OF_DOMAIN.match(kind, position):
        if kind[start.end()] == "}":
            return Attribute(name, "nominal", tuple(domain), line)
        value, position = read_value(kind, start.end(), ",}")
        if value is None:
            raise ValueError(f"lists ? as a value of the attribute {name!r}; quote it: '?'")
        if value in domain:
            raise ValueError(f"lists the value {value!r} of the attribute {name!r} twice")
        domain[value] = None
    raise ValueError(f"does not close the {{ of the attribute {name!r}")


def why_unfit(attribute: Attribute, is_label: bool) -> str | None:
    """Say why an attribute can be neither label nor feature."""
    without = advice(
        f"pass drop=[{attribute.name!r}]", f"give --drop {shlex.quote(attribute.name)}"
    )
    if attribute.values == ():
        return f"the attribute {attribute.name!r} has the domain {{}}, but must have a value: {without}"
    if is_label and not attribute.is_plain:
        return f"the label {attribute.name!r} is {attribute}; a label is {{0,1}}"
    if attribute.values is None and not attribute.is_plain:
        return (
            f"the attribute {attribute.name!r} is {attribute}; only numeric and nominal ones can "
            f"be features: {without}"
        )
    return None
