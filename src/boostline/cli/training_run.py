"""One run of ``boostline train``: rows from a file or a pipe, checkpoints, and the way back after an interruption."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from boostline.cli import options as o
from boostline.data.fingerprint import Fingerprint
from boostline.data.inputs import Input, RowStream, rows_to_learn
from boostline.display.progress import show_progress
from boostline.display.terminal import note
from boostline.models.settings import Algorithm, ModelOptions, make_model
from boostline.text.by_number import learn_texts

# What shells add to the number of the signal that ended a program: 130 for Ctrl-C, 143 for kill.
SIGNALLED = 128
# A checkpoint is also written when this many seconds have passed since the last.
_CHECKPOINT_SECONDS = 60.0


@dataclass(frozen=True)
class Chosen:
    """The model's options as they were given; None: not given."""

    algorithm: Algorithm | None
    options: ModelOptions
    seed: int | None
    threads: int

    def make(self, labels: list[str], algorithm: Algorithm | None = None) -> Any:
        chosen = self.algorithm or algorithm or Algorithm.label_ranker
        return make_model(chosen, labels, self.options, seed=self.seed, threads=self.threads)

    def make_text(self) -> Any:
        return o.make_text_model(
            self.algorithm, [], self.options, seed=self.seed, threads=self.threads
        )

    def check(self, model: Any, path: Path) -> None:
        """Refuse options that are not those of the saved model."""
        labels = model.labels or [str(i) for i in range(model.n_labels)]
        wanted = self.make(labels, Algorithm(model.algorithm)).config()
        config = model.config()
        told = {"algorithm": self.algorithm, "seed": self.seed, **vars(self.options)}
        for name, said in told.items():
            if said is None:
                continue
            new, old = (c.get(name, c["settings"].get(name)) for c in (wanted, config))
            if new != old:
                raise ValueError(
                    f"--{name} is {said}, but {path} was trained with another value: leave it out, or start "
                    "from scratch with --overwrite"
                )


