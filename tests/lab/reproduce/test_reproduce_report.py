"""The report in a real browser, the tables, and a user's own file from the command line."""

import csv
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from reproduce_helpers import make_data

from boostline.data import Dataset
from boostline.lab import reproduce
from boostline.lab.reproduce import paper, paper_tables
from boostline.lab.reproduce.plan import Settings

pytestmark = pytest.mark.process

SMALL = Settings(trees=8)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# As root and without a network: no sandbox, and nothing that calls home.
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--force-device-scale-factor=1"),
]
# Runs in the page once it is loaded: what the browser could decode and lay out.
PROBE = """<script>
addEventListener("load", () => {
  const seen = {
    images: [...document.images].map(i => [i.alt, i.naturalWidth, i.naturalHeight, i.clientWidth]),
    tables: [...document.querySelectorAll("table")].map(t => [t.id, t.rows.length, t.clientHeight]),
    outside: document.querySelectorAll("link, script[src], img:not([src^='data:'])").length,
    wide: document.documentElement.scrollWidth - innerWidth,
    height: document.documentElement.scrollHeight,
  };
  document.body.setAttribute("data-seen", btoa(JSON.stringify(seen)));
});
</script>"""


def browse(page, folder, *flags):
    profile = folder / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    return subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def sorted_data():
    """Rows sorted by class, as those of scene, and features that say little."""
    rng = np.random.default_rng(1)
    Y = np.repeat(np.eye(4, dtype=bool), 60, axis=0)
    order = np.concatenate([np.arange(0, 240, 2), np.arange(1, 240, 2)])
    X = Y[order] + rng.normal(scale=3.0, size=(240, 4))
    return Dataset(X, Y[order], n_train=120, name="sorted")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    data = [make_data(), sorted_data()]
    return reproduce.run(data, folder, settings=SMALL, seeds=3, jobs=1, docs=folder / "results.md")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed (Debian: chromium)")
def test_chromium_shows_every_picture_and_table(made, tmp_path):
    from base64 import b64decode

    page = tmp_path / "report.html"
    page.write_text(made.page.read_text().replace("</body>", PROBE + "</body>"))
    dom = browse(page, tmp_path, "--dump-dom", "--window-size=1200,900")
    seen = json.loads(b64decode(re.search(r'data-seen="([^"]+)"', dom).group(1)))

    kinds = [
        *("learning curves", "rank loss against the number of learners"),
        *("weights and edges", "rank loss against the edge"),
    ]
    wanted = ["Rank loss at a glance"] + [
        f"{name}: {kind}" for name in ("sorted", "toy") for kind in kinds
    ]
    assert [image[0] for image in seen["images"]] == wanted
    # One width, that of the text.
    assert {width for _, width, _, _ in seen["images"]} == {960}
    assert {shown for *_, shown in seen["images"]} == {960}
    assert all(height > 200 for _, _, height, _ in seen["images"])
    rows = {table: rows for table, rows, height in seen["tables"] if height > 40}
    # header; two data sets; times two orders; times four edges
    assert rows == {"table2": 3, "table3": 5, "table3-time": 3, "edges": 17}
    assert seen["outside"] == 0  # self-contained
    assert seen["wide"] <= 0  # nothing runs out of the page

    picture = tmp_path / "shot.png"
    size = f"--window-size=1200,{seen['height']}"
    browse(made.page, tmp_path, f"--screenshot={picture}", size)
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3]
    assert pixels.shape[1] == 1200 and pixels.shape[0] >= seen["height"]
    for colour in ((0, 114, 178), (213, 94, 0), (0, 158, 115)):  # the pictures' lines, Okabe-Ito
        near = np.abs(pixels - np.array(colour) / 255).max(axis=2) < 0.03
        assert near.sum() > 300


def test_nothing_is_drawn_off_its_axis(made):
    """Each bar of the overview ends at its figure, the baselines' as well."""
    from boostline.lab.reproduce import pictures

    figure = pictures.overview(made.summary)
    for axes in figure.axes:
        printed = [text.get_text() for text in axes.texts]
        drawn = [line.get_xdata()[-1] for line in axes.lines if line.get_linestyle() == "-"]
        assert all(value < axes.get_xlim()[1] for value in drawn)
        for text in printed:
            assert any(abs(float(text) - value) < 5.1e-5 for value in drawn), text


def test_columns_that_are_left_out_are_not_explained(made):
    whole = paper_tables.table2(made.summary)
    narrow = whole.without("no label").without("as printed")
    assert "No label:" in whole.note and "As printed:" in whole.note
    assert "No label:" not in narrow.note and "As printed:" not in narrow.note
    assert narrow.note.endswith("when shuffled.")
    losses = paper_tables.losses(made.summary).without("label frequency")
    assert "Decayed counts:" in losses.note and "requency" not in losses.note


