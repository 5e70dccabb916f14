"""The header of an ARFF file: attributes and their types, and what becomes of each.

ARFF is Weka's format; https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from boostline.data.errors import DataError
from boostline.data.source import LineReader

NUMERIC_TYPES = frozenset({"numeric", "real", "integer"})
BINARY = frozenset({"0", "1"})

_QUOTES = "'\""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


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
        return self.kind == "numeric" or (
            self.values is not None and BINARY.issuperset(self.values)
        )


def split_quoted(text: str, separators: str) -> list[tuple[str, bool]]:
    """Split at `separators` outside quotes; an unquoted % starts a comment.

    Returns (token, was quoted) pairs. Raises ValueError with a short reason.

    Examples
    --------
    >>> split_quoted(r"1, 'a, b', ? % note", ",")
    [('1', False), ('a, b', True), ('?', False)]

    """
    tokens: list[tuple[str, bool]] = []
    position, end = 0, len(text)
    while True:
        while position < end and text[position] in " \t\r\n":
            position += 1
        if position < end and text[position] in _QUOTES:
            token, position = _read_quoted(text, position)
            tokens.append((token, True))
            while position < end and text[position] in " \t\r\n":
                position += 1
            if position < end and text[position] not in separators and text[position] != "%":
                raise ValueError(f"has {text[position]!r} straight after a closing quote")
        else:
            start = position
            while position < end and text[position] not in separators and text[position] != "%":
                position += 1
            tokens.append((text[start:position].strip(), False))
        if position >= end or text[position] == "%":
            return tokens
        position += 1


def _read_quoted(text: str, position: int) -> tuple[str, int]:
    quote, start, position = text[position], position, position + 1
    pieces: list[str] = []
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text):
            follower = text[position + 1]
            pieces.append(_ESCAPES.get(follower, follower))
            position += 2
        elif char == quote:
            return "".join(pieces), position + 1
        else:
            pieces.append(char)
            position += 1
    raise ValueError(f"has a quote at column {start + 1} that is never closed")


@dataclass(frozen=True)
class Layout:
    """What becomes of each attribute: label, feature columns, or nothing.

    Features keep the order of the file. ``label_of[i]`` is the label index of attribute i or -1;
    ``column_of[i]`` is the first feature column of attribute i or -1.
    """

    attributes: list[Attribute]
    labels: list[str]
    features: list[str]
    label_of: list[int]
    column_of: list[int]
    codes: list[dict[str, int] | None] = field(default_factory=list)

    @cached_property
    def is_plain(self) -> bool:
        """Whether every attribute of the file is numeric or exactly {0,1}."""
        return all(
            attribute.kind == "numeric" or set(attribute.values or ()) == BINARY
            for attribute in self.attributes
        )


def read_header(lines: LineReader, encoding: str) -> list[Attribute]:
    """Read up to and with ``@data``; return the attributes."""
    attributes: list[Attribute] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(lines, start=1):
        try:
            line = raw.decode(encoding).strip()
        except UnicodeDecodeError as error:
            raise lines.error(
                f"is not {encoding} ({error.reason}); pass encoding='latin-1' if it is that"
            ) from error
        if number == 1:
            line = line.removeprefix("\ufeff")
        if not line or line.startswith("%"):
            continue
        keyword, *_ = line.replace("\t", " ").split(" ", 1)
        match keyword.lower():
            case "@relation":
                pass
            case "@attribute":
                attribute = _parse_attribute(line[len(keyword) :].strip(), lines)
                if attribute.name in seen:
                    raise lines.error(
                        f"names the attribute {attribute.name!r} a second time "
                        f"(first in line {seen[attribute.name]})"
                    )
                seen[attribute.name] = attribute.line
                attributes.append(attribute)
            case "@data":
                if not attributes:
                    raise lines.error("@data comes before any @attribute")
                return attributes
            case _:
                raise lines.error(
                    f"has {line[:40]!r} in the header, where @relation, @attribute or @data may be"
                )
    raise lines.error("ends before @data: the file is cut off, or no ARFF file")


def _parse_attribute(text: str, lines: LineReader) -> Attribute:
    try:
        if text[:1] and text[0] in _QUOTES:
            name, position = _read_quoted(text, 0)
            kind = text[position:].strip()
        else:
            # A nominal domain may follow the name without a blank between them.
            position = min((i for i, char in enumerate(text) if char in " \t{"), default=len(text))
            name, kind = text[:position], text[position:].strip()
        if not name or not kind:
            raise ValueError("has an @attribute without a name or without a type")
        if not kind.startswith("{"):
            word = kind.split()[0].lower()
            return Attribute(name, "numeric" if word in NUMERIC_TYPES else word, None, lines.number)
        domain, closed = _split_domain(kind)
        if not closed:
            raise ValueError(f"does not close the {{ of the attribute {name!r}")
        if len(set(domain)) != len(domain):
            twice = next(value for value in domain if domain.count(value) > 1)
            raise ValueError(f"lists the value {twice!r} of the attribute {name!r} twice")
        return Attribute(name, "nominal", domain, lines.number)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise lines.error(str(error)) from error


def _split_domain(kind: str) -> tuple[tuple[str, ...], bool]:
    """Values between the braces, and whether the closing brace is there."""
    values: list[str] = []
    rest = kind[1:]
    while True:
        rest = rest.lstrip(" \t,")
        if not rest or rest[0] == "}":
            return tuple(values), bool(rest)
        if rest[0] in _QUOTES:
            value, position = _read_quoted(rest, 0)
        else:
            position = min((i for i, c in enumerate(rest) if c in ",}"), default=len(rest))
            value = rest[:position].strip()
        values.append(value)
        rest = rest[position:]


def lay_out(
    attributes: list[Attribute],
    labels: Sequence[str],
    drop: Collection[str],
    path: str,
) -> Layout:
    """Decide for every attribute whether it is a label, a feature or dropped."""
    known = {attribute.name for attribute in attributes}
    for what, names in (("label", labels), ("dropped attribute", drop)):
        for name in names:
            if name not in known:
                raise DataError(f"has no attribute {name!r}, which is named as a {what}", path=path)
    both = set(labels) & set(drop)
    if both:
        raise ValueError(f"drop has {min(both)!r}, which is also named as a label")
    wanted = set(labels)
    layout = Layout(attributes, [], [], [], [])
    for attribute in attributes:
        codes = None
        label = column = -1
        if attribute.name in wanted:
            if not attribute.is_plain:
                raise DataError(
                    f"the label {attribute.name!r} is {_domain(attribute)}; a label is {{0,1}}",
                    path=path,
                    line=attribute.line,
                )
            label = len(layout.labels)
            layout.labels.append(attribute.name)
        elif attribute.name not in drop:
            column = len(layout.features)
            if attribute.is_plain:
                layout.features.append(attribute.name)
            elif attribute.values is not None:
                codes = {value: code for code, value in enumerate(attribute.values)}
                layout.features.extend(f"{attribute.name}={value}" for value in attribute.values)
            else:
                raise DataError(
                    f"the attribute {attribute.name!r} is of type {attribute.kind}; only numeric "
                    f"and nominal ones can be features: pass drop=[{attribute.name!r}]",
                    path=path,
                    line=attribute.line,
                )
        layout.label_of.append(label)
        layout.column_of.append(column)
        layout.codes.append(codes)
    return layout


def _domain(attribute: Attribute) -> str:
    if attribute.values is None:
        return f"of type {attribute.kind}"
    shown = ", ".join(attribute.values[:5]) + (", ..." if len(attribute.values) > 5 else "")
    return f"nominal {{{shown}}}"