class TrainingRun:
    """One run of training: a model, its input, and how many rows of the input it has learned."""

    def __init__(
        self, path: Path, model: Any, given: Input, rows: RowStream, recorder: Any
    ) -> None:
        self._path = path
        self._model = model
        self._booster = model.booster
        self._given = given
        self._input = rows
        self._recorder = recorder
        self._done = 0
        self._skipped = 0
        self._fingerprint = Fingerprint()

    @classmethod
    def fresh(cls, path: Path, given: Input, chosen: Chosen, block: int) -> TrainingRun:
        from boostline.inspect import Recorder

        if not os.path.isdir(path.parent):
            raise FileNotFoundError(f"there is no folder {path.parent} to save the model in")
        if given.text is not None:
            return cls(path, chosen.make_text(), given, rows_to_learn(given, block), Recorder())
        rows = rows_to_learn(given, block)
        model = chosen.make(rows.labels)
        model.features = rows.features
        return cls(path, model, given, rows, Recorder())

    @classmethod
    def resumed(
        cls, path: Path, given: Input, chosen: Chosen, append: bool, block: int
    ) -> TrainingRun:
        from boostline.inspect import Recorder
        from boostline.saving import load_with_extra

        model, extra = load_with_extra(path, n_threads=chosen.threads)
        chosen.check(model.booster, path)
        record = extra.get("train")
        if (record is None or "rows" not in record) and not append:
            raise ValueError(
                f"{path} was not saved by boostline train, so it does not say which rows it has learned: "
                "use --append if all rows of the input are new"
            )
        record = record or {}
        given = given.completed(record)
        if model.takes_texts != (given.text is not None):
            raise ValueError(
                f"{path} is {'a' if model.takes_texts else 'no'} model of texts: "
                f"{'give --text with the column' if model.takes_texts else 'leave --text out'}"
            )
        rows = rows_to_learn(given, block, model, record)
        if not model.takes_texts and model.features is None:
            model.features = rows.features
        recorder = Recorder.from_state(record["history"]) if "history" in record else Recorder()
        if given.labels is None:
            given = replace(given, labels=record.get("labels_given"))
        job = cls(path, model, given, rows, recorder)
        if append:
            job._save()  # from here on --resume knows that no row of this input is learned
        else:
            job._skip(record)
        return job

    def run(self, checkpoint: int, max_rows: int | None) -> dict[str, Any]:
        from boostline.evaluate.long_jobs import Interrupt

        start = time.perf_counter()
        saved_at, saved_rows = start, self._done
        before = self._done
        left = None if max_rows is None else max(0, max_rows - self._done)
        interrupt = Interrupt(signal.SIGTERM)
        stopped = True
        total = self._input.total
        bar = show_progress(None, self._given.name, total, "rows", done=self._done)
        with bar as advance, interrupt:
            for X, Y in interrupt.items(_limited(self._input, left)):
                for x, y in self._pieces(X, Y):
                    self._learn(x, y)
                self._fingerprint.update(X, Y)
                self._done += X.shape[0]
                advance(X.shape[0], note=_loss_so_far(self._booster) if advance.shown else None)
                now = time.perf_counter()
                if self._done - saved_rows >= checkpoint or now - saved_at > _CHECKPOINT_SECONDS:
                    self._save()
                    saved_at, saved_rows = now, self._done
            stopped = interrupt.stopped
            if self._booster.n_features is None and not stopped:
                raise ValueError(f"{self._given.name} has no rows")
            self._save()
        if interrupt.broken_off:  # what is half learned is not saved: its rows would count twice
            note("stopped in the middle of a block; --resume continues from the last checkpoint")
            raise typer.Exit(SIGNALLED + interrupt.number)
        seconds = time.perf_counter() - start
        learned = self._done - before
        ranked = int(self._booster.diagnostics.label_set_sizes.sum())
        return {
            "model": str(self._path),
            "algorithm": type(self._model).__name__,
            "rows": learned,
            "skipped": self._skipped,
            "clock": self._model.clock,
            "labels": self._model.n_labels,
            "features": self._booster.n_features,
            "mean_rank_loss": self._booster.suffered_loss / ranked if ranked else None,
            "seconds": seconds,
            "rows_per_second": learned / seconds if seconds > 0 else None,
            "file_bytes": os.path.getsize(self._path),
            "stopped": stopped,
            "signal": interrupt.number.name if stopped else None,
        }

    def _learn(self, x: Any, y: Any) -> None:
        if self._model.takes_texts:
            scores, y = learn_texts(self._model, x, y)
        else:
            scores = self._model.learn(x, y)
        self._recorder.record(self._booster, scores, y)

    def _pieces(self, X: Any, Y: Any) -> Iterator[tuple[Any, Any]]:
        """Cut where snapshots are due: blocks are to leave no trace in the file."""
        start = 0
        while start < X.shape[0]:
            stop = start + self._recorder.due(self._model.clock)
            yield X[start:stop], Y[start:stop]
            start = stop

    def _save(self) -> None:
        record = {
            "rows": self._done,
            "checksum": dict(self._fingerprint.sums),
            "source": self._given.source,
            **self._given.record(),
            "history": self._recorder.state(),
        }
        self._model.save(self._path, {"train": record})

    def _skip(self, record: dict[str, Any]) -> None:
        """Pass over the rows that the model has learned, and make sure that they are the same."""
        count = int(record["rows"])
        blocks = iter(self._input)
        rest: list[tuple[Any, Any]] = []
        while self._done < count:
            block = next(blocks, None)
            if block is None:
                raise ValueError(
                    f"{self._given.name} has {self._done} rows, but {self._path} has learned {count} of them: "
                    "use the same input from its start, or --append if its rows are new"
                )
            X, Y = block
            n = min(X.shape[0], count - self._done)
            self._fingerprint.update(X[:n], Y[:n])
            self._done += n
            if n < X.shape[0]:
                rest.append((X[n:], Y[n:]))
        if self._fingerprint.sums != record["checksum"]:
            raise ValueError(
                f"the first {count} rows of {self._given.name} are not those that {self._path} has learned: "
                "use the same input from its start, or --append if its rows are new"
            )
        self._skipped = count
        self._input.blocks = itertools.chain(rest, blocks)


def _limited(rows: RowStream, left: int | None) -> Iterator[tuple[Any, Any]]:
    for X, Y in rows:
        if left is None:
            yield X, Y
            continue
        if left <= 0:
            return
        yield X[:left], Y[:left]
        left -= X.shape[0]


def _loss_so_far(model: Any) -> str:
    return f"rank loss {model.suffered_loss / max(1, int(model.diagnostics.label_set_sizes.sum())):.4f}"
