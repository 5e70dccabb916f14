"""MULAN's xml names the labels of arff files: where it is found, and what it may not be."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from boostline import data
from boostline.data import DataError
from boostline.data.formats.mulan_xml import read_label_names


def test_the_xml_beside_the_file_names_the_labels(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a real\n@attribute y {0,1}\n@attribute z {0,1}\n@data\n2,1,0\n"
    xml = '<labels xmlns="http://x.y/labels"><label name="z"/><label name="y"/></labels>'
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "set-train.arff.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "set-test.arff").write_text(text.replace("2,1,0", "3,0,1\n4,1,1"))
    with pytest.raises(DataError, match=r"does not say which attributes are labels.*set\.xml"):
        data.load(folder / "set-train.arff.gz")
    (folder / "set.xml").write_text(xml)
    one = data.load(folder / "set-train.arff.gz")
    assert one.labels == ["y", "z"] and one.name == "set"
    both = data.load(folder / "set-train.arff.gz", test=folder / "set-test.arff")
    whole = data.load(folder)
    for loaded in (both, whole):
        assert (loaded.n_train, loaded.n_test, loaded.name) == (1, 2, "set")
        assert loaded.X.tolist() == [[2], [3], [4]]
    assert data.load(folder, labels=["y"]).features == ["a", "z"]
    (folder / "set-test.arff").unlink()
    with pytest.raises(DataError, match=r"has no set-test\.arff"):
        data.load(folder)


# -- xml -------------------------------------------------------------------------------------------


def test_xml_with_bom_crlf_entities_and_nesting() -> None:
    text = '\ufeff<?xml version="1.0" encoding="utf-8"?>\r\n<labels>\r\n'
    text += '<label name="a&amp;b"><label name="ü"/></label>\r\n</labels>'
    assert read_label_names(io.BytesIO(text.encode())) == ["a&b", "ü"]


def test_an_xml_may_be_packed_but_not_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    from boostline.data.formats import mulan_xml

    packed = gzip.compress(b'<labels><label name="a"/>' + b" " * 100_000 + b"</labels>")
    assert read_label_names(io.BytesIO(packed)) == ["a"]
    with pytest.raises(DataError, match=r"gzip data are damaged or incomplete|cannot be read"):
        read_label_names(io.BytesIO(packed[:-8]))
    monkeypatch.setattr(mulan_xml, "MAX_XML_BYTES", 1000)
    with pytest.raises(DataError, match="is larger than 1000 bytes"):
        read_label_names(io.BytesIO(packed))


BOMB = """<?xml version="1.0"?>
<!DOCTYPE labels [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<labels><label name="&b;"/></labels>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, r":2: holds a document type definition \(DTD\), which is refused"),
        ('<!DOCTYPE labels SYSTEM "file:///etc/passwd"><labels/>', "document type definition"),
        ("<labels><label name='a'>", ":1: is not well-formed xml"),
        (
            "<labels>\n<label name='a'/>\n<label name='a'/></labels>",
            ":3: names the label 'a' twice",
        ),
        ("<labels>\n<label/></labels>", ":2: has a <label> without a name"),
        ("<labels><x/></labels>", "has an element <x>"),
        ("<labels/>", "has no <label>"),
        ("<?xml version='1.0' encoding='klingon'?><labels/>", ":1: has an encoding .*klingon"),
        ("<?xml version='1.0' encoding='shift_jis'?><labels/>", ":1: has an encoding"),
        ("<?xml version='1.0' encoding='idna'?><labels/>", ":1: has an encoding"),
        ("", "is not well-formed xml"),
        ("<labels><label name='&undefined;'/></labels>", "is not well-formed xml"),
    ],
)
def test_bad_xml_is_refused(text: str, message: str) -> None:
    file = io.BytesIO(text.encode())
    file.name = "bad.xml"
    with pytest.raises(DataError, match=r"^bad\.xml.*" + message):
        read_label_names(file)
