"""Options that several commands share, and the models they describe."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boostline.data.formats import FORMATS
from boostline.data.inputs import Input
from boostline.models.settings import (
    Algorithm,
    Drift,
    Expert,
    ModelOptions,
    Steps,
    model_arguments,
)

if TYPE_CHECKING:
    from boostline.scale.engines import Engine


class Measure(StrEnum):
    """What `boostline rank` names labels for."""

    micro = "micro-f1"
    macro = "macro-f1"


class Unseen(StrEnum):
    """What becomes of words and categories that a model has never seen."""

    missing = "missing"
    error = "error"


SeedOption = Annotated[int | None, typer.Option(help="Random seed.", show_default="0")]
UnseenOption = Annotated[
    Unseen,
    typer.Option(
        help="Treat words and categories that the model has never seen as missing values, or as an error."
    ),
]
LearnersOption = Annotated[
    str | None,
    typer.Option(
        help="Weak learners: auto (those of the label ranker) or paper:N (N of the paper's trees).",
        show_default="auto, or paper:100 with the paper's algorithms",
    ),
]
_Names = list[str] | None
#: The options of the classes that commands take: see `spread`.
_OPTIONS: dict[type, dict[str, Any]] = {
    Input: {
        "labels": Annotated[
            _Names,
            typer.Option(
                "--labels",
                "-l",
                help="Label columns: names separated by commas, patterns such as 'tag_*', @file with one name per "
                "line, a MULAN xml, or, for svmlight, their number. Can be repeated.",
                show_default=False,
            ),
        ],
        "text": Annotated[
            _Names,
            typer.Option(
                "--text",
                help="Column with the text of each row (jsonl, csv, parquet); several are put together. --labels "
                "names the column of the tags: a list, or a text such as a|b.",
                show_default=False,
            ),
        ],
        "separator": Annotated[
            str | None,
            typer.Option(help="With --text: what stands between tags.", show_default="|"),
        ],
        "format": Annotated[
            str | None,
            typer.Option(
                help="Format of the file, if its name does not tell: csv, arff, svmlight, ...",
                autocompletion=lambda: list(FORMATS),
                show_default=False,
            ),
        ],
        "drop": Annotated[
            _Names,
            typer.Option(help="Columns to leave out, separated by commas.", show_default=False),
        ],
        "categories": Annotated[
            _Names,
            typer.Option(
                help="Categories of a text column: colour=red,green,blue. Can be repeated.",
                show_default=False,
            ),
        ],
        "delimiter": Annotated[
            str | None, typer.Option(help="Delimiter of a csv file; tab for a tab.")
        ],
        "encoding": Annotated[
            str | None, typer.Option(help="Encoding of a csv or arff file.", show_default="utf-8")
        ],
        "zero_based": Annotated[
            bool | None,
            typer.Option(
                "--zero-based/--one-based",
                help="svmlight: features are numbered from 0 or from 1.",
                show_default="1, or 0 with a header line",
            ),
        ],
    },
    ModelOptions: {
        "learners": LearnersOption,
        "expert": Annotated[
            Expert | None,
            typer.Option(help="Ada.OLMR: which expert's scores to use.", show_default="draw"),
        ],
        "steps": Annotated[
            Steps | None,
            typer.Option(help="Ada.OLMR: how far weights move in a round.", show_default="paper"),
        ],
        "drift": Annotated[
            Drift | None,
            typer.Option(
                help="Label ranker: whether to restart when the loss rises and stays high.",
                show_default="restart",
            ),
        ],
        "max_bytes": Annotated[
            int | None,
            typer.Option(
                help="Label ranker: the most memory that the model may take, in bytes.",
                min=1,
                show_default="no limit",
            ),
        ],
        "edge": Annotated[
            str | None,
            typer.Option(
                help="OnlineBMR: edge of the learners in (0, 1], or auto to estimate it.",
                show_default="0.01",
            ),
        ],
        "loss": Annotated[
            str | None,
            typer.Option(help="OnlineBMR: loss, hinge or rank.", show_default="hinge"),
        ],
    },
}


def spread(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command: a parameter that is an `Input` or `ModelOptions` becomes its options, but for some."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        spread_out: dict[str, tuple[type, list[str]]] = {}
        parameters: list[inspect.Parameter] = []
        for one in signature.parameters.values():
            if one.annotation not in _OPTIONS:
                parameters.append(one)
                continue
            options = {n: o for n, o in _OPTIONS[one.annotation].items() if n not in without}
            spread_out[one.name] = one.annotation, list(options)
            parameters += [
                inspect.Parameter(name, one.kind, default=None, annotation=option)
                for name, option in options.items()
            ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            for name, (kind, names) in spread_out.items():
                given[name] = kind(**{option: given.pop(option) for option in names})
            command(**given)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {}
        return run

    return decorate


ThreadsOption = Annotated[
    int, typer.Option(help="Number of threads; does not change the result.", min=1)
]
JobsOption = Annotated[
    int, typer.Option(help="Number of processes; -1 for one per core.", min=-1, show_default="1")
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
BlockOption = Annotated[
    int, typer.Option(help="Rows read at a time; does not change the result.", min=1, max=2**20)
]
ModelArgument = Annotated[Path, typer.Argument(help="A saved model.", show_default=False)]


@contextmanager
def engine_for(jobs: int, dask: str | None) -> Iterator[Engine]:
    """For `with`: what ``--jobs`` or ``--dask`` stands for."""
    from boostline.scale.engines import LocalEngine

    if dask is None:
        yield LocalEngine(jobs)
        return
    if jobs != 1:
        raise typer.BadParameter(
            "is for one machine, and --dask for a cluster", param_hint="--jobs"
        )
    from boostline.scale.engines.dask import connected

    with connected(dask) as engine:
        yield engine


def make_text_model(
    algorithm: Algorithm | None,
    labels: list[str],
    options: ModelOptions,
    *,
    seed: int | None = None,
    threads: int = 1,
) -> Any:
    """Make a new model of texts."""
    from boostline.text import TextRanker

    if algorithm not in (None, Algorithm.label_ranker):
        raise typer.BadParameter("with --text must be label_ranker", param_hint="--algorithm")
    if options.learners == "auto":  # texts have a default of their own
        options = replace(options, learners=None)
    return TextRanker(
        labels, n_threads=threads, **model_arguments(Algorithm.label_ranker, options, seed)
    )
