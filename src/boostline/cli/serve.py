"""``boostline serve``: a model behind HTTP."""

from __future__ import annotations

import re
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import boostline as bl
from boostline.cli import options as o
from boostline.data.inputs import named_labels
from boostline.display.logs import LogFormat
from boostline.models.settings import Algorithm, ModelOptions, parse_learners

__all__ = ["register"]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}


class NewLabels(StrEnum):
    """What becomes of labels in feedback that nobody knows."""

    refuse = "refuse"
    add = "add"


class Assume(StrEnum):
    """What is assumed of rankings that never got feedback."""

    nothing = "nothing"
    none = "none"


def register(app: typer.Typer) -> None:
    """Add the command to the shell's application."""
    app.command("serve")(serve)


def serve(
    store: Annotated[
        Path,
        typer.Option(
            help="The log of the service; made if it does not exist.",
            show_default=False,
            resolve_path=True,
        ),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            "-l",
            help="Labels of a new store: names with commas between, or @file with a name per line.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model", "-m", help="A saved model that a new store begins with.", show_default=False
        ),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text", help='A new store is for texts: requests have "text" instead of features.'
        ),
    ] = False,
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", "-a", help="Algorithm of a new store.")
    ] = Algorithm.label_ranker,
    learners: o.LearnersOption = None,
    seed: o.SeedOption = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than this machine's need --tokens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="File with lines 'role token'; roles: rank, feedback, admin.", show_default=False
        ),
    ] = None,
    new_labels: Annotated[
        NewLabels, typer.Option(help="Labels in feedback that the model does not know.")
    ] = NewLabels.refuse,
    expire: Annotated[
        str | None,
        typer.Option(
            help="Give up rankings without feedback after so long: 30d, 12h, 10m, 90s.",
            show_default="never",
        ),
    ] = None,
    assume: Annotated[
        Assume,
        typer.Option(
            help="Of rankings that are given up: nothing, or that none of the labels shown was relevant."
        ),
    ] = Assume.nothing,
    snapshot_rows: Annotated[
        int, typer.Option(help="Rows learned between two snapshots.", min=1)
    ] = 2000,
    max_queue: Annotated[
        int, typer.Option(help="Requests that may wait for the disk; more get 429.", min=1)
    ] = 1000,
    max_body: Annotated[int, typer.Option(help="Bytes of a request.", min=1000)] = 1_000_000,
    max_batch: Annotated[int, typer.Option(help="Lines of a batch.", min=1)] = 1000,
    max_bytes: Annotated[
        int,
        typer.Option(
            help="Memory of a model: feedback and labels that would need more are refused.",
            min=1_000_000,
        ),
    ] = 2**30,
    threads: o.ThreadsOption = 1,
    log_format: Annotated[
        LogFormat, typer.Option(help="Messages on standard error.")
    ] = LogFormat.text,
) -> None:
    """Rank, take labels back later and learn from them, over HTTP. Everything is in the store.

    The same command again goes on where it stopped, however it stopped. SIGTERM and Ctrl-C end it well.
    """
    try:
        from boostline.serve.http.server import run
    except ImportError as error:
        raise ImportError(
            f"{error.name or error} is not installed, but boostline serve needs it: pip install 'boostline[serve]'"
        ) from error
    from boostline.serve.http.security import Guard, read_tokens
    from boostline.serve.live.bootstrap import is_new, open_store
    from boostline.serve.live.settings import Limits, Settings

    guard = Guard(None if tokens is None else read_tokens(tokens), host)
    limits = Limits(
        body=max_body,
        batch_body=16 * max_body,
        batch=max_batch,
        queue=max_queue,
        model=max_bytes,
    )
    settings = Settings(
        new_labels=new_labels.value,
        expire=None if expire is None else seconds_of(expire, "--expire"),
        assume=assume.value,
        snapshot_rows=snapshot_rows,
        threads=threads,
        limits=limits,
    )
    names = None if labels is None else named_labels(labels)
    path = str(store)

    def begin() -> None:
        if not is_new(path):
            _check_same(path, names)
        elif (names is None) == (model is None):
            raise ValueError("a new store needs --labels or --model, one of them")
        elif model is None:
            first = _new_model(names or [], algorithm, learners, seed, threads, text=text)
            open_store(path, first, texts=text)
        else:
            loaded = bl.load(model, n_threads=threads)
            if text and not loaded.takes_texts:
                raise ValueError(f"--text is given, but {model} is no model of texts")
            open_store(path, loaded, texts=text)

    as_json = log_format is LogFormat.json
    run(path, settings, guard, host=host, port=port, begin=begin, json_logs=as_json)


def seconds_of(text: str, option: str) -> float:
    """Turn ``30d`` into seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip())
    if found is None or float(found[1]) == 0:
        raise ValueError(
            f"{option} is {text!r}, but must be a number and s, m, h, d or w, as in 30d"
        )
    return float(found[1]) * _UNITS[found[2]]


def _new_model(
    labels: list[str],
    algorithm: Algorithm,
    learners: str | None,
    seed: int | None,
    threads: int,
    *,
    text: bool,
) -> Any:
    from boostline.serve.live.models import serving_model
    from boostline.text.ranker import text_learners

    if len(labels) < 2:
        raise ValueError(f"--labels has {len(labels)} label, but ranking needs at least 2")
    if not text:
        return serving_model(algorithm, labels, ModelOptions(learners), seed, threads)
    if algorithm is not Algorithm.label_ranker:
        raise typer.BadParameter("with --text must be label_ranker", param_hint="--algorithm")
    chosen = text_learners("auto" if learners is None else parse_learners(learners))
    return bl.LabelRanker(labels=labels, learners=chosen, n_threads=threads, seed=seed or 0)


def _check_same(store: str, labels: list[str] | None) -> None:
    """Labels that are given again must be those that the store began with."""
    from boostline.serve.store.log import Log

    with closing(Log(store)) as log:
        first = log.of_kinds("begin")[0].data["labels"]
    if labels not in (None, first):
        raise ValueError(
            f"--labels is not what {store} began with ({', '.join(first[:8])}): leave it out (POST /labels changes "
            "labels), or give another --store"
        )
