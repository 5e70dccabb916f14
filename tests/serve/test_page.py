"""The page in a real browser, without a mouse: promote and roll back after a question, light and dark, two sizes."""

from __future__ import annotations

import shutil

import pytest
from browser import Browser, until
from serving import LABELS, features, label, serving

pytestmark = [pytest.mark.process, pytest.mark.gate]

needs_chromium = pytest.mark.skipif(
    not (shutil.which("chromium") or shutil.which("chromium-browser")),
    reason="there is no chromium",
)


@needs_chromium
def test_promote_and_roll_back_by_keyboard_after_a_question(tmp_path):
    options = ("--labels", ",".join(LABELS), "--snapshot-rows", "10")
    with serving(tmp_path / "s.db", *options) as server:
        for i in range(35):
            server.post("/rank", {"id": f"r{i}", "features": features(i)})
            told = server.post("/feedback", {"id": f"r{i}", "relevant": [label(i)]})
        server.reached(told.json["offset"])
        config = {"algorithm": "ada_olmr", "learners": "paper:3", "seed": 1}
        assert server.post("/challengers", {"name": "trees", "config": config}).status == 201
        browser = Browser(tmp_path, f"http://{server.address}/")
        try:
            until(lambda: "promote" in (browser.see("document.body.textContent") or ""))
            for width, colours in ((1280, "light"), (1280, "dark"), (390, "dark"), (390, "light")):
                browser.show(width, colours)
                browser.see("localStorage.clear()")
                browser.reload()
                until(lambda: "learned 35 rows" in (browser.see("document.body.textContent") or ""))
                assert browser.see("document.documentElement.scrollWidth") <= width
                paper = browser.see("getComputedStyle(document.body).backgroundColor")
                assert (sum(map(int, paper.strip("rgb()").split(", "))) < 200) == (
                    colours == "dark"
                )
                length = "document.querySelector('#chart polyline').getTotalLength()"
                until(
                    lambda length=length: (browser.see(length) or 0) > 10
                )  # though there is one window only
                browser.picture(tmp_path / f"{width}-{colours}.png")

            def serves():
                return server.get("/model").json["name"]

            until(lambda: "promote" in browser.see("document.body.textContent"))
            browser.tab_to("promote")
            browser.press("Enter")
            until(lambda: browser.see("document.getElementById('sure').open"))
            assert browser.see("document.activeElement.textContent") == "No"
            browser.press("Escape")
            until(lambda: not browser.see("document.getElementById('sure').open"))
            assert serves() == "first"
            browser.tab_to("promote")
            browser.press("Enter")
            until(lambda: browser.see("document.getElementById('sure').open"))
            browser.tab_to("Yes")
            browser.press("Enter")
            until(lambda: serves() == "trees")
            server.post("/challengers/first/promote")
            version = server.get("/model").json["snapshots"][-2]["version"]
            until(
                lambda: (
                    f"v{version}" in browser.see("document.getElementById('rollback').textContent")
                )
            )
            browser.tab_to(f"v{version}")
            browser.press("Enter")
            until(lambda: browser.see("document.getElementById('sure').open"))
            browser.tab_to("Yes")
            browser.press("Enter")
            until(lambda: serves() == f"first@{version}")
            until(
                lambda: (
                    f"first@{version}"
                    in browser.see("document.getElementById('state').textContent")
                )
            )
        finally:
            browser.close()
        assert server.stop() == 0


@needs_chromium
def test_the_api_page_shows_every_endpoint_without_other_hosts(tmp_path):
    with serving(tmp_path / "s.db", "--labels", ",".join(LABELS)) as server:
        browser = Browser(tmp_path, f"http://{server.address}/docs")
        try:
            until(lambda: "POST /rank" in (browser.see("document.body.textContent") or ""))
            text = browser.see("document.body.textContent")
            paths = server.get("/openapi.json").json["paths"]
            for path, methods in paths.items():
                assert all(f"{method.upper()} {path}" in text for method in methods)
            assert "Makes repeating safe" in text and "role admin" in text
            browser.picture(tmp_path / "docs.png")
        finally:
            browser.close()
