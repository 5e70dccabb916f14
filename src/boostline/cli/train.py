"""``boostline train``: learn from a file or a pipe, and continue after any interruption."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from boostline.cli import options as o
from boostline.cli.texts import learn_texts, texts_to_learn
from boostline.contract.text_models import is_text_model
from boostline.display.progress import show_progress
from boostline.display.terminal import note, print_json, print_pairs

# What shells add to the number of the signal that ended a program: 130 for Ctrl-C, 143 for kill.
_SIGNALLED = 128
# A checkpoint is also written when this many seconds have passed since the last.
_CHECKPOINT_SECONDS = 60.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("train")(train)


def train(
    data: Annotated[
        list[str],
        typer.Argument(
            help="A file (csv, parquet, arff, svmlight, jsonl; also .gz), - for standard input, or a named data set. "
            "With --jobs or --dask, any number of files.",
            show_default=False,
        ),
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", help="File to save the model to.", show_default=False)
    ],
    labels: o.LabelsOption = None,
    text: o.TextOption = None,
    separator: o.SeparatorOption = None,
    algorithm: Annotated[
        o.Algorithm | None,
        typer.Option("--algorithm", "-a", help="Algorithm.", show_default="label_ranker"),
    ] = None,
    learners: o.LearnersOption = None,
    seed: o.SeedOption = None,
    expert: o.ExpertOption = None,
    steps: o.StepsOption = None,
    drift: o.DriftOption = None,
    max_bytes: o.MaxBytesOption = None,
    edge: o.EdgeOption = None,
    loss: o.LossOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue with the saved model; rows that it has learned already are skipped.",
        ),
    ] = False,
    append: Annotated[
        bool,
        typer.Option(
            "--append", help="Continue with the saved model; all rows of the input are new."
        ),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Start from scratch even if the model file exists.")
    ] = False,
    checkpoint: Annotated[
        int,
        typer.Option(help="Rows between two checkpoints; one is also saved every minute.", min=1),
    ] = 10_000,
    max_rows: Annotated[
        int | None, typer.Option(help="Stop after this many rows of the input.", min=1)
    ] = None,
    format: o.FormatOption = None,
    drop: o.DropOption = None,
    categories: o.CategoriesOption = None,
    delimiter: o.DelimiterOption = None,
    encoding: o.EncodingOption = None,
    zero_based: o.ZeroBasedOption = None,
    block: o.BlockOption = 256,
    threads: o.ThreadsOption = 1,
    jobs: o.JobsOption = 1,
    dask: o.DaskOption = None,
    json: o.JsonOption = False,
) -> None:
    """Learn from a file or a pipe in one pass, and save the model.

    The model is saved regularly. After Ctrl-C, kill, kill -9 or a power cut, run the same command with --resume to
    continue: rows that were learned already are skipped.

    With --jobs or --dask, several workers learn a history of many files. The model is saved at the end.
    """
    from boostline.cli import row_sources

    if resume + append + overwrite > 1:
        raise typer.BadParameter("only one of --resume, --append and --overwrite can be given")
    exists = os.path.exists(model)
    if exists and not (resume or append or overwrite):
        raise FileExistsError(
            f"{model} exists already: use --resume, --append or --overwrite, or another name"
        )
    if append and not exists:
        raise FileNotFoundError(f"{model} does not exist, so there is nothing to append to")
    given = row_sources.Input(
        data[0], labels, format, drop, categories, delimiter, encoding, zero_based, text, separator
    )
    options = o.ModelOptions(learners, expert, drift, edge, loss, steps, max_bytes)
    chosen = _Chosen(algorithm, options, seed, threads)
    if jobs != 1 or dask is not None:
        if resume or append or max_rows is not None:
            raise typer.BadParameter(
                "--jobs and --dask learn a whole history anew: leave out --resume, --append and --max-rows"
            )
        if text is not None:
            raise typer.BadParameter(
                "texts are learned by one process: leave out --jobs and --dask"
            )
        from boostline.cli.train_history import train_history

        train_history(data, model, given, chosen.make, jobs=jobs, dask=dask, json=json)
        return
    if len(data) > 1:
        raise typer.BadParameter("several files need --jobs or --dask")
    if exists and not overwrite:
        job = _Job.resumed(model, given, chosen, append, block)
    else:
        job = _Job.fresh(model, given, chosen, block)
    result = job.run(checkpoint, max_rows)
    if json:
        print_json(result)
    else:
        _print(result)
    if result["stopped"]:
        note(f"stopped; what was learned is saved in {model}; continue with --resume")
        raise typer.Exit(_SIGNALLED + signal.Signals[result["signal"]])


@dataclass(frozen=True)
class _Chosen:
    """The model's options as they were given; None: not given."""

    algorithm: o.Algorithm | None
    options: o.ModelOptions
    seed: int | None
    threads: int

    def make(self, labels: list[str], algorithm: o.Algorithm | None = None) -> Any:
        chosen = self.algorithm or algorithm or o.Algorithm.label_ranker
        return o.make_model(chosen, labels, self.options, seed=self.seed, threads=self.threads)

    def make_text(self) -> Any:
        return o.make_text_model(
            self.algorithm, [], self.options, seed=self.seed, threads=self.threads
        )

    def check(self, model: Any, path: Path) -> None:
        """Refuse options that are not those of the saved model."""
        labels = model.labels or [str(i) for i in range(model.n_labels)]
        wanted = self.make(labels, o.Algorithm(model.algorithm)).config()
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


