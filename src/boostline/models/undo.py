"""Bad calls leave no trace, also where only a learner written in Python finds out that they are bad."""

from __future__ import annotations

from boostline import _core


class Undo:
    """Takes back what a failed call has done, where learners written in Python can make a call fail."""

    def __init__(self, native: _core.Model, n_rows: int) -> None:
        self._native = native
        self._adapters = native.python_adapters()
        self._snapshots = [adapter.snapshot() for adapter in self._adapters]
        # In a single row Python learners come first: nothing compiled has changed when one of them fails.
        self._core = native.clone(share_serial=True) if self._adapters and n_rows > 1 else None

    def run(self) -> None:
        """Take everything back, if there are such learners."""
        for adapter, snapshot in zip(self._adapters, self._snapshots, strict=True):
            adapter.restore(snapshot)
        if self._core is not None:
            self._native.restore(self._core)
