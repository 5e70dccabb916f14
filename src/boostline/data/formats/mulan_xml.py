"""The label names that a MULAN xml file declares.

An xml file is data from a stranger: document type definitions (and with them every entity trick,
from the billion laughs to reading other files) are refused, and so is anything implausibly large.
"""

from __future__ import annotations

from xml.parsers import expat

from boostline.data.errors import DataError
from boostline.data.source import Source, open_bytes, source_name

#: bibtex with 159 labels takes 6 KB; a million labels fit as well.
MAX_XML_BYTES = 64 * 2**20


def read_label_names(source: Source) -> list[str]:
    """Names of the labels in a MULAN xml, in the order of that file.

    Nested labels (hierarchies) are listed parent first, as they appear.

    Parameters
    ----------
    source
        A path or a binary file.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import io
    >>> text = b'<labels><label name="calm"/><label name="sad"/></labels>'
    >>> read_label_names(io.BytesIO(text))
    ['calm', 'sad']

    """
    name = source_name(source)
    names: dict[str, int] = {}
    parser = expat.ParserCreate(namespace_separator=" ")

    def fail(message: str) -> DataError:
        return DataError(message, path=name, line=parser.CurrentLineNumber)

    def refuse_doctype(*_: object) -> None:
        raise fail("holds a document type definition (DTD), which is refused; remove it")

    def start(tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(" ")[2]
        if local == "labels":
            return
        if local != "label":
            raise fail(f"has an element <{local}>; only <labels> and <label> are known")
        label = attributes.get("name")
        if not label:
            raise fail("has a <label> without a name")
        if label in names:
            raise fail(f"names the label {label!r} twice (first in line {names[label]})")
        names[label] = parser.CurrentLineNumber

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.EntityDeclHandler = refuse_doctype
    parser.StartElementHandler = start
    with open_bytes(source) as file:
        try:
            content = file.read(MAX_XML_BYTES + 1)
        except (EOFError, OSError) as error:
            raise DataError(f"cannot be read: {error}", path=name) from error
    if len(content) > MAX_XML_BYTES:
        raise DataError(f"is larger than {MAX_XML_BYTES} bytes", path=name)
    try:
        parser.Parse(content, True)
    except DataError:
        raise
    except (LookupError, ValueError) as error:
        raise DataError(
            f"has an encoding that cannot be read ({error}); write it as UTF-8", path=name, line=1
        ) from error
    except expat.ExpatError as error:
        raise DataError(
            f"is not well-formed xml: {expat.ErrorString(error.code)}", path=name, line=error.lineno
        ) from error
    if not names:
        raise DataError("has no <label>", path=name)
    return list(names)
