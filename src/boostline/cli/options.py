"""Options that several commands share, and the models they describe."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.models.settings import (
    Algorithm,
    Drift,
    Expert,
    ModelOptions,
    Steps,
    model_arguments,
)


class Unseen(StrEnum):
    """What becomes of words and categories that a model has never seen."""

    missing = "missing"
    error = "error"


def format_names() -> list[str]:
    """Formats of data files, for the shell's completion."""
    from boostline.data.formats import FORMATS

    return list(FORMATS)


LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Label columns: names separated by commas, patterns such as 'tag_*', @file with one name per line, "
        "a MULAN xml, or, for svmlight, their number. Can be repeated.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Format of the file, if its name does not tell: csv, arff, svmlight, ...",
        autocompletion=format_names,
        show_default=False,
    ),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Columns to leave out, separated by commas.", show_default=False),
]
CategoriesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categories",
        help="Categories of a text column: colour=red,green,blue. Can be repeated.",
        show_default=False,
    ),
]
DelimiterOption = Annotated[
    str | None, typer.Option(help="Delimiter of a csv file; tab for a tab.")
]
EncodingOption = Annotated[
    str | None, typer.Option(help="Encoding of a csv or arff file.", show_default="utf-8")
]
ZeroBasedOption = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="svmlight: features are numbered from 0 or from 1.",
        show_default="1, or 0 with a header line",
    ),
]
UnseenOption = Annotated[
    Unseen,
    typer.Option(
        help="Treat words and categories that the model has never seen as missing values, or as an error."
    ),
]
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        help="Column with the text of each row (jsonl, csv, parquet); several are put together. --labels names the "
        "column of the tags: a list, or a text such as a|b.",
        show_default=False,
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(help="With --text: what stands between tags.", show_default="|"),
]
LearnersOption = Annotated[
    str | None,
    typer.Option(
        help="Weak learners: auto (those of the label ranker) or paper:N (N of the paper's trees).",
        show_default="auto, or paper:100 with the paper's algorithms",
    ),
]
SeedOption = Annotated[int | None, typer.Option(help="Random seed.", show_default="0")]
EdgeOption = Annotated[
    str | None,
    typer.Option(
        help="OnlineBMR: edge of the learners in (0, 1], or auto to estimate it.",
        show_default="0.01",
    ),
]
LossOption = Annotated[
    str | None, typer.Option(help="OnlineBMR: loss, hinge or rank.", show_default="hinge")
]
ExpertOption = Annotated[
    Expert | None,
    typer.Option(help="Ada.OLMR: which expert's scores to use.", show_default="draw"),
]
StepsOption = Annotated[
    Steps | None,
    typer.Option(help="Ada.OLMR: how far weights move in a round.", show_default="paper"),
]
DriftOption = Annotated[
    Drift | None,
    typer.Option(
        help="Label ranker: whether to restart when the loss rises and stays high.",
        show_default="restart",
    ),
]
MaxBytesOption = Annotated[
    int | None,
    typer.Option(
        help="Label ranker: the most memory that the model may take, in bytes.",
        min=1,
        show_default="no limit",
    ),
]
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