def test_sorted_rows_are_told_plainly(made):
    assert made.summary.measured_by_order() == ["sorted"]
    sentence = "sorted in file order measures the order of the rows, not the learning"
    assert sentence in made.page.read_text()
    assert sentence in (made.folder / "results.md").read_text()
    assert "toy in file order measures" not in made.page.read_text()


def test_docs_have_the_tables_and_how_they_were_made(made):
    text = (made.folder / "results.md").read_text()
    for title in ("Table 2", "Table 3: rank loss", "Table 3: runtime", "every edge"):
        assert title in text
    assert "`boostline reproduce --data toy --data sorted --seeds 3 --trees 8`" in text
    assert (made.folder / "results-overview.svg").read_text().startswith("<svg")
    assert str(made.folder) not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    columns = {re.sub(r"\\\|", "", line).count("|") for line in lines}
    assert columns == {13, 11, 10, 6}  # every row has as many cells as its header


def test_the_papers_tables():
    # Sums of the columns as printed, added up by hand.
    printed = list(paper.RESULTS.values())
    assert sum(r.ada_olmr_seconds for r in printed) == 253 + 341 + 2675 + 69565 + 4148
    assert sum(round(1e4 * r.ada_olmr) for r in printed) == 1600 + 881 + 1874 + 508 + 632
    assert sum(round(1e4 * (r.batch or 0)) for r in printed) == 1699 + 720 + 1820 + 665
    assert sum(round(1e4 * (r.online_bmr or 0)) for r in printed) == 1654 + 743 + 1836 + 630
    assert sum(r.online_bmr_seconds or 0 for r in printed) == 611 + 1488 + 9170 + 288204


def test_a_users_own_file(tmp_path, command, environment):
    data = make_data(n=240, n_train=160)
    file = tmp_path / "my.csv"
    with file.open("w", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(["id", "a", "u", "v", "b", "w", "c", "d", "r", "s", "t"])
        for i, (x, y) in enumerate(zip(data.X, data.Y.astype(int), strict=True)):
            writer.writerow([i, y[0], *x[:2], y[1], x[2], y[2], y[3], *x[3:]])
    out = tmp_path / "out"
    arguments = [
        "--data",
        file,
        "--labels",
        "a,b,c,d",
        "--drop",
        "id",
        "--seeds",
        "2",
        "--trees",
        "5",
    ]
    arguments += ["--edge", "0.1", "--jobs", "1", "--out", out, "--algorithm", "online_bmr"]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env={**environment, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert max(map(len, done.stdout.splitlines()[:30])) <= 80
    results = json.loads((out / "results.json").read_text())
    # Labels out of the middle, features in the file's order: the same rows, the same figures.
    same = reproduce.run(
        Dataset(data.X, data.Y, n_train=160, name="my"),
        tmp_path / "same",
        settings=Settings(trees=5),
        seeds=2,
        edges=[0.1],
        algorithms=["online_bmr"],
        jobs=1,
        report=False,
    )
    assert [r["rank_losses"] for r in results["results"]] == [
        cell.losses for cell in same.summary.cells.values()
    ]
    assert results["data"][0]["n_train"] == 160  # two thirds, as nothing else was said


def test_errors_are_one_line(tmp_path, command, environment):
    arguments = ["--data", "my.csv", "--labels", "a", "--out", str(tmp_path / "out")]
    done = subprocess.run(
        [*command, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "my.csv" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast", "m-reduced"])
def test_table_2_is_as_printed(data_folder, name, tmp_path):
    made = reproduce.run(
        name,
        tmp_path,
        settings=Settings(trees=1),
        algorithms=["ada_olmr"],
        seeds=1,
        jobs=1,
        report=False,
    )
    [row] = paper_tables.table2(made.summary).rows
    assert row[-1] == "yes"
    if name == "scene":
        # counted without this code: 86 % and 14 % of the rows repeat; the counts get .0067 and .50
        assert row[-3:-1] == ["86 %", "14 %"]
        assert made.summary.cell(name, "decayed_counts", "file").mean == pytest.approx(
            0.0067, abs=5e-5
        )
        assert made.summary.cell(name, "decayed_counts", "shuffled").mean == pytest.approx(
            0.5, abs=0.03
        )
        assert made.summary.measured_by_order() == ["scene"]
    else:
        assert made.summary.measured_by_order() == []
