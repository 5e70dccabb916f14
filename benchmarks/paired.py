"""The recommended model beside that of an older build: ``python benchmarks/paired.py --old OLD/src [sets]``.

Both learn the same shuffles with the same seeds, in one pass over train and test rows (learning) and over the train
rows alone (frozen). Shown are the mean rank losses, and the mean difference with its standard error over the pairs.
Before there was `LabelRanker`, the recommended model was ``AdaOLMR(k)``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import boostline as bl

SETS = ("emotions", "scene", "yeast", "m-reduced", "mediamill", "enron", "bibtex")


def run(name: str, shuffle: int, seed: int) -> dict[str, float]:
    """Learn train rows, freeze a copy's scores of the test rows, then learn these too."""
    data = bl.data.load(name).shuffled(shuffle)
    make = getattr(bl, "LabelRanker", bl.AdaOLMR)
    model = make(data.n_labels, seed=seed)
    n, Y = data.n_train, data.Y[data.n_train :]
    for at in range(0, n, 2000):
        model.learn(data.X[at : min(at + 2000, n)], data.Y[at : min(at + 2000, n)])
    frozen = model.score(data.X[n:])
    learning = model.learn(data.X[n:], Y)
    return {
        "learning": float(bl.metrics.rank_loss(Y, learning)),
        "frozen": float(bl.metrics.rank_loss(Y, frozen)),
    }


def worker(sources: str) -> subprocess.Popen[str]:
    """A process with a build of its own, which answers a line with a line."""
    return subprocess.Popen(
        [sys.executable, __file__, "--work"],
        env={**os.environ, "PYTHONPATH": sources},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(process: subprocess.Popen[str], *job: Any) -> dict[str, float]:
    assert process.stdin is not None and process.stdout is not None
    print(json.dumps(job), file=process.stdin, flush=True)
    answer: dict[str, float] = json.loads(process.stdout.readline())
    return answer


def work() -> None:
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--old", help="the folder src of an older build")
    parser.add_argument("--shuffles", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--out", type=Path, help="JSON; what it has already is not run again")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work()
        return
    here = str(Path(bl.__file__).parents[1])
    builds = {"new": worker(here)} | ({"old": worker(arguments.old)} if arguments.old else {})
    kept = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else {}
    for name in arguments.sets:
        pairs = []
        for shuffle in range(arguments.shuffles):
            for seed in range(arguments.seeds):
                key = f"{name} {shuffle} {seed}"
                found = kept.setdefault(key, {})
                for build, process in builds.items():
                    if build not in found:
                        found[build] = ask(process, name, shuffle, seed)
                pairs.append(found)
                if arguments.out:
                    arguments.out.write_text(json.dumps(kept, indent=1))
        for kind in ("learning", "frozen"):
            new = np.array([p["new"][kind] for p in pairs])
            text = f"{name:10} {kind:9} new {new.mean():.4f}"
            if "old" in builds:
                gain = new - [p["old"][kind] for p in pairs]
                error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
                text += (
                    f"  old {(new - gain).mean():.4f}  new - old {gain.mean():+.4f} ({error:.4f})"
                )
            print(text, flush=True)


if __name__ == "__main__":
    main()
