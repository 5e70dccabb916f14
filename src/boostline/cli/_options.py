"""Options that several commands share, and the models they describe."""

from __future__ import annotations

from dataclasses import dataclass, replace
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


class Combine(StrEnum):
    """How Ada.OLMR combines votes."""

    auto = "auto"
    paper = "paper"
    mixture = "mixture"


class Drift(StrEnum):
    """What Ada.OLMR does when its loss has risen for good."""

    auto = "auto"
    restart = "restart"
    none = "none"


def format_names() -> list[str]:
    """Formats of data files, for the shell's completion."""
    from boostline.data.formats import FORMATS

    return list(FORMATS)


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
    str | None,
    typer.Option(
        "--format",
        help="Format, where the file's ending does not say it: csv, arff, svmlight ...",
        autocompletion=format_names,
        show_default=False,
    ),
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
CombineOption = Annotated[
    Combine | None,
    typer.Option(help="Ada.OLMR: how votes are combined.", show_default="as the learners suggest"),
]
DriftOption = Annotated[
    Drift | None,
    typer.Option(
        help="Ada.OLMR: whether to start anew when the loss has risen for good.",
        show_default="restart with the mixture",
    ),
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


@dataclass(frozen=True)
class ModelOptions:
    """What was said about a model; None: nothing, so its own default holds."""

    learners: str | None = None
    expert: Expert | None = None
    combine: Combine | None = None
    drift: Drift | None = None
    edge: str | None = None
    loss: str | None = None

    def of(self, algorithm: Algorithm) -> ModelOptions:
        """Those that have a meaning for an algorithm."""
        foreign = OF_BMR if algorithm is Algorithm.ada_olmr else OF_ADA
        return replace(self, **dict.fromkeys(foreign))

    def fits(self, algorithm: Algorithm) -> bool:
        """An option of one algorithm alone means that one, unless options of both are given."""
        ada, bmr = (any(getattr(self, n) is not None for n in names) for names in (OF_ADA, OF_BMR))
        if ada == bmr:
            return True
        return ada == (algorithm is Algorithm.ada_olmr)


#: Options that have a meaning for one algorithm alone.
OF_ADA = ("expert", "combine", "drift")
OF_BMR = ("edge", "loss")


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

    is_ada = algorithm is Algorithm.ada_olmr
    for name in OF_BMR if is_ada else OF_ADA:
        if getattr(options, name) is not None:
            raise typer.BadParameter(
                f"has no meaning for {algorithm.value}", param_hint=f"--{name}"
            )
    given: dict[str, Any] = {
        "seed": seed,
        "expert": None if options.expert is None else options.expert.value,
        "combine": None if options.combine is None else options.combine.value,
        "edge": _edge(options.edge),
        "loss": options.loss,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if options.learners is not None:
        given["learners"] = parse_learners(options.learners)
    if options.drift is not None:
        given["drift"] = None if options.drift is Drift.none else options.drift.value
    return (bl.AdaOLMR if is_ada else bl.OnlineBMR)(labels=labels, n_threads=threads, **given)
