"""The README's picture, from the tables of ``docs/benchmarks.md``: ``python benchmarks/overview.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostline.display.charts import legend, panels, svg, title
from boostline.display.colours import COLOURS

DOCS = Path(__file__).parents[1] / "docs"
OURS = COLOURS["blue"][0]
# In the order of the rows of the tables.
PEERS = {
    "still-learning": [COLOURS["orange"][0]],
    "frozen": [COLOURS["purple"][0], COLOURS["green"][0]],
}
TITLES = {
    "still-learning": "Still learning on the test rows",
    "frozen": "Frozen after the train rows",
}


def table(page: str, anchor: str) -> tuple[list[str], dict[str, list[float]]]:
    """Return the data sets and the losses of each row of the first table after an anchor; NaN where there is none."""
    text = page.split(f"{{ #{anchor} }}")[1]
    lines = text[text.index("\n|") :].strip().split("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip(" *`") for cell in line.split("|")[1:-1]] for line in lines)
    losses = {
        row[0].replace("`", ""): [float(cell) if cell[-1].isdigit() else np.nan for cell in row[1:]]
        for row in rows
        if "milliseconds" not in row[0]
    }
    return head[1:], losses


def main() -> None:
    page = (DOCS / "benchmarks.md").read_text()
    figure, both = panels(2, 5.2, across=2, share=True)
    for axes, (anchor, text) in zip(both, TITLES.items(), strict=True):
        sets, losses = table(page, anchor)
        places = np.arange(len(sets))
        for i, (name, values) in enumerate(losses.items()):
            # Both panels share a legend: what is ours has one name.
            ours = name.startswith("LabelRanker")
            label, colour = ("LabelRanker", OURS) if ours else (name, PEERS[anchor][i])
            known = np.nan_to_num(values)
            height = 0.8 / len(losses)
            where = places + height * (i - (len(losses) - 1) / 2)
            bars = axes.barh(where, known, 0.9 * height, label=label, color=colour)
            texts = [f"{value:.3f}"[1:] if value else "none" for value in known]
            axes.bar_label(bars, texts, padding=3, fontsize=8)
        axes.set_yticks(places, sets)
        axes.set_xlim(0, 0.19)
        axes.set_xticks([0, 0.05, 0.1, 0.15], ["0", ".05", ".10", ".15"])
        axes.set_xlabel("rank loss on the test rows (0 is perfect, .5 is guessing)")
        axes.grid(axis="y", visible=False)
        title(axes, text)
    both[0].invert_yaxis()
    legend(figure)
    (DOCS / "overview.svg").write_text(svg(figure))


if __name__ == "__main__":
    main()
