"""Options that several commands share, and the models they describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Algorithm(StrEnum):
    """The recommended model, and the paper's algorithms."""

    label_ranker = "label_ranker"
    ada_olmr = "ada_olmr"
    online_bmr = "online_bmr"


class Steps(StrEnum):
    """How far Ada.OLMR's weights move in a round."""

    paper = "paper"
    adagrad = "adagrad"


class Expert(StrEnum):
    """Whose scores Ada.OLMR gives."""

    draw = "draw"
    weighted = "weighted"
    best = "best"
    last = "last"


class Drift(StrEnum):
    """What a label ranker does when its loss rises and stays high."""

    restart = "restart"
    none = "none"


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


def split_commas(values: list[str] | None) -> list[str] | None:
    """Flatten ``["a,b", "c"]`` to ``["a", "b", "c"]``."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def parse_categories(values: list[str] | None) -> dict[str, list[str]] | None:
    """Turn ``["colour=red,green"]`` into ``{"colour": ["red", "green"]}``."""
    if not values:
        return None
    parsed = {}
    for one in values:
        column, equals, named = one.partition("=")
        if not equals:
            raise ValueError(f"--categories is {one!r}, but must look like column=value,value,...")
        parsed[column] = named.split(",")
    return parsed


def parse_learners(text: str) -> Any:
    """Turn what ``--learners`` says into a ``learners`` argument."""
    import boostline as bl

    name, colon, count = text.partition(":")
    if name == "auto" and not colon:
        return bl.learners.auto_mix()
    if name == "paper" and ((count.isdecimal() and int(count)) or not colon):
        return bl.learners.paper_trees(int(count or 100))
    raise typer.BadParameter(
        f"{text!r} is not known; use auto, or paper:N with N at least 1",
        param_hint="--learners",
    )


def _edge(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a number nor auto", param_hint="--edge"
        ) from None


@dataclass(frozen=True)
class ModelOptions:
    """What was said about a model; None: nothing, so its own default holds."""

    learners: str | None = None
    expert: Expert | None = None
    drift: Drift | None = None
    edge: str | None = None
    loss: str | None = None
    steps: Steps | None = None
    max_bytes: int | None = None

    def of(self, algorithm: Algorithm) -> ModelOptions:
        """Those that have a meaning for an algorithm."""
        return replace(self, **dict.fromkeys(_foreign(algorithm)))

    def fits(self, algorithm: Algorithm) -> bool:
        """Whether any option that was given has a meaning for the algorithm alone, or none was given at all."""
        given = {a for a, names in OWN.items() if any(getattr(self, n) is not None for n in names)}
        return not given or algorithm in given


#: Options that have a meaning for one algorithm alone.
OWN = {
    Algorithm.label_ranker: ("drift", "max_bytes"),
    Algorithm.ada_olmr: ("expert", "steps"),
    Algorithm.online_bmr: ("edge", "loss"),
}


def _foreign(algorithm: Algorithm) -> list[str]:
    return [name for a, names in OWN.items() if a is not algorithm for name in names]


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
    return TextRanker(labels, n_threads=threads, **_given(Algorithm.label_ranker, options, seed))


def make_model(
    algorithm: Algorithm,
    labels: list[str],
    options: ModelOptions,
    *,
    seed: int | None = None,
    threads: int = 1,
) -> Any:
    """Make a new booster."""
    import boostline as bl

    makers = {
        Algorithm.label_ranker: bl.LabelRanker,
        Algorithm.ada_olmr: bl.AdaOLMR,
        Algorithm.online_bmr: bl.OnlineBMR,
    }
    given = _given(algorithm, options, seed)
    return makers[algorithm](labels=labels, n_threads=threads, **given)


def _given(algorithm: Algorithm, options: ModelOptions, seed: int | None) -> dict[str, Any]:
    """The arguments of a model that were given, each as its constructor takes it."""
    for name in _foreign(algorithm):
        if getattr(options, name) is not None:
            raise typer.BadParameter(
                f"is not an option of {algorithm.value}", param_hint=f"--{name.replace('_', '-')}"
            )
    given = {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in {**vars(options), "seed": seed}.items()
        if value is not None
    }
    if "learners" in given:
        given["learners"] = parse_learners(given["learners"])
    if "edge" in given:
        given["edge"] = _edge(given["edge"])
    if given.get("drift") == Drift.none:
        given["drift"] = None
    return given
