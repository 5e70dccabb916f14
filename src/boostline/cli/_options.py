"""Options that several commands share, and the models they describe."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Algorithm(StrEnum):
    """The paper's algorithms."""

    ada_olmr = "ada_olmr"
    online_bmr = "online_bmr"


class Expert(StrEnum):
    """Whose scores Ada.OLMR gives."""

    draw = "draw"
    weighted = "weighted"
    best = "best"
    last = "last"


class Format(StrEnum):
    """Formats of data files."""

    csv = "csv"
    parquet = "parquet"
    arff = "arff"
    svmlight = "svmlight"
    jsonl = "jsonl"


LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        "-l",
        help="Label columns: names with commas between, patterns like 'tag_*', @file with a name per line, "
        "MULAN's xml, or (svmlight) how many. May be given several times.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    Format | None, typer.Option("--format", help="Format, where the file's ending does not say it.")
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", help="Columns to leave out, with commas between.", show_default=False),
]
CategoriesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categories",
        help="Values of a text column: colour=red,green,blue. May be given several times.",
        show_default=False,
    ),
]
DelimiterOption = Annotated[str | None, typer.Option(help="Between the values of a csv file.")]
LearnersOption = Annotated[
    str | None,
    typer.Option(
        help="Weak learners: auto (boostline's default), or paper:N (N of the paper's trees).",
        show_default="auto",
    ),
]
SeedOption = Annotated[
    int | None, typer.Option(help="Seed of every random choice.", show_default="0")
]
EdgeOption = Annotated[
    str | None,
    typer.Option(
        help="OnlineBMR: the learners' edge in (0, 1], or auto: it follows them.",
        show_default="0.01",
    ),
]
LossOption = Annotated[
    str | None, typer.Option(help="OnlineBMR: hinge or rank.", show_default="hinge")
]
ExpertOption = Annotated[
    Expert | None,
    typer.Option(help="Ada.OLMR: whose scores are given.", show_default="as the learners suggest"),
]
ThreadsOption = Annotated[int, typer.Option(help="Threads; they change no result.", min=1)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
BlockOption = Annotated[
    int, typer.Option(help="Rows read at a time; changes no result.", min=1, max=2**20)
]
ModelArgument = Annotated[Path, typer.Argument(help="A saved model.", show_default=False)]


def split_commas(values: list[str] | None) -> list[str] | None:
    """Flatten ``["a,b", "c"]`` to ``["a", "b", "c"]``."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",") if part.strip()]


def parse_learners(text: str) -> Any:
    """Turn what ``--learners`` says into a ``learners`` argument."""
    import boostline as bl

    name, colon, count = text.partition(":")
    if name == "auto" and not colon:
        return "auto"
    if name == "paper" and (count.isdecimal() or not colon):
        return bl.learners.paper_trees(int(count or 100))
    raise typer.BadParameter(
        f"{text!r} is not known; give auto, or paper:N with a number", param_hint="--learners"
    )


def _edge(text: str | None) -> float | str | None:
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither a number nor auto", param_hint="--edge"
        ) from None


def make_model(
    algorithm: Algorithm,
    labels: list[str],
    *,
    learners: str | None = None,
    seed: int | None = None,
    edge: str | None = None,
    loss: str | None = None,
    expert: Expert | None = None,
    threads: int = 1,
) -> Any:
    """Make a new booster; None stands for its own default."""
    import boostline as bl

    given: dict[str, Any] = {"labels": labels, "n_threads": threads}
    if learners is not None:
        given["learners"] = parse_learners(learners)
    if seed is not None:
        given["seed"] = seed
    is_ada = algorithm is Algorithm.ada_olmr
    own: dict[str, Any] = {"expert": expert} if is_ada else {"edge": _edge(edge), "loss": loss}
    foreign = {"edge": edge, "loss": loss} if is_ada else {"expert": expert}
    for name, value in foreign.items():
        if value is not None:
            raise typer.BadParameter(
                f"has no meaning for {algorithm.value}", param_hint=f"--{name}"
            )
    given |= {name: str(v) if name == "expert" else v for name, v in own.items() if v is not None}
    return (bl.AdaOLMR if is_ada else bl.OnlineBMR)(**given)
