"""What people look at: text left and numbers right; light and dark; wide and narrow."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

import boostline
from boostline.display import charts, html
from boostline.display.colours import COLOURS, DARK, SERIES, css
from boostline.display.tables import NONE, Table
from boostline.display.terminal import print_table

SOURCE = Path(boostline.__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Cells of all sorts: a name that is markup, figures with and without units, and none.
TABLE = Table(
    ["label", "rows", "share", "loss (mean)", "memory", "kind"],
    [
        ["[red]", "1,376", "23.8 %", ".2100 ± .0047", "2.2 MB", "tree"],
        ["12", "7", NONE, "-0.5", "1e-05 kB", ""],
    ],
    title="A table",
    note="What there is to know of it.",
)


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_and_charts_are_made_in_one_place():
    maker = re.compile(r"\"#[0-9a-fA-F]{6}\"|\bFigure\(")
    files = [path for path in SOURCE.rglob("*.py") if maker.search(path.read_text())]
    assert {path.relative_to(SOURCE).parts[0] for path in files} - {"serve"} == {"display"}


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_paper(side):
    paper, panel = COLOURS["paper"][side], COLOURS["panel"][side]
    for name in ("ink", "muted", "good", "bad"):
        assert contrast(COLOURS[name][side], paper) >= 4.5
        assert contrast(COLOURS[name][side], panel) >= 4.5
    assert contrast(COLOURS["blue"][side], paper) >= 4.5  # links


def test_dark_lines_stand_out():
    assert all(contrast(DARK[colour], COLOURS["paper"][1]) >= 3 for colour in SERIES)


def test_text_is_left_and_numbers_are_right():
    assert TABLE.numeric == [False, True, True, True, True, False]
    page = TABLE.html()
    assert '<th scope="col">label</th><th scope="col" class="number">rows</th>' in page
    assert '<td class="number">.2100 ± .0047</td>' in page and "<td>tree</td>" in page
    assert "|---|---:|---:|---:|---:|---|" in TABLE.markdown()


@pytest.mark.parametrize("width", [200, 60, 40])
def test_a_terminal_never_cuts_a_figure(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table(TABLE)
    shown = capsys.readouterr().out
    for figure in ("1,376", "23.8 %", "2.2 MB", "1e-05 kB", "[red]"):
        assert figure in shown
    assert ".2100 ± .0047" in shown or ".2100±.0047" in shown


def draw(width: float):
    figure, grid = charts.panels(3, 2.0, width, across=3)
    for place, (axes, colour) in enumerate(zip(grid, SERIES, strict=False)):
        axes.plot([0, 1], [0, place], color=colour, label=f"a rather long name of line {place}")
        axes.set_xlabel("rows learned")
        charts.title(axes, "日本 < $x")
    charts.legend(figure)
    return figure


def test_a_chart_is_the_same_text_each_time_and_knows_the_dark():
    pytest.importorskip("matplotlib")
    first = charts.svg(draw(charts.WIDE))
    assert first == charts.svg(draw(charts.WIDE))
    root = ElementTree.fromstring(first)
    assert root.get("width") == f"{72 * charts.WIDE:g}pt"
    assert "日本" in "".join(root.itertext())
    assert "prefers-color-scheme: dark" in first and COLOURS["blue"][1] in first


def test_panels_stack_where_there_is_no_room_beside():
    pytest.importorskip("matplotlib")
    places = {round(axes.get_position().x0, 3) for axes in draw(charts.NARROW).axes}
    assert len(places) == 1


@pytest.mark.parametrize("width", [charts.WIDE, charts.NARROW])
def test_nothing_is_clipped_and_the_legend_covers_nothing(width):
    pytest.importorskip("matplotlib")
    figure = draw(width)
    for axes in figure.axes:
        charts.title(axes, "a title")  # glyphs that the font has
    charts.svg(figure)
    whole = figure.get_tightbbox()
    assert whole.x0 >= 0 and whole.y0 >= 0
    assert whole.x1 <= width and whole.y1 <= figure.get_figheight()
    below = figure.legends[0].get_window_extent().y1
    assert all(axes.get_tightbbox().y0 >= below - 1 for axes in figure.axes)


PROBE = """<script>addEventListener("load", () => {
  const seen = frame => ({
    over: frame.contentDocument.documentElement.scrollWidth - frame.clientWidth,
    charts: [...frame.contentDocument.images].map(i => i.naturalWidth),
    shown: [...frame.contentDocument.images].map(i => i.clientWidth),
    ground: frame.contentWindow.getComputedStyle(frame.contentDocument.body).backgroundColor,
  })
  document.body.dataset.seen = JSON.stringify([...document.querySelectorAll("iframe")].map(seen))
})</script>"""


@pytest.mark.process
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_fits_wide_and_narrow_screens(tmp_path, dark):
    pytest.importorskip("matplotlib")
    long = "a_very_long_name_of_a_feature_" * 5
    wide = Table([f"column {i} with a name" for i in range(14)], [["12,345.6 ± 1"] * 14])
    parts = [f"<h1>{long}</h1>", html.chart(draw, "A chart", long), TABLE.html(), wide.html()]
    inner = html.page("A page", parts)
    # Chromium has no window of 390 pixels; a frame may be as narrow.
    frames = "".join(
        f'<iframe srcdoc="{inner.replace("&", "&amp;").replace(chr(34), "&quot;")}" '
        f'style="width: {width}px; height: 800px; border: 0"></iframe>'
        for width in (1280, 390)
    )
    page = tmp_path / "frames.html"
    style = "<style>:root { color-scheme: light dark }</style>"
    page.write_text(f"<!doctype html><meta charset=utf-8>{style}{PROBE}{frames}")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1400,900", "--dump-dom"]
    command += ["--blink-settings=preferredColorScheme=0"] if dark else []
    done = subprocess.run(
        [*command, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    found = re.search(r"data-seen=\"([^\"]+)\"", done.stdout)
    assert found, done.stderr
    desk, phone = json.loads(found[1].replace("&quot;", '"'))
    assert desk["over"] <= 0 and phone["over"] <= 0  # only tables scroll, inside themselves
    assert desk["charts"] == [960] and desk["shown"] == [960]
    assert phone["charts"] == [round(96 * charts.NARROW)] and phone["shown"] == [390 - 2 * 16]
    paper = COLOURS["paper"][dark]
    rgb = ", ".join(str(int(paper[i : i + 2], 16)) for i in (1, 3, 5))
    assert desk["ground"] == phone["ground"] == f"rgb({rgb})"


def test_css_names_every_colour_twice():
    assert all(css().count(f"--{name}:") == 2 for name in COLOURS)
