"""All experiments, their pictures and one self-contained HTML page: `boostline lab theory`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from boostline.display.charts import svg
from boostline.display.html import chart, page
from boostline.display.tables import Table
from boostline.lab.theory.experiment import Experiment
from boostline.lab.theory.experiments import ALL
from boostline.lab.theory.pictures import draw


@dataclass(frozen=True)
class Report:
    """What `run` made.

    Attributes
    ----------
    page : Path
        The HTML page; the pictures are inside it and beside it as SVG, the numbers in JSON.
    experiments : list of Experiment
    seconds : dict
        Time of each experiment.
    holds : bool
        Whether every statement held.
    finished : bool
        False if it was stopped with Ctrl-C: the page has what was done until then.
    """

    page: Path
    experiments: list[Experiment]
    seconds: dict[str, float]
    holds: bool
    finished: bool


def run(
    out_dir: str | Path,
    quick: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    only: Iterable[str] | None = None,
) -> Report:
    """Run the experiments and write ``theory.html``, ``theory.json`` and an SVG for each.

    Parameters
    ----------
    out_dir
        Made if it is not there.
    quick
        Smaller sizes: about 20 seconds instead of one or two minutes.
    progress
        Called as ``progress(name, done, total)`` before each experiment and once at the end.
    only
        Names of experiments; all by default.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = run(folder, quick=True, only=["printed-bound"])
    ...     sorted(path.name for path in Path(folder).iterdir()), made.holds
    (['printed-bound.svg', 'theory.html', 'theory.json'], True)
    """
    names = list(ALL) if only is None else list(only)
    unknown = [name for name in names if name not in ALL]
    if unknown:
        raise ValueError(f"only has {unknown[0]!r}, but the experiments are {', '.join(ALL)}")
    folder = Path(out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    done: list[Experiment] = []
    seconds: dict[str, float] = {}
    finished = True
    try:
        for number, name in enumerate(names):
            if progress is not None:
                progress(name, number, len(names))
            start = time.perf_counter()
            experiment = ALL[name](quick)
            seconds[name] = time.perf_counter() - start
            (folder / f"{name}.svg").write_text(svg(draw(experiment)), encoding="utf-8")
            done.append(experiment)
    except KeyboardInterrupt:
        finished = False
    if progress is not None:
        progress("done" if finished else "stopped", len(done), len(names))
    page = folder / "theory.html"
    page.write_text(_page(done, seconds, quick, finished), encoding="utf-8")
    record = {
        "quick": quick,
        "finished": finished,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "experiments": [experiment.to_dict() for experiment in done],
    }
    (folder / "theory.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    holds = all(check.holds for experiment in done for check in experiment.checks)
    return Report(page, done, seconds, holds, finished)


def _page(
    done: list[Experiment],
    seconds: dict[str, float],
    quick: bool,
    finished: bool,
) -> str:
    held = sum(check.holds for experiment in done for check in experiment.checks)
    total = sum(len(experiment.checks) for experiment in done)
    parts = [
        "<h1>The theory, executed</h1>",
        f"<p>{held} of {total} statements held; {sum(seconds.values()):.0f} seconds"
        f"{', quick sizes' if quick else ''}{'' if finished else '; stopped before the end'}.</p>",
    ]
    parts += [_section(experiment, seconds[experiment.key]) for experiment in done]
    return page("boostline: the theory, executed", parts)


def _section(experiment: Experiment, seconds: float) -> str:
    checks = "\n".join(
        f'<li><span class="{"holds" if check.holds else "fails"}">'
        f"{'holds' if check.holds else 'does not hold'}</span>: {escape(check.statement)} "
        f'<span class="note">({escape(check.measured)})</span></li>'
        for check in experiment.checks
    )
    return (
        f'<h2 id="{experiment.key}">{escape(experiment.title)}</h2>\n'
        f"{chart(partial(draw, experiment), _sentence(experiment.y_label), experiment.text)}\n"
        f"<ul>\n{checks}\n</ul>\n"
        f"<details><summary>Numbers ({seconds:.1f} s)</summary>"
        f"{Table(experiment.columns, experiment.rows).html()}</details>"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
