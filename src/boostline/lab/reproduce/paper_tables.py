"""The paper's tables with ours beside them, for terminals, pages, Markdown and CSV."""

from __future__ import annotations

import statistics
from typing import Any

from boostline.display.tables import NONE, Table, share, to_csv
from boostline.lab.reproduce import paper
from boostline.lab.reproduce.plan import ALGORITHMS
from boostline.lab.reproduce.summary import Cell, Summary


def table2(summary: Summary) -> Table:
    """Table 2, measured from the data."""
    rows = []
    for name, found in summary.data.items():
        rows.append(
            [
                name,
                *(f"{found[key]:,}" for key in ("n_train", "n_test", "n_features", "n_labels")),
                f"{found['min_relevant']}",
                f"{found['mean_relevant']:.2f}",
                f"{found['max_relevant']}",
                f"{found['empty_train'] + found['empty_test']:,}",
                share(found["repeats_file"], 0),
                share(found["repeats_shuffled"], 0),
                _agrees(name, found),
            ]
        )
    return Table(
        [
            *("data", "train rows", "test rows", "features", "labels"),
            *(
                "fewest relevant",
                "mean",
                "most",
                "no label",
                "repeats: file",
                "shuffled",
                "as printed",
            ),
        ],
        rows,
        "Table 2: the data, measured",
        "Fewest, mean and most relevant labels of a row. No label: rows without one. Repeats: share of the test "
        "rows whose label set is that of the row before, in file order and when shuffled. As printed: whether the "
        "paper's Table 2 has the same figures.",
        "table2",
    )


def losses(summary: Summary) -> Table:
    """Table 3: rank losses, the paper's and ours, beside the rankers that see no feature."""
    rows = []
    for name in summary.data:
        printed = paper.RESULTS.get(name)
        for order in summary.orders:
            cells = {algorithm: summary.cell(name, algorithm, order) for algorithm in ALGORITHMS}
            if not any(cells.values()):
                continue
            bmr = cells["online_bmr"]
            rows.append(
                [
                    name,
                    order,
                    figure(printed.batch if printed else None),
                    figure(printed.ada_olmr if printed else None),
                    spread(cells["ada_olmr"]),
                    figure(printed.online_bmr if printed else None),
                    spread(bmr),
                    f"{bmr.edge:g}" if bmr else NONE,
                    spread(summary.cell(name, "decayed_counts", order), short=True),
                    spread(summary.cell(name, "label_frequency", order), short=True),
                ]
            )
    return Table(
        [
            "data",
            "order",
            "batch paper",
            "Ada.OLMR paper",
            "Ada.OLMR ours",
            "best BMR paper",
            "best BMR ours",
            "edge",
            "decayed counts",
            "label frequency",
        ],
        rows,
        "Table 3: rank loss on the test rows",
        f"Ours: mean ± standard deviation over {_seeds(summary)}; batch and the columns of the paper as printed "
        "(the paper used the file order). OnlineBMR: the best of its edges, picked on the test rows, as "
        "the paper did. Its potentials are those of the paper's text; the authors' public program estimated them by "
        "Monte Carlo with 100 draws, and its hinge loss has no margin, so their column is of another program. "
        "Decayed counts: a ranking by recent labels, which uses no feature. Label frequency: the "
        "same without forgetting.",
        "table3",
    )


def times(summary: Summary) -> Table:
    """Table 3: runtimes, and how many times faster than the paper's."""
    rows = []
    for name, found in summary.data.items():
        row = [name]
        for algorithm in ALGORITHMS:
            printed = paper.RESULTS.get(name)
            seconds = printed.seconds(algorithm) if printed else None
            ours = run_seconds(summary, name, algorithm)
            ratio = f"{seconds / ours:,.0f}" if seconds and ours else NONE
            each = 1e6 * ours / (found["n_train"] + found["n_test"]) if ours else None
            row += [
                f"{seconds:,.0f}" if seconds else NONE,
                f"{ours:.2f}" if ours else NONE,
                ratio,
                f"{each:,.0f}" if each else NONE,
            ]
        rows.append(row)
    columns = ["data"]
    for title in ("Ada.OLMR", "best BMR"):
        columns += [f"{title}: paper (s)", "ours (s)", "times faster", "per row (µs)"]
    return Table(
        columns,
        rows,
        "Table 3: runtime of one run, train and test",
        "Ours: processor seconds of one core, mean over seeds and orders. The paper's: seconds on a "
        "2.27 GHz Xeon E7-4860 with the authors' Python; the machines differ.",
        "table3-time",
    )


