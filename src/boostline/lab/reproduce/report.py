"""Write what was found: JSON, CSV, one self-contained HTML page, and Markdown for the docs."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import boostline
from boostline.display.charts import svg
from boostline.display.html import chart, page
from boostline.display.tables import to_csv
from boostline.lab.reproduce import paper, paper_tables, pictures
from boostline.lab.reproduce.store import write_atomically
from boostline.lab.reproduce.summary import Summary


def as_json(summary: Summary) -> dict[str, Any]:
    """All figures, for programs."""
    return {"boostline": boostline.__version__, **summary.as_dict()}


def write_tables(summary: Summary, folder: Path) -> None:
    """Write results.json, runs.csv, table2.csv and table3.csv."""
    write_atomically(folder / "results.json", json.dumps(as_json(summary), indent=1) + "\n")
    write_atomically(folder / "runs.csv", paper_tables.runs_csv(summary))
    header = list(next(iter(summary.data.values())))
    rows = [[found[key] for key in header] for found in summary.data.values()]
    write_atomically(folder / "table2.csv", to_csv(header, rows))
    write_atomically(folder / "table3.csv", paper_tables.table3_csv(summary))


def write_page(summary: Summary, path: Path) -> None:
    """Write the HTML report; its pictures are inside it."""
    links = "".join(f'<a href="#{_anchor(name)}">{html.escape(name)}</a>' for name in summary.data)
    parts = [
        "<h1>Online boosting for multi-label ranking, reproduced</h1>",
        f"<p>{html.escape(how_made(summary))}</p>",
        f"<nav>{links}</nav>",
        *(f'<p class="plainly">{html.escape(text)}</p>' for text in plain_words(summary)),
        "<h2>Results</h2>",
        paper_tables.losses(summary).html(),
        chart(partial(pictures.overview, summary), "Rank loss at a glance", _OVERVIEW),
        paper_tables.times(summary).html(),
        "<h2>Data</h2>",
        paper_tables.table2(summary).html(),
        *(part for name in summary.data for part in _section(summary, name)),
    ]
    if "online_bmr" in summary.algorithms:
        parts += ["<h2>All edges</h2>", paper_tables.edges(summary).html()]
    parts += ["<h2>How to read this</h2>", _reading(summary)]
    write_atomically(path, page("boostline reproduce", parts))


def write_docs(summary: Summary, path: Path) -> None:
    """Write the tables as a Markdown page, and the overview beside it as a picture."""
    picture = path.with_name(f"{path.stem}-overview.svg")
    write_atomically(picture, svg(pictures.overview(summary)))
    parts = [
        "# Results",
        "",
        "<!-- Written by `boostline reproduce --docs`; changes by hand are lost. -->",
        "",
        how_made(summary),
        "",
        *(line for text in plain_words(summary) for line in (f"> {text}", "")),
        paper_tables.losses(summary).markdown(),
        f"![Rank loss at a glance]({picture.name})",
        "",
        _OVERVIEW,
        "",
        paper_tables.times(summary).markdown(),
        paper_tables.table2(summary).markdown(),
    ]
    if "online_bmr" in summary.algorithms:
        parts.append(paper_tables.edges(summary).markdown())
    parts += [
        "## Machine and settings",
        "",
        *(f"- {line}" for line in settings_lines(summary)),
        "",
    ]
    lines = "\n".join(parts).split("\n")
    write_atomically(path, "\n".join(_wrapped(line) for line in lines))


def _wrapped(line: str) -> str:
    """Break a line of Markdown prose as those of the other pages; tables stay as they are."""
    if line.startswith(("|", "<")):
        return line
    mark = line[:2] if line.startswith(("> ", "- ")) else ""
    return textwrap.fill(
        line.removeprefix(mark),
        _PROSE_WIDTH,
        initial_indent=mark,
        subsequent_indent="  " if mark == "- " else mark,
        break_long_words=False,
        break_on_hyphens=False,
    )


def plain_words(summary: Summary) -> Iterator[str]:
    """Say what a reader must not miss."""
    sorted_sets = summary.measured_by_order()
    for name in sorted_sets:
        found = summary.data[name]
        counts = summary.cell(name, "decayed_counts", "file")
        assert counts is not None
        if found["repeats_file"] > 0.5:
            text = (
                f"{name} in file order measures the order of the rows, not the learning. "
                "Its rows are sorted by class"
            )
        else:
            text = (
                f"{name} in file order rewards knowing the row before more than learning from features. "
                "Rows that follow each other are alike"
            )
        text += (
            f": {found['repeats_file']:.0%} of its test rows have the same label set as the row before "
            f"({found['repeats_shuffled']:.0%} if shuffled). A ranker that sees no feature at all and counts "
            f"recent labels (decay .5) gets {paper_tables.figure(counts.mean)}, below every booster here"
        )
        if name in paper.RESULTS:
            text += " and every figure in the paper"
        shuffled = summary.cell(name, "decayed_counts", "shuffled")
        if shuffled is not None:
            text += f"; shuffled it gets {paper_tables.figure(shuffled.mean, 2)}"
        yield f"{text}. Only shuffled figures say something about learning from features."
    if not sorted_sets and summary.orders == ["shuffled"]:
        yield (
            "The rows were shuffled within train and within test, the paper's were not: the figures of "
            "the paper beside ours are for another order."
        )


def how_made(summary: Summary) -> str:
    """Say in one paragraph what was run, when and on what."""
    days = " to ".join(summary.days())
    machines = "; ".join(
        f"{one['processor']}, {one['cores']} cores, {one['system']}" for one in summary.machines()
    )
    took = sum(call["seconds"] for call in summary.calls)
    return (
        f"{summary.n_runs:,} runs, {days}, with boostline {boostline.__version__} on {machines}. "
        f"They took {duration(summary.cpu_seconds)} of processor time, {duration(took)} by the clock. "
        f"Each run passes once over the train rows, then over the test rows, predicts each row before learning "
        f"it and goes on learning on the test rows, as in the paper (Jung and Tewari, AISTATS 2018, Section 4). "
        f"Boosters: {summary.settings}."
    )


def settings_lines(summary: Summary) -> list[str]:
    """Return machine, versions, settings and commands, a line each."""
    lines = []
    for one in summary.machines():
        lines.append(
            f"{one['processor']}, {one['cores']} cores, {one['system']}; Python {one['python']}, "
            f"NumPy {one['numpy']}, boostline {boostline.__version__}"
        )
    lines.append(f"boosters: {summary.settings}")
    for call in summary.calls:
        lines.append(
            f"{call['started'][:16].replace('T', ' ')} UTC: `{call['command']}`, {call['runs']} runs in "
            f"{duration(call['seconds'])} on {call['where']}"
            + ("" if call["finished"] else " (stopped)")
        )
    return lines


def duration(seconds: float) -> str:
    """Write a length of time.

    Examples
    --------
    >>> duration(12.3), duration(754)
    ('12.3 s', '12 min 34 s')
    """
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


_PROSE_WIDTH = 118
_OVERVIEW = (
    "Rank loss on the test rows, the lower the better: the paper's figures (hollow), ours in both orders, and the "
    f"decayed counts, which look at no feature. {pictures.BARS}"
)


def _section(summary: Summary, name: str) -> Iterator[str]:
    yield f'<h2 id="{_anchor(name)}">{html.escape(name)}</h2>'
    if not summary.orders_of(name):
        yield "<p>No booster was run.</p>"
        return
    if name in summary.measured_by_order():
        yield (
            '<p class="plainly">In file order a ranker that sees no feature does better than every '
            "booster on this set: the order of its rows is measured, not the learning. "
            "Only shuffled rows tell of learning.</p>"
        )
    yield chart(
        partial(pictures.learning_curves, summary, name),
        f"{name}: learning curves",
        "Rank loss of each row before it is learned, as a moving mean over train and test rows. "
        + pictures.BAND,
    )
    yield chart(
        partial(pictures.loss_by_learners, summary, name),
        f"{name}: rank loss against the number of learners",
        "Rank loss over the test rows if only the first i learners voted. " + pictures.BAND,
    )
    yield chart(
        partial(pictures.learners, summary, name),
        f"{name}: weights and edges",
        "Weights that Ada.OLMR gave its learners (OnlineBMR's are all 1), probabilities with which it follows each "
        "expert (the first i learners), and the learners' empirical edges. " + pictures.BAND,
    )
    if pictures.several_edges(summary, name):
        yield chart(
            partial(pictures.loss_by_edge, summary, name),
            f"{name}: rank loss against the edge",
            "OnlineBMR is told an edge. Its rank loss over the test rows for each edge that was tried. "
            + pictures.BARS,
        )


def _reading(summary: Summary) -> str:
    items = [
        "Rank loss: share of the pairs of a relevant and an irrelevant label that are ranked the wrong way "
        "round, ties one half; rows without such a pair count 0.",
        "File order is the paper's protocol. Shuffled: permuted within train and within test, by the seed.",
        "Decayed counts: rank by how often each label was relevant recently; a row counts half as much with each "
        "further row. Label frequency: the same without forgetting. Neither looks at a feature.",
        "best BMR: the paper tried four edges and printed the best on the test rows. So do we, and show all; "
        "the best of several on the test rows flatters a little.",
        "Seconds are processor time inside the model's own calls.",
        *settings_lines(summary),
    ]
    return "<ul>" + "\n".join(f"<li>{html.escape(item)}</li>" for item in items) + "</ul>"


def _anchor(name: str) -> str:
    return "data-" + "".join(c if c.isalnum() or c in "-_" else "_" for c in name)
