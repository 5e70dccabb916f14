"""The built site: complete, and nothing in it is fetched from elsewhere."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest
from doc_lines import DOCS, PAGES, ROOT, lines

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
KATEX = DOCS / "assets" / "katex" / "katex.min.js"
# What a browser fetches by itself; links that a reader may follow are not among these.
FETCHED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?P<src>(?:https?:)?//[^\"' >]+)"
    r"|<link\b[^>]*\brel=[\"']?(?:stylesheet|icon|preload|preconnect|dns-prefetch|modulepreload)\b"
    r"[^>]*\bhref=[\"']?(?P<href>(?:https?:)?//[^\"' >]+)"
    r"|(?:@import|url\()\s*[\"']?(?P<url>(?:https?:)?//[^\"' )]+)",
    re.I,
)
# As pymdownx.arithmatex finds them.
INLINE = re.compile(r"(?<!\\)\$(?!\s)((?:\\.|[^\\$])+?)(?<!\s)\$")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")

    def refuse(*args):
        raise OSError("the documentation is built without a network")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(socket.socket, "connect", refuse)
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


@pytest.mark.process
@pytest.mark.slow
def test_nothing_is_fetched_from_elsewhere(site):
    fetched = {
        f"{path.relative_to(site)}: {match['src'] or match['href'] or match['url']}"
        for pattern in ("*.html", "*.css")
        for path in site.rglob(pattern)
        for match in FETCHED.finditer(path.read_text())
    }
    assert fetched == set()


@pytest.mark.process
@pytest.mark.slow
def test_files_that_pages_fetch_are_there(site):
    for page in site.rglob("*.html"):
        if page.name == "404.html":  # its paths begin at the site's address
            continue
        for name in re.findall(r"<(?:script|img)\b[^>]*\bsrc=\"([^\":]+)\"", page.read_text()):
            assert (page.parent / name.split("?")[0]).exists(), f"{page}: {name}"


# Runs in a page with a frame for each page of the site: what is wider than its place.
WIDE = """<script>addEventListener("load", () => setTimeout(() => {
  const found = []
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, path = frame.getAttribute("src")
    if (page.documentElement.scrollWidth > frame.clientWidth) found.push(path + ": the page")
    if (frame.clientWidth > 1000)
      for (const part of page.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code"))
        if (part.scrollWidth > part.clientWidth + 1) found.push(path + ": " + part.textContent.trim().slice(0, 40))
  }
  document.body.dataset.found = encodeURIComponent(JSON.stringify(found))
}, 1500))</script>"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)")
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_tables_and_code_fit(site, tmp_path, width):
    pages = [path for path in site.rglob("index.html") if "assets" not in path.parts]
    assert len(pages) > 30
    frames = "".join(
        f'<iframe src="{path.as_uri()}" style="width: {width}px; height: 900px; border: 0"></iframe>'
        for path in pages
    )
    wrapper = tmp_path / "frames.html"
    wrapper.write_text(f"<!doctype html><meta charset=utf-8>{WIDE}<body>{frames}")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--virtual-time-budget=30000", "--window-size=1400,900", "--dump-dom"]
    done = subprocess.run(
        [*command, wrapper.as_uri()], capture_output=True, text=True, timeout=300, check=True
    )
    found = re.search(r"data-found=\"([^\"]*)\"", done.stdout)
    assert found, done.stderr
    assert json.loads(unquote(found[1])) == []


def formulas(page: Path) -> list[tuple[int, str]]:
    """Return the formulas of a page, each with its line."""
    found = []
    display: list[str] = []
    for line in lines(page):
        if line.part == "formula":
            display.append(line.text)
            continue
        if display:
            found.append((line.number, "\n".join(display)))
            display = []
        if line.part in ("prose", "table"):
            text = re.sub(r"`[^`]*`", "", line.text)
            found += [(line.number, tex) for tex in INLINE.findall(text)]
    return found


@pytest.mark.process
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_katex_understands_every_formula():
    every = [
        (f"{page.relative_to(ROOT)}:{number}", tex)
        for page in PAGES
        for number, tex in formulas(page)
    ]
    script = """
        const katex = require(process.argv[1]), wrong = []
        for (const [place, tex] of JSON.parse(require("fs").readFileSync(0)))
          try { katex.renderToString(tex, {strict: "error"}) } catch (e) { wrong.push(`${place}: ${e.message}`) }
        console.log(JSON.stringify(wrong))
    """
    done = subprocess.run(
        ["node", "-e", script, str(KATEX)],
        input=json.dumps(every),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
