"""Kill `boostline train` at random moments, go on with --resume, and compare the file with that of an undisturbed run.

    python scripts/kill_and_resume.py [--kills 100] [--seed N]

Every start is a process of its own with a random --block, --checkpoint and --threads; the kill (SIGKILL) comes at
any time of its life: while it reads the model, skips rows, learns or saves. When a training comes to its end, the
model has to be equal to the reference byte for byte, and nothing else may be left in the folder. Then the next model
begins, until there were enough kills. The seed is printed; with it the same options and waiting times are drawn.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import secrets
import signal
import tempfile
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import boostline as bl
from boostline import cli

N_ROWS = 6000
FEATURES = [f"f{i}" for i in range(8)]
LABELS = [f"tag_{i}" for i in range(6)]
MODELS = {
    "default": [],
    "Ada.OLMR, trees": ["-a", "ada_olmr", "--learners", "paper:20"],
    "OnlineBMR, edge auto": ["-a", "online_bmr", "--edge", "auto", "--learners", "paper:20"],
}


def write_rows(path: Path, rng: random.Random) -> None:
    with open(path, "w") as file:
        file.write(",".join(FEATURES + LABELS) + "\n")
        for _ in range(N_ROWS):
            x = [rng.gauss(0, 1) for _ in FEATURES]
            y = [int(value + 0.3 * rng.gauss(0, 1) > 0.5) for value in x[: len(LABELS)]]
            file.write(",".join([*(f"{value:.4f}" for value in x), *map(str, y)]) + "\n")


# Forked after one training here, which imports all there is to import, so that most of a life is training.
PROCESSES = multiprocessing.get_context("fork")


def start(folder: Path, model: str, options: list[str]) -> BaseProcess:
    child = PROCESSES.Process(target=train, args=(folder, model, options))
    child.start()
    return child


def train(folder: Path, model: str, options: list[str]) -> None:
    os.chdir(folder)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        cli.main(["train", "data.csv", "--labels", "tag_*", "--model", model, *options])


def clock(path: Path) -> int:
    return bl.load(path).clock if path.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    began = time.monotonic()
    kills = compared = starts = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_rows(folder / "data.csv", rng)
        with contextlib.suppress(SystemExit):
            train(folder, "first.blm", [])
        (folder / "first.blm").unlink()
        whole, seconds = {}, {}
        for name, options in MODELS.items():
            start_time = time.monotonic()
            child = start(folder, "whole.blm", options)
            child.join()
            assert child.exitcode == 0, f"the training without kills failed: {child.exitcode}"
            seconds[name] = time.monotonic() - start_time
            whole[name] = (folder / "whole.blm").read_bytes()
            (folder / "whole.blm").unlink()
        while kills < asked.kills:
            name = rng.choice(list(MODELS))
            at: list[int] = []  # rows in the file after each kill
            while True:
                drawn = ["--block", str(rng.choice([1, 7, 64, 256, rng.randint(1, 1000)]))]
                drawn += ["--checkpoint", str(rng.randint(20, 1000))]
                drawn += ["--threads", str(rng.choice([1, 1, 2]))]
                child = start(folder, "m.blm", [*MODELS[name], "--resume", *drawn])
                starts += 1
                if kills < asked.kills:
                    child.join(rng.uniform(0, seconds[name] / 2))
                    child.kill()
                child.join()
                if child.exitcode == 0:
                    break
                if child.exitcode != -signal.SIGKILL:
                    raise SystemExit(f"{name}: exit code {child.exitcode} with {drawn} after {at}")
                kills += 1
                at.append(clock(folder / "m.blm"))  # what is there can be loaded at every moment
            left = {path.name for path in folder.iterdir()}
            if (folder / "m.blm").read_bytes() != whole[name]:
                raise SystemExit(f"{name}: another model than without kills, after {at} rows")
            if left != {"data.csv", "m.blm"}:
                raise SystemExit(f"{name}: left behind: {sorted(left - {'data.csv', 'm.blm'})}")
            (folder / "m.blm").unlink()
            compared += 1
            print(f"{name}: equal after {len(at)} kills at {at} of {N_ROWS} rows", flush=True)
    print(
        f"{kills} kills, {starts} starts, {compared} models equal byte for byte, "
        f"{time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
