"""``boostline train`` with several processes or on a cluster: a history of many files becomes a model."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import typer

from boostline.cli.options import engine_for
from boostline.cli.training_run import Chosen
from boostline.contract.text_models import booster_of
from boostline.data.inputs import Input, rows_to_learn
from boostline.display.terminal import print_json, print_pairs


def train_history(
    paths: list[str],
    target: Path,
    given: Input,
    chosen: Chosen,
    *,
    jobs: int,
    dask: str | None,
    json: bool,
) -> None:
    """Learn the files in the order in which they are given, and save the model.

    `given` says how the files are read.
    """
    from boostline.inspect.summaries import loss_in_words, summary
    from boostline.scale import warm_start

    if not os.path.isdir(target.parent):
        raise FileNotFoundError(f"there is no folder {target.parent} to save the model in")
    if any(path == "-" for path in paths):
        raise typer.BadParameter("workers cannot read standard input; give files")
    start = time.perf_counter()
    first = rows_to_learn(given, block=1)
    options = {**given.options(), "format": given.format}
    if given.text is None:
        model = chosen.make(first.labels)
        model.features = first.features
    else:
        model = chosen.make_text()
        options |= {"text": given.text, "labels": given.labels, "separator": given.separator}
    options = {name: value for name, value in options.items() if value is not None}
    with engine_for(jobs, dask) as engine:
        model = warm_start(model, paths, engine=engine, **options)
    model.save(target, {"train": given.record()})
    measured = summary(model)
    result: dict[str, Any] = {
        "model": str(target),
        "algorithm": type(model).__name__,
        "files": len(paths),
        "rows": model.clock,
        "labels": model.n_labels,
        "features": booster_of(model).n_features,
        **{name: measured[name] for name in ("mean_rank_loss", "rows_measured", "rows_merged")},
        "seconds": time.perf_counter() - start,
        "file_bytes": os.path.getsize(target),
    }
    if json:
        print_json(result)
        return
    print_pairs(
        [
            ("model", f"{target} ({result['file_bytes'] / 1e6:.1f} MB)"),
            ("rows learned", f"{model.clock:,} of {len(paths)} files in {result['seconds']:.1f} s"),
            ("features, labels", f"{result['features']}, {model.n_labels}"),
            ("mean rank loss", loss_in_words(measured)),
        ]
    )