def edges(summary: Summary) -> Table:
    """All edges of OnlineBMR."""
    rows = []
    for name in summary.data:
        for order in summary.orders:
            best = summary.cell(name, "online_bmr", order)
            for cell in summary.over_edges(name, "online_bmr", order):
                mark = "best" if cell is best else ""
                rows.append([name, order, f"{cell.edge:g}", spread(cell), mark])
    return Table(
        ["data", "order", "edge", "rank loss", "best"],
        rows,
        "OnlineBMR: every edge that was tried",
        f"Rank loss on the test rows, mean ± standard deviation over {_seeds(summary)}.",
        "edges",
    )


def run_seconds(summary: Summary, name: str, algorithm: str) -> float | None:
    """Mean processor seconds of a run over orders, for OnlineBMR at the best edge of each."""
    cells = [summary.cell(name, algorithm, order) for order in summary.orders]
    found = [cell.seconds for cell in cells if cell is not None]
    return statistics.fmean(found) if found else None


def figure(value: float | None, digits: int = 4) -> str:
    """Write a loss as the paper does.

    Examples
    --------
    >>> figure(0.16), figure(None)
    ('.1600', '–')
    """
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0") else text


def spread(cell: Cell | None, short: bool = False) -> str:
    """Write a mean with its standard deviation, if there is one."""
    if cell is None:
        return NONE
    mean = figure(cell.mean)
    return mean if cell.sd is None or short else f"{mean} ± {figure(cell.sd)}"


def table3_csv(summary: Summary) -> str:
    """Table 3 with every column, unrounded: one row per data set and order."""
    header = ["data", "order", "paper_batch"]
    for algorithm in ALGORITHMS:
        header += [
            f"{algorithm}_{part}"
            for part in (
                "paper",
                "mean",
                "sd",
                "seeds",
                "edge",
                "paper_seconds",
                "cpu_seconds",
                "times_faster",
            )
        ]
    rows: list[list[Any]] = []
    for name in summary.data:
        printed = paper.RESULTS.get(name)
        for order in summary.orders:
            row: list[Any] = [name, order, printed.batch if printed else None]
            for algorithm in ALGORITHMS:
                cell = summary.cell(name, algorithm, order)
                seconds = printed.seconds(algorithm) if printed else None
                row += [
                    printed.loss(algorithm) if printed else None,
                    *((cell.mean, cell.sd, len(cell.runs), cell.edge) if cell else (None,) * 4),
                    seconds,
                    cell.seconds if cell else None,
                    seconds / cell.seconds if seconds and cell else None,
                ]
            for baseline in ("decayed_counts", "label_frequency"):
                cell = summary.cell(name, baseline, order)
                row.append(cell.mean if cell else None)
            rows.append(row)
    return to_csv([*header, "decayed_counts", "label_frequency"], rows)


def runs_csv(summary: Summary) -> str:
    """One row per run."""
    header = ["data", "algorithm", "edge", "order", "seed", "rank_loss", "cpu_seconds"]
    header += ["wall_seconds", "n_test", "n_without_pairs", "memory_bytes", "finished"]
    rows = []
    for cell in summary.cells.values():
        for run in cell.runs:
            time = run["seconds"]
            rows.append(
                [
                    *(cell.data, cell.algorithm, cell.edge, cell.order, run["task"]["seed"]),
                    *(run["rank_loss"], time["cpu"], time["wall"], run["n_test"]),
                    *(run["n_without_pairs"], run.get("memory_bytes"), run["finished"]),
                ]
            )
    return to_csv(header, rows)


def _agrees(name: str, found: dict[str, Any]) -> str:
    printed = paper.DATA_SETS.get(name)
    if printed is None:
        return NONE
    same = all(
        value == (round(found[key], 2) if key == "mean_relevant" else found[key])
        for key, value in vars(printed).items()
    )
    return "yes" if same else "no"


def _seeds(summary: Summary) -> str:
    boosted = [cell for cell in summary.cells.values() if cell.algorithm in ALGORITHMS]
    counts = sorted({len(cell.runs) for cell in boosted})
    if not counts:
        return "no seed"
    if counts == [1]:
        return "1 seed"
    return f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