class _Job:
    """One run of training: a model, its input, and how many rows of the input it has learned."""

    def __init__(self, path: Path, model: Any, given: Any, rows: Any, recorder: Any) -> None:
        from boostline.cli.row_sources import Fingerprint

        self._path = path
        self._model = model
        self._booster = getattr(model, "booster", model)
        self._given = given
        self._input = rows
        self._recorder = recorder
        self._done = 0
        self._skipped = 0
        self._print = Fingerprint()

    @classmethod
    def fresh(cls, path: Path, given: Any, chosen: _Chosen, block: int) -> _Job:
        from boostline.cli.row_sources import rows_to_learn
        from boostline.inspect import Recorder

        if not os.path.isdir(path.parent):
            raise FileNotFoundError(f"there is no folder {path.parent} to save the model in")
        if given.text is not None:
            return cls(path, chosen.make_text(), given, texts_to_learn(given, block), Recorder())
        rows = rows_to_learn(given, block)
        model = chosen.make(rows.labels)
        model.features = rows.features
        return cls(path, model, given, rows, Recorder())

    @classmethod
    def resumed(cls, path: Path, given: Any, chosen: _Chosen, append: bool, block: int) -> _Job:
        from boostline.cli.columns import Columns
        from boostline.cli.row_sources import rows_to_learn
        from boostline.inspect import Recorder
        from boostline.saving import load_with_extra

        model, extra = load_with_extra(path, n_threads=chosen.threads)
        chosen.check(getattr(model, "booster", model), path)
        record = extra.get("train")
        if (record is None or "rows" not in record) and not append:
            raise ValueError(
                f"{path} was not saved by boostline train, so it does not say which rows it has learned: "
                "use --append if all rows of the input are new"
            )
        record = record or {}
        given = _with_record(given, record)
        if is_text_model(model) != (given.text is not None):
            raise ValueError(
                f"{path} is {'a' if is_text_model(model) else 'no'} model of texts: "
                f"{'give --text with the column' if is_text_model(model) else 'leave --text out'}"
            )
        if is_text_model(model):
            given = replace(given, labels=given.labels or record.get("labels_given"))
            rows = texts_to_learn(given, block)
        else:
            rows = rows_to_learn(given, block, Columns.of(model, record))
            if model.features is None:
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
                self._print.update(X, Y)
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
            raise typer.Exit(_SIGNALLED + interrupt.number)
        seconds = time.perf_counter() - start
        learned = self._done - before
        ranked = int(self._booster.label_set_sizes.sum())
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
            "memory_bytes": self._model.memory_usage(),
            "file_bytes": os.path.getsize(self._path),
            "stopped": stopped,
            "signal": interrupt.number.name if stopped else None,
        }

    def _learn(self, x: Any, y: Any) -> None:
        if is_text_model(self._model):
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
        from boostline.saving import save

        record = {
            "rows": self._done,
            "checksum": dict(self._print.sums),
            "source": self._given.source,
            "labels_given": self._given.labels,
            "drop": self._given.drop,
            "categories": self._given.categories,
            "delimiter": self._given.delimiter,
            "encoding": self._given.encoding,
            "zero_based": self._given.zero_based,
            "text": self._given.text,
            "separator": self._given.separator,
            "history": self._recorder.state(),
        }
        if is_text_model(self._model):
            self._model.save(self._path, {"train": record})
        else:
            save(self._model, self._path, {"train": record})

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
            self._print.update(X[:n], Y[:n])
            self._done += n
            if n < X.shape[0]:
                rest.append((X[n:], Y[n:]))
        if self._print.sums != record["checksum"]:
            raise ValueError(
                f"the first {count} rows of {self._given.name} are not those that {self._path} has learned: "
                "use the same input from its start, or --append if its rows are new"
            )
        self._skipped = count
        self._input.blocks = itertools.chain(rest, blocks)


def _with_record(given: Any, record: dict[str, Any]) -> Any:
    """Options of the input that are not given again stay as they were."""
    names = ("drop", "categories", "delimiter", "encoding", "zero_based", "text", "separator")
    known = {name: record.get(name) for name in names}
    return replace(given, **{n: v for n, v in known.items() if getattr(given, n) is None})


def _limited(rows: Any, left: int | None) -> Iterator[tuple[Any, Any]]:
    for X, Y in rows:
        if left is None:
            yield X, Y
            continue
        if left <= 0:
            return
        yield X[:left], Y[:left]
        left -= X.shape[0]


def _loss_so_far(model: Any) -> str:
    return f"rank loss {model.suffered_loss / max(1, int(model.label_set_sizes.sum())):.4f}"


def _print(result: dict[str, Any]) -> None:
    loss = result["mean_rank_loss"]
    pairs = [
        ("model", f"{result['model']} ({result['file_bytes'] / 1e6:.1f} MB)"),
        ("algorithm", result["algorithm"]),
        ("rows learned now", f"{result['rows']:,} in {result['seconds']:.1f} s"),
    ]
    if result["skipped"]:
        pairs.append(("rows skipped", f"{result['skipped']:,} (learned before)"))
    pairs += [
        ("rows learned in all", f"{result['clock']:,}"),
        ("features, labels", f"{result['features'] or '-'}, {result['labels']}"),
        ("mean rank loss", "-" if loss is None else f"{loss:.4f} (before learning each row)"),
        ("memory", f"{result['memory_bytes'] / 1e6:.1f} MB"),
    ]
    print_pairs(pairs)
