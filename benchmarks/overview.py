"""The README's picture, from the tables of ``docs/benchmarks.md``: ``python benchmarks/overview.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
# Colours that the colour-blind can tell apart (Okabe and Ito).
OURS, PEER = "#0072B2", "#E69F00"
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
    figure, both = plt.subplots(1, 2, figsize=(10, 4), dpi=120, sharey=True)
    for axes, (anchor, title) in zip(both, TITLES.items(), strict=True):
        sets, losses = table(page, anchor)
        x = np.arange(len(sets))
        for i, (name, values) in enumerate(losses.items()):
            colour = OURS if name.startswith("LabelRanker") else PEER
            axes.bar(x + 0.4 * (i - 0.5), values, 0.38, label=name, color=colour)
        axes.set_xticks(x, sets, rotation=30)
        axes.set_title(title)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
    both[0].set_ylabel("rank loss (lower is better)")
    both[0].set_ylim(0, 0.2)
    figure.tight_layout()
    figure.savefig(DOCS / "overview.png")


if __name__ == "__main__":
    main()
