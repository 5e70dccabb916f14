"""The README's picture, from what ``benchmarks/learners.py --out figures.json`` wrote.

Usage: ``python benchmarks/overview.py figures.json docs/overview.png``.
"""

from __future__ import annotations

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill", "enron", "bibtex")
# Measured by others on the same splits, shuffled: the better of scikit-learn's MLP (partial_fit) and Vowpal Wabbit;
# the best batch learner found, its settings picked on the test rows.
ONLINE_PEER = (0.152, 0.077, 0.172, 0.056, np.nan, 0.076, 0.067)
BATCH = (0.132, 0.057, 0.160, 0.050, 0.042, 0.071, 0.052)
# Colours that the colour-blind can tell apart (Okabe and Ito).
COLOURS = {"peer": "#E69F00", "batch": "#999999", "ours": "#0072B2", "frozen": "#56B4E9"}


def main() -> None:
    source, target = sys.argv[1:]
    with open(source) as file:
        rows = {(r["set"], r["model"]): r for r in json.load(file)}
    mix = [rows[s, "mix"]["shuffled"] for s in SETS]
    spread = [rows[s, "mix"]["sd"] for s in SETS]
    frozen = [rows[s, "mix, frozen after train"]["shuffled"] for s in SETS]
    x = np.arange(len(SETS))
    figure, axes = plt.subplots(figsize=(10, 4), dpi=120)
    bars = (
        ("best online peer", ONLINE_PEER, COLOURS["peer"], None),
        ("best batch learner, tuned on the test rows", BATCH, COLOURS["batch"], None),
        ("boostline's default, frozen after train", frozen, COLOURS["frozen"], None),
        ("boostline's default, one online pass", mix, COLOURS["ours"], spread),
    )
    for i, (label, values, colour, error) in enumerate(bars):
        axes.bar(
            x + 0.2 * (i - 1.5), values, 0.19, label=label, color=colour, yerr=error, capsize=2
        )
    axes.set_xticks(x, SETS)
    axes.set_ylabel("rank loss on the test rows (lower is better)")
    axes.set_title("One pass over shuffled rows, the same settings for every data set")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(target)


if __name__ == "__main__":
    main()
