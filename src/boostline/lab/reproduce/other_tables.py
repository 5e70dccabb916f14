"""Tables of other fields: precision of batch learners for many labels (xc), F1 of stream learners (prequential).

Our own figures are `LabelRanker` with its defaults, one pass, rows in file order or shuffled with seed 0; those of
others are published ones (`boostline.lab.reproduce.published`). The figures of a finished set are kept in the folder of
results, and not made again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostline.data import DataError, Dataset, available, load
from boostline.data.named_sets import NAMED_SETS
from boostline.display.progress import Advance, ProgressLike, show_progress
from boostline.display.tables import NONE, Table
from boostline.evaluate.holdout import row_order
from boostline.lab.reproduce.plan import fingerprint
from boostline.lab.reproduce.published import (
    PREQUENTIAL_BEST,
    PREQUENTIAL_MACRO,
    XC,
    XC_SETS,
)
from boostline.lab.reproduce.store import Store
from boostline.metrics import (
    F1,
    PrecisionAt,
    PropensityScoredPrecisionAt,
    Ranking,
    propensities,
)
from boostline.models import LabelRanker

_BLOCK = 256
_DEPTHS = (1, 3, 5)


@dataclass(frozen=True)
class OtherTable:
    """A table, and the figures in it as values for JSON.

    Attributes
    ----------
    table
        For people.
    figures
        Set -> name -> figure.
    left_out
        Sets that are not at hand, and why.
    """

    table: Table
    figures: dict[str, dict[str, Any]]
    left_out: dict[str, str]


def xc(
    sets: Sequence[str] = XC_SETS,
    *,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: ProgressLike = None,
) -> OtherTable:
    """P@1/3/5 and PSP@1/3/5 on the test rows, frozen after the train rows and still learning.

    Train rows come shuffled: a model that is frozen cannot use that neighbouring rows are alike.

    Parameters
    ----------
    sets
        Named data sets.
    out
        Folder where the figures of each finished set are kept; those that are there already are not made again.
    fresh
        Make them again.
    progress
        True, False, None (on a terminal) or a function of (rows done, rows in all), for each set.
    """
    data, left_out = _at_hand(sets)
    figures = _figures("xc", data, _xc_figures, out, fresh, progress)
    rows = [[method, *(_percent(of.get(name)) for name in data)] for method, of in XC.items()]
    for what, key in (("LabelRanker", "p"), ("the same, propensity-scored", "psp")):
        for how in ("frozen", "learning"):
            of_sets = [[figures[name][how][f"{key}@{k}"] for k in _DEPTHS] for name in data]
            rows.append([f"{what}, {how}", *map(_percent, of_sets)])
    rows.append(["ms of CPU to learn a row"] + [f"{figures[n]['ms_per_row']:.2f}" for n in data])
    note = (
        "P@1 / 3 / 5 in per cent. The first four are batch learners, as published by the Extreme Classification "
        "Repository; LabelRanker makes one pass." + _said(left_out)
    )
    return OtherTable(
        Table(["", *data], rows, "Precision of the labels ranked first", note), figures, left_out
    )


def prequential(
    sets: Sequence[str] = tuple(PREQUENTIAL_BEST),
    *,
    out: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    progress: ProgressLike = None,
) -> OtherTable:
    """Micro-, macro- and example-F1 over the whole stream in file order, each row predicted before it is learned.

    Parameters
    ----------
    sets, out, fresh, progress
        As in `xc`.
    """
    data, left_out = _at_hand(sets)
    figures = _figures("prequential", data, _prequential_f1, out, fresh, progress)
    rows = []
    for name, of in figures.items():
        best, whose = PREQUENTIAL_BEST.get(name, (None, ""))
        macro = PREQUENTIAL_MACRO.get(name)
        micro_aim, macro_aim = of["micro-f1"], of["macro-f1"]
        rows.append(
            [
                name,
                NONE if best is None else f"{best:.3f}",
                whose or NONE,
                f"{micro_aim['micro']:.3f}",
                f"{micro_aim['example']:.3f}",
                NONE if macro is None else f"{macro:.3f}",
                f"{micro_aim['macro']:.3f}",
                f"{macro_aim['macro']:.3f}",
            ]
        )
    columns = ["", "micro-F1, best of 17", "whose", "micro-F1", "example-F1"]
    columns += ["macro-F1, MLHAT", "macro-F1", 'macro-F1, optimize="macro-f1"']
    note = (
        "Published: the MLHAT paper (Knowledge-Based Systems, 2024), 17 methods. Ours: LabelRanker with its defaults, "
        "one row at a time, in file order." + _said(left_out)
    )
    return OtherTable(
        Table(columns, rows, "F1 of label sets along the stream", note), figures, left_out
    )


TABLES: dict[str, Callable[..., OtherTable]] = {"xc": xc, "prequential": prequential}


def _figures(
    table: str,
    data: dict[str, Dataset],
    make: Callable[[Dataset, Advance], dict[str, Any]],
    out: str | os.PathLike[str] | None,
    fresh: bool,
    progress: ProgressLike,
) -> dict[str, dict[str, Any]]:
    """The figures of each set: those that are kept, and the others made and kept at once."""
    store = None if out is None else Store(out)
    found: dict[str, dict[str, Any]] = {}
    for name, one in data.items():
        mark = "" if store is None else fingerprint(one)
        kept = None if store is None or fresh else store.figures(table, name, mark)
        if kept is None:
            # Test rows of xc are passed over twice.
            n_rows = len(one) + (one.n_test if table == "xc" else 0)
            with show_progress(progress, name, n_rows, "rows") as advance:
                kept = make(one, advance)
            if store is not None:
                store.add_figures(table, name, mark, kept)
        found[name] = kept
    return found


def _xc_figures(data: Dataset, advance: Advance) -> dict[str, Any]:
    order = row_order(data.n_train, len(data), "shuffled", 0)
    assert order is not None
    train, test = order[: data.n_train], order[data.n_train :]
    model = LabelRanker(n_labels=data.n_labels, seed=0)
    seconds = 0.0
    for rows in _blocks(train):
        began = time.process_time()
        model.learn(data.X[rows], data.Y[rows], return_scores=False)
        seconds += time.process_time() - began
        advance(len(rows))
    likely = propensities(data.Y[np.sort(train)])
    return {
        "frozen": _precisions(data, test, likely, advance, lambda X, _: model.score(X)),
        "learning": _precisions(data, test, likely, advance, model.learn),
        "ms_per_row": seconds / data.n_train * 1e3,
    }


def _precisions(
    data: Dataset, rows: Any, likely: Any, advance: Advance, scores_of: Callable[[Any, Any], Any]
) -> dict[str, float]:
    metrics = {f"p@{k}": PrecisionAt(k) for k in _DEPTHS}
    scored = {f"psp@{k}": PropensityScoredPrecisionAt(k, likely) for k in _DEPTHS}
    for some in _blocks(rows):
        truth = _dense(data.Y[some])
        block = Ranking(truth, np.atleast_2d(scores_of(data.X[some], truth)))
        for metric in (*metrics.values(), *scored.values()):
            metric.update_ranking(block)
        advance(len(some))
    return {name: 100 * metric.get() for name, metric in {**metrics, **scored}.items()}


def _prequential_f1(data: Dataset, advance: Advance) -> dict[str, Any]:
    measures = ("micro-f1", "macro-f1")
    model = LabelRanker(n_labels=data.n_labels, seed=0)
    found = {measure: F1(data.n_labels) for measure in measures}
    for i in range(len(data)):
        x, truth = data.X[i : i + 1], _dense(data.Y[i : i + 1])
        likely = model.probabilities(x)
        for measure in measures:
            found[measure].update(truth, likely > model.threshold(measure))
        model.learn(x, truth, return_scores=False)
        advance(1)
    return {
        measure: {"micro": f1.micro, "macro": f1.macro, "example": f1.example}
        for measure, f1 in found.items()
    }


def _at_hand(sets: Sequence[str]) -> tuple[dict[str, Dataset], dict[str, str]]:
    places = available()
    data, left_out = {}, {}
    for name in sets:
        if name not in NAMED_SETS:
            left_out[name] = "not among the named sets"
        elif places[name] is None:
            left_out[name] = f"not on this machine (boostline data fetch {name})"
        else:
            try:
                data[name] = load(name, download=False)
            except DataError as error:
                left_out[name] = str(error)
    if not data:
        raise ValueError(f"none of the sets {', '.join(sets)} is at hand:{_said(left_out)}")
    return data, left_out


def _said(left_out: dict[str, str]) -> str:
    return "".join(f" Left out: {name}, {why}." for name, why in left_out.items())


def _blocks(rows: Any) -> list[Any]:
    return [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]


def _dense(Y: Any) -> Any:
    return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y, dtype=bool)


def _percent(values: Any) -> str:
    return NONE if values is None else " / ".join(f"{value:.2f}" for value in values)
