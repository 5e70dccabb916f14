"""Both algorithms and the default on yeast in seconds, beside the paper's figures: ``python -m boostline.lab.demo``."""

from __future__ import annotations

from typing import Any

# Table 3 of the paper: average loss and seconds on yeast.
_PAPER = {"Ada.OLMR": (0.1874, 2675.0), "OnlineBMR": (0.1836, 9170.0)}


def main() -> None:
    """Learn yeast in one pass with each model and print a table."""
    import boostline as bl
    from boostline.display.tables import NONE, Table
    from boostline.display.terminal import print_table

    data = bl.data.load("yeast")
    rows = []
    for name, note, model in _models(data.Y.shape[1]):
        run = bl.evaluate.train_then_test(model, data)
        loss, seconds = _PAPER.get(name, (None, None))
        rows.append(
            [
                f"{name}, {note}" if note else name,
                f"{run.rank_loss:.4f}",
                NONE if loss is None else f"{loss:.4f}",
                f"{run.seconds.wall:.1f}",
                NONE if seconds is None else f"{seconds:,.0f}",
                NONE if seconds is None else f"{seconds / run.seconds.wall:,.0f}",
            ]
        )
    columns = ["model", "rank loss", "paper's", "seconds", "paper's", "times faster"]
    note = (
        f"yeast: {data.n_train:,} rows to learn from, then {len(data.X) - data.n_train:,} to rank and learn, one at a "
        f"time; {data.X.shape[1]} features, {data.Y.shape[1]} labels. A rank loss of 0 is perfect, .5 is guessing."
    )
    print_table(Table(columns, rows, "Rank loss on the test rows of yeast", note))


def _models(n_labels: int) -> list[tuple[str, str, Any]]:
    import boostline as bl

    trees = bl.learners.paper_trees(100)
    return [
        ("Ada.OLMR", "100 trees", bl.AdaOLMR(n_labels, learners=trees)),
        ("OnlineBMR", "100 trees, edge .01", bl.OnlineBMR(n_labels, learners=trees, edge=0.01)),
        ("boostline's default", "", bl.LabelRanker(n_labels)),  # not in the paper
    ]


if __name__ == "__main__":
    main()
