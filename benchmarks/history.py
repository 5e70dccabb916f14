"""The history of benchmark figures, one JSON object a line in ``benchmarks/history.jsonl``.

Benchmarks append to it with ``--record`` (``python benchmarks/speed.py --record``); this file shows it as a table:
``python benchmarks/history.py``. Ratios measured side by side in one run can be compared over time and machines; times
only on one machine.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from boostline.lab.reproduce.one_run import machine

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"


def commit() -> str:
    """The commit that was measured, with a ``+`` if files have changed since; empty outside of a repository."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip()


def append(benchmark: str, figures: Mapping[str, float], history: Path = HISTORY) -> None:
    """Write one line: when, what code, on what machine, which figures (rounded to four digits)."""
    line = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "benchmark": benchmark,
        "figures": {name: float(f"{value:.4g}") for name, value in figures.items()},
        "machine": machine(),
    }
    with history.open("a") as file:
        file.write(json.dumps(line) + "\n")


def read(history: Path = HISTORY) -> list[dict[str, Any]]:
    return [json.loads(line) for line in history.read_text().splitlines()]


def main() -> None:
    for line in read():
        figures = ", ".join(f"{name} {value:g}" for name, value in line["figures"].items())
        processor = f"{line['machine']['processor']} x {line['machine']['cores']}"
        print(
            f"{line['date']}  {line['commit']:<9}  {line['benchmark']:<6}  {figures}  ({processor})"
        )


if __name__ == "__main__":
    main()
