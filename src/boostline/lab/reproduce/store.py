"""The folder of results: each run a file, written whole or not at all.

::

    folder/
      runs/<data>-<algorithm>-...-<digest>.json   one per run, the moment it is finished
      tables/<table>-<data>-<fingerprint>.json    figures of one set in a table of another field
      data/<fingerprint>.json                     what each data set is like
      calls.json                                  when the command ran, and for how long
      results.json, runs.csv, table2.csv, table3.csv, report.html     made at the end
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import boostline
from boostline.lab.reproduce.one_run import FORMAT
from boostline.lab.reproduce.plan import Settings, Task
from boostline.saving.atomic import replace_file


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, finds the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


class Store:
    """Runs and data sets in a folder, which is made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(Store(folder).runs(Settings()))
    0
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        for part in ("runs", "data"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)

    def add(self, task: Task, record: dict[str, Any]) -> None:
        """Keep a finished run."""
        write_atomically(self._path(task), json.dumps(record) + "\n")

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the tasks that have no result of this version of boostline yet."""
        return [task for task in tasks if _read(self._path(task)) is None]

    def forget(self, tasks: Iterable[Task]) -> None:
        """Throw away what there is of these tasks."""
        for task in tasks:
            self._path(task).unlink(missing_ok=True)

    def runs(self, settings: Settings) -> list[dict[str, Any]]:
        """Return all finished runs with these settings, in the order of their names."""
        found = []
        for path in sorted((self.folder / "runs").glob("*.json")):
            record = _read(path)
            if record is not None and Settings(**record["task"]["settings"]) == settings:
                found.append(record)
        return found

    def add_figures(self, table: str, name: str, mark: str, figures: dict[str, Any]) -> None:
        """Keep one set's figures of a table of another field."""
        made = {"format": FORMAT, "version": boostline.__version__, "figures": figures}
        write_atomically(self._figures(table, name, mark), json.dumps(made) + "\n")

    def figures(self, table: str, name: str, mark: str) -> dict[str, Any] | None:
        """Return such figures; None if this version of boostline has made none of these rows."""
        made = _read(self._figures(table, name, mark))
        return None if made is None else dict(made["figures"])

    def _figures(self, table: str, name: str, mark: str) -> Path:
        return self.folder / "tables" / f"{table}-{name}-{mark}.json"

    def add_data(self, name: str, mark: str, description: dict[str, Any]) -> None:
        """Keep what a data set is like, so that a report can tell without loading it again."""
        text = json.dumps({"name": name, "fingerprint": mark, **description}, indent=1)
        write_atomically(self.folder / "data" / f"{mark}.json", text + "\n")

    def data(self) -> dict[str, dict[str, Any]]:
        """Return what the data sets are like, by fingerprint."""
        found = {}
        for path in sorted((self.folder / "data").glob("*.json")):
            description = json.loads(path.read_text(encoding="utf-8"))
            found[description["fingerprint"]] = description
        return found

    def add_call(self, call: dict[str, Any]) -> None:
        """Note one use of the command."""
        write_atomically(
            self.folder / "calls.json", json.dumps([*self.calls(), call], indent=1) + "\n"
        )

    def calls(self) -> list[dict[str, Any]]:
        """Return the uses of the command that worked in this folder."""
        path = self.folder / "calls.json"
        if not path.exists():
            return []
        calls: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return calls

    def _path(self, task: Task) -> Path:
        return self.folder / "runs" / f"{task.key}.json"


def _read(path: Path) -> dict[str, Any] | None:
    """Read a run; None if there is none, or none that this version can use."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return None
    usable = record.get("format") == FORMAT and record.get("version") == boostline.__version__
    return record if usable else None
