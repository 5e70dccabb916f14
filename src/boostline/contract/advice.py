"""Advice in errors, for callers from Python or for users of the shell command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_shell = ContextVar("_in_shell", default=False)


def advice(python: str, shell: str) -> str:
    """Return the advice that fits the caller: arguments of a function, or options of the command.

    Examples
    --------
    >>> from boostline.contract.advice import advice, cli_messages
    >>> advice("pass drop=['id']", "give --drop id")
    "pass drop=['id']"
    >>> with cli_messages():
    ...     advice("pass drop=['id']", "give --drop id")
    'give --drop id'
    """
    return shell if _in_shell.get() else python


@contextmanager
def cli_messages() -> Iterator[None]:
    """Give advice for the command ``boostline``."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)
