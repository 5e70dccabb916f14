"""Runs random cases in child processes, each from its own seed, and reports what was found.

A child works through the seeds of one kind of case: `model_files`, `data_files`, `calls` or `streams`. What a case
finds is an exception that nothing documents, a wrong answer, a crash, a hang, or memory without bound. Crashes and
hangs end the child; the harness reports the seed at which it happened and goes on with the next one.

    python tests/fuzz/harness.py --seconds 60               every kind, for a minute in all
    python tests/fuzz/harness.py calls --seed 17 --cases 1  one case again
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import faulthandler
import importlib
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KINDS = ("model_files", "data_files", "calls", "streams")
#: Under a sanitizer everything takes longer, and it reserves terabytes of addresses.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
CPU_SECONDS = 100.0 if SANITIZED else 20.0
#: Of wall-clock time to CPU time, for a busy machine; a hang takes no CPU time.
PATIENCE = 15
MEMORY_BYTES = 3 * 2**30
#: For files of cases: half of the time would go into waiting for a disk.
IN_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
#: Finds of one kind are alike after so many; then the rest of its time is not worth spending.
MOST_FINDS = 25


@dataclasses.dataclass
class Figures:
    """What was done of one kind."""

    kind: str
    first_seed: int
    cases: int = 0
    steps: int = 0
    seconds: float = 0.0
    outcomes: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    finds: dict[str, list[int]] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        outcomes = ", ".join(f"{n:,} {name}" for name, n in sorted(self.outcomes.items()))
        found = sum(map(len, self.finds.values()))
        what = self.kind.rpartition("_")[2]
        return (
            f"{self.kind}: {self.steps:,} {what} in {self.cases:,} cases "
            f"({outcomes}), seeds {self.first_seed} to {self.first_seed + self.cases - 1}, "
            f"{self.seconds:.0f} s, {found} finds"
        )


# The child.


def work(kind: str, seeds: Iterable[int], seconds: float, limit: float, report: Any) -> None:
    """Run the cases of `seeds` until the time is up, each for `limit` CPU seconds, telling `report` about each."""
    case = importlib.import_module(kind).case
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, chain=True)  # where it hung; then the signal ends the process
    _limit_memory()
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        for seed in seeds:
            report({"start": seed})
            signal.setitimer(signal.ITIMER_PROF, limit)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * limit)
            outcomes: collections.Counter[str] = collections.Counter()
            try:
                case(seed, Path(folder), outcomes)
            except Exception as error:
                report({"find": seed, "what": _signature(error), "text": traceback.format_exc()})
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
            report({"done": seed, "outcomes": outcomes})
            if time.monotonic() > end:
                return


def _limit_memory() -> None:
    if SANITIZED:  # its own options limit it
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES,) * 2)


def _signature(error: BaseException) -> str:
    """Finds with the same signature are taken for the same."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "fuzz" not in Path(f.filename).parts] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    first_line = (str(error).strip() or "-").splitlines()[0][:120]
    first_line = re.sub("/(tmp|dev/shm)/[^ ]*|[0-9]+", "N", first_line)
    return f"{type(error).__name__} at {place}: {first_line}"


# The parent.


def run(
    kind: str, first: int, cases: int | None, seconds: float, limit: float = CPU_SECONDS
) -> Figures:
    """Let children work through the seeds from `first` on; print each find at once."""
    figures = Figures(kind, first)
    began = time.monotonic()
    while (cases is None or figures.cases < cases) and len(figures.finds) < MOST_FINDS:
        left = seconds - (time.monotonic() - began)
        if left <= 0:
            break
        _one_child(figures, None if cases is None else cases - figures.cases, left, limit)
    figures.seconds = time.monotonic() - began
    return figures


def _one_child(figures: Figures, cases: int | None, seconds: float, limit: float) -> None:
    """One child's work, added to the figures, until its time is up or it dies."""
    seed = figures.first_seed + figures.cases
    command = [sys.executable, str(Path(__file__)), figures.kind, "--child", "--seed", str(seed)]
    command += ["--seconds", str(seconds), "--limit", str(limit)]
    command += [] if cases is None else ["--cases", str(cases)]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=_environment())
        assert child.stdout is not None
        running: int | None = None
        for line in child.stdout:
            message = json.loads(line)
            if "start" in message:
                running = message["start"]
            elif "find" in message:
                _found(figures, message["find"], message["what"], message["text"])
            else:
                figures.cases += 1
                figures.outcomes.update(message["outcomes"])
                figures.steps += sum(message["outcomes"].values())
                running = None
        code = child.wait()
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if running is not None:  # it died at this case
        figures.cases += 1
        figures.outcomes["died"] += 1
        _found(figures, running, _death(code, text, limit), text[-6000:])
    elif code != 0:
        raise RuntimeError(
            f"the child for {figures.kind} ended with {code} between two cases:\n{text}"
        )


def _environment() -> dict[str, str]:
    """The child's: a sanitizer has a limit of its own for memory."""
    if SANITIZED:
        most = MEMORY_BYTES // 2**20
        limits = f"hard_rss_limit_mb={2 * most}:max_allocation_size_mb={most}"
        return {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{limits}"}
    return dict(os.environ)


def _death(code: int, text: str, limit: float) -> str:
    for line in text.splitlines():
        if "ERROR: AddressSanitizer" in line or "runtime error:" in line:
            return re.sub("0x[0-9a-f]+|==[0-9]+==", "N", line.strip())[:200]
    if code == -signal.SIGPROF:
        return f"takes more than {limit:g} s of CPU time"
    if code == -signal.SIGALRM:
        return f"hangs for more than {PATIENCE * limit:g} s"
    return f"died with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"


def _found(figures: Figures, seed: int, what: str, text: str) -> None:
    seeds = figures.finds.setdefault(what, [])
    seeds.append(seed)
    if len(seeds) == 1:
        again = f"{Path(__file__).name} {figures.kind} --seed {seed} --cases 1"
        print(f"\nFIND: {what}\n  again: python tests/fuzz/{again}\n{text}", flush=True)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"some of {', '.join(KINDS)}; default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all kinds together")
    parser.add_argument("--seed", type=int, default=0, help="the first; each case has the next")
    parser.add_argument("--cases", type=int, help="of each kind at most")
    parser.add_argument("--limit", type=float, default=CPU_SECONDS, help="CPU seconds of a case")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    kinds = given.kinds or list(KINDS)
    if given.child:
        seeds = itertools.count(given.seed)
        with os.fdopen(os.dup(1), "wb", buffering=0) as out:
            os.dup2(2, 1)  # what the library prints is not for the harness
            work(
                kinds[0],
                seeds if given.cases is None else itertools.islice(seeds, given.cases),
                given.seconds,
                given.limit,
                lambda message: out.write(json.dumps(message).encode() + b"\n"),
            )
        return
    build = "sanitizer" if SANITIZED else "normal"
    print(f"fuzzing ({build} build): first seed {given.seed}, {given.seconds:g} s", flush=True)
    results = []
    for number, kind in enumerate(kinds):
        spent = sum(r.seconds for r in results)
        share = (given.seconds - spent) / (len(kinds) - number)
        results.append(run(kind, given.seed, given.cases, share, given.limit))
        print(results[-1], flush=True)
    for result in results:
        for what, seeds in result.finds.items():
            print(f"FOUND {len(seeds)} times in {result.kind}, first at seed {seeds[0]}: {what}")
    sys.exit(any(result.finds for result in results))


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent / "helpers")]
    with contextlib.suppress(KeyboardInterrupt):
        main()
