"""The application: its commands, and what becomes of errors."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from boostline.cli import data, evaluate, inspect, rank, train
from boostline.display.logs import LogFormat, set_up

FAILED, STOPPED = 1, 130
_EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)

# Commands of other packages, imported when they are called: name -> module, help.
_LAZY = {
    "lab": ("boostline.lab.command", "Study the algorithms: the paper's theorems and experiments."),
    "log": (
        "boostline.cli.log",
        "Verify, export, replay or compact the log of a service.",
    ),
    "serve": (
        "boostline.cli.serve",
        "Rank and learn over HTTP, with a log that loses nothing.",
    ),
    "reproduce": (
        "boostline.lab.reproduce.command",
        "Run the paper's experiments; short for `boostline lab reproduce`.",
    ),
}


class LazyGroup(TyperGroup):
    """A group that imports the commands of `_LAZY` when they are called, not when they are listed."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in _LAZY:
            self.commands[args[0]] = _imported(args[0])
        return super().resolve_command(ctx, args)


def _imported(name: str) -> Any:
    module = importlib.import_module(_LAZY[name][0])
    # The callback keeps it a group even with a single command.
    own = typer.Typer(callback=_nothing)
    module.register(own)
    return typer.main.get_command(own).commands[name]  # type: ignore[attr-defined]


def _nothing() -> None:
    pass


def _show_version(wanted: bool) -> None:
    if wanted:
        import boostline

        typer.echo(f"boostline {boostline.__version__}")
        raise typer.Exit


def make_app() -> typer.Typer:
    """Put the commands together."""
    app = typer.Typer(
        cls=LazyGroup,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Online multi-label ranking: learn one example at a time, rank labels at any time.",
    )

    @app.callback()
    def options(
        version: Annotated[
            bool,
            typer.Option(
                "--version", callback=_show_version, is_eager=True, help="Show the version."
            ),
        ] = False,
        log: Annotated[
            LogFormat | None,
            typer.Option(
                help="Say on standard error what is read and written, as text or as JSON."
            ),
        ] = None,
    ) -> None:
        if log is not None:
            set_up(as_json=log is LogFormat.json)

    for module in (train, rank, evaluate, inspect, data):
        module.register(app)
    for name, (_, text) in _LAZY.items():
        app.command(name, help=text)(_nothing)
    return app


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Errors become one line on standard error; ``BOOSTLINE_TRACEBACK=1`` shows all of it."""
    from boostline.contract.advice import cli_messages

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a locale without "×" still shows the rest
            stream.reconfigure(errors="replace")
    app = make_app()
    try:
        with cli_messages():
            words = None if arguments is None else list(arguments)
            sys.exit(app(args=words, prog_name="boostline", standalone_mode=False) or 0)
    except KeyboardInterrupt:
        _fail("stopped", STOPPED)
    except Exception as error:
        if os.environ.get("BOOSTLINE_TRACEBACK"):
            raise
        if isinstance(error, typer.BadParameter.__base__):  # type: ignore[arg-type]
            _fail(*_usage(error))
        if isinstance(error, _EXPECTED):
            _fail(f"error: {_message(error)}", FAILED)
        what = f"{type(error).__name__}: {error}"
        _fail(
            f"internal error: {what}\nBOOSTLINE_TRACEBACK=1 shows where; please report it.", FAILED
        )


def _usage(error: Any) -> tuple[str, int]:
    """What is wrong with the options, in a line; of a group without a command nothing, since its help is shown."""
    message = error.format_message().removeprefix("Invalid value: ").rstrip(".")
    path = "boostline" if error.ctx is None else error.ctx.command_path
    return f"error: {message}; see {path} --help" if message else "", error.exit_code


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename is not None else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        says_more = str(error) not in ("", "std::bad_alloc")
        return f"not enough memory: {error}" if says_more else "not enough memory"
    return str(error) or type(error).__name__


def _fail(text: str, code: int) -> None:
    if text:
        print(text, file=sys.stderr)
    sys.exit(code)
