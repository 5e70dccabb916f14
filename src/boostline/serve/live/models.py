"""The models of a service: the champion that serves, and challengers that learn from the same log in the shadow."""

from __future__ import annotations

import asyncio
import logging
import re
from contextlib import closing
from dataclasses import replace
from typing import Any

from orjson import dumps

from boostline.models import settings as options
from boostline.serve.errors import Invalid, Problem
from boostline.serve.live.bootstrap import from_the_start, recovered
from boostline.serve.live.replica import Replica, replay
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.live.settings import Settings
from boostline.serve.store.log import Log, StoreError
from boostline.serve.store.snapshots import Snapshots
from boostline.serve.store.writer import CommitQueue, Entry, Writer

__all__ = ["Models", "Registry", "serving_model"]

_LOG = logging.getLogger("boostline.serve")
_MOST_CHALLENGERS = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
#: A change of models waits so many seconds for a model to learn what is on disk.
_CATCH_UP_SECONDS = 60.0


class Registry:
    """Which models there are and which of them serves: a fold over the log's events about models.

    Attributes
    ----------
    champion : str
        The one that serves.
    models : dict
        Name of each model that is alive -> the event that began it.
    """

    def __init__(self, log: Log) -> None:
        self.champion = ""
        self.models: dict[str, dict[str, Any]] = {}
        #: Names are never given twice: the log's snapshots go by them.
        self.used: set[str] = set()
        self.changes: list[dict[str, Any]] = []
        for event in log.of_kinds("begin", "challenger", "promote", "dismiss", "rollback"):
            self.apply(event.kind, event.data, event.offset, event.time)

    def apply(self, kind: str, event: dict[str, Any], offset: int, time: float) -> None:
        name = event["name"]
        if kind in ("begin", "challenger", "rollback"):
            self.models[name] = event
            self.used.add(name)
        if kind in ("begin", "promote", "rollback"):
            self.champion = name
        if kind == "dismiss":
            del self.models[name]
        self.changes.append({"kind": kind, "name": name, "offset": offset, "time": time})


class Models:
    """A replica for each model that is alive.

    Attributes
    ----------
    changing : asyncio.Lock
        Held while the models or the log's past change: a challenger must not start in the middle of an erasure.
    """

    def __init__(
        self, path: str, log: Log, writer: Writer, queue: CommitQueue, settings: Settings
    ) -> None:
        self._path, self._writer, self._queue, self._settings = path, writer, queue, settings
        self.changing = asyncio.Lock()
        self.registry = Registry(log)
        self.snapshots = Snapshots(path, log)
        self.snapshots.delete_strays()
        self.replicas: dict[str, Replica] = {}
        for name in self.registry.models:
            state, complaints = recovered(name, log, self.snapshots, settings.threads)
            for one in complaints:
                _LOG.error("%s; an older one is used", one)
            self._follow(state)
        # Nothing is ranked before everything on disk is learned. A model that lacks memory for that ranks as it did
        # before it stopped, and /ready says so; a damaged log ends the start.
        self.champion.reach(writer.head, float("inf"))
        if isinstance(self.champion.failure, StoreError):
            raise self.champion.failure

    def _follow(self, state: ReplicaState) -> None:
        self.replicas[state.name] = Replica(
            *(state, self._path, self._writer, self.snapshots),
            every_rows=self._settings.snapshot_rows,
            every_seconds=self._settings.snapshot_seconds,
        )

    @property
    def champion(self) -> Replica:
        return self.replicas[self.registry.champion]

    def wake(self) -> None:
        for replica in list(self.replicas.values()):
            replica.wake()

    def close(self, *, finish: bool = True) -> None:
        for name, replica in self.replicas.items():
            replica.close(finish=finish and name == self.registry.champion)

    # Changes: each is an event, and takes effect when it is on disk.

    async def challenge(self, name: str, config: dict[str, Any]) -> dict[str, Any]:
        """Let another model learn from the log, from its beginning on."""
        async with self.changing:
            self._check_new_name(name)
            if len(self.replicas) > _MOST_CHALLENGERS:
                raise Problem(
                    409, f"there are {_MOST_CHALLENGERS} challengers, which is the limit", "name"
                )
            state, snapshot = await asyncio.to_thread(self._first_snapshot, name, config)
            await self._record(
                "challenger", {"name": name, "config": config, "snapshot": snapshot}, state
            )
        return self.describe(name)

    def _first_snapshot(
        self, name: str, config: dict[str, Any]
    ) -> tuple[ReplicaState, dict[str, Any]]:
        def make(labels: list[str]) -> Any:
            return model_of(config, labels, self._settings.threads)

        with closing(Log(self._path)) as log:
            state = from_the_start(name, make, log, self.snapshots)
        return state, self.snapshots.write(state)

    async def promote(self, name: str) -> dict[str, Any]:
        """Let a challenger serve; the one that served goes on learning as a challenger."""
        async with self.changing:
            self._check_challenger(name)
            await self.caught_up(name, self._writer.head)
            event = {"name": name, "before": self.registry.champion}
            offset = await self._record("promote", event)
            _LOG.info("%s serves from event %d on", name, offset)
        return self.describe(name)

    async def dismiss(self, name: str) -> None:
        """End a challenger."""
        async with self.changing:
            self._check_challenger(name)
            replica = self.replicas[name]
            # Before the event, after which no snapshot of it may come.
            await asyncio.to_thread(replica.close, snapshot=False, finish=False)
            try:
                await self._record("dismiss", {"name": name})
            except StoreError:
                self._follow(replica.state)
                raise

    async def roll_back(self, version: int) -> dict[str, Any]:
        """Let the champion serve as it was at a version; what it learned since is not in the new one."""
        async with self.changing:
            before = self.registry.champion
            name = f"{before.partition('@')[0]}@{version}"
            n = 2
            while name in self.registry.used:
                name, n = f"{before.partition('@')[0]}@{version}.{n}", n + 1
            state, snapshot = await asyncio.to_thread(self._at_version, name, before, version)
            event = {"name": name, "of": before, "version": version, "snapshot": snapshot}
            offset = await self._record("rollback", event, state)
            _LOG.info("rolled back to %d; %s serves from event %d on", version, name, offset)
            await self.caught_up(name, offset)
        return self.describe(name)

    def _at_version(self, name: str, of: str, version: int) -> tuple[ReplicaState, dict[str, Any]]:
        """The snapshot before a version and a replay up to it; then the labels' changes since."""
        before = [s for s in self.snapshots.of(of) if s.offset <= version]
        head = self._writer.head
        if not before or version > head:
            kept = ", ".join(str(s.offset) for s in self.snapshots.of(of))
            raise Problem(
                404,
                f"version is {version}, but must lie between the oldest snapshot kept and {head}; snapshots of "
                f"{of}: {kept}",
                "version",
            )
        with closing(Log(self._path)) as log:
            path = self.snapshots.checked(before[-1])
            state = ReplicaState.load(path, self._settings.threads)
            replay(state, log, version)
            state.name = name
            state.follow_labels(log, head)
        return state, self.snapshots.write(state)

    async def _record(
        self, kind: str, event: dict[str, Any], state: ReplicaState | None = None
    ) -> int:
        """Write a change to the log, and carry it out without an await: requests see all of it or nothing."""
        entry = await self._queue.write(Entry(kind, body=dumps(event)))
        assert entry.offset is not None
        if kind == "dismiss":
            del self.replicas[event["name"]]
        if state is not None:
            self._follow(state)
        if kind != "promote":
            self.snapshots.apply(kind, event, entry.time)
        self.registry.apply(kind, event, entry.offset, entry.time)
        return entry.offset

    async def caught_up(self, name: str, offset: int) -> None:
        """Wait until a model has applied the events up to an offset."""
        replica = self.replicas[name]
        if not await asyncio.to_thread(replica.reach, offset, _CATCH_UP_SECONDS):
            raise Problem(
                503,
                f"{name} has not learned yet what is on disk ({replica.lag()} events behind); try again later",
                retry_after=30,
            )

    async def save(self, name: str) -> None:
        """Make a snapshot of a model."""
        await asyncio.to_thread(self.replicas[name].save_now)

    def _check_new_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or name == "champion":
            raise Invalid("name", f"is {name!r}, but must have letters, digits, '.', '_' or '-'")
        if name in self.registry.used:
            raise Problem(409, f"name is {name!r}, but must be one that was never used", "name")

    def _check_challenger(self, name: str) -> None:
        if name == self.registry.champion:
            raise Problem(409, f"{name} is the champion, but a challenger is needed", "name")
        if name not in self.replicas:
            raise Problem(404, f"there is no model {name!r}", "name")

    def describe(self, name: str) -> dict[str, Any]:
        """A model in figures."""
        replica = self.replicas[name]
        state = replica.state
        return {
            "name": name,
            "serves": name == self.registry.champion,
            "algorithm": type(state.model).__name__,
            "config": self.registry.models[name].get("config", {}),
            "clock": state.model.clock,
            "version": replica.version(),
            "lag": replica.lag(),
            "memory_bytes": state.model.memory_usage(),
            "microseconds_per_row": round(
                1e6 * replica.busy_seconds / max(1, state.model.clock - replica.first_clock), 1
            ),
            "failure": None if replica.failure is None else str(replica.failure),
        }


#: What a challenger's ``config`` may have, and the type of each.
_CONFIG: dict[str, Any] = {
    "algorithm": options.Algorithm,
    "learners": str,
    "seed": None,
    "drift": options.Drift,
    "max_bytes": None,
    "expert": options.Expert,
    "steps": options.Steps,
    "edge": str,
    "loss": str,
}


def model_of(config: dict[str, Any], labels: list[str], threads: int = 1) -> Any:
    """A new model from a challenger's ``config``, in the words of the shell."""
    for field, value in config.items():
        if field not in _CONFIG:
            known = ", ".join(_CONFIG)
            raise Invalid(f"config.{field}", f"is not known, but must be one of {known}")
        if not isinstance(value, str | float | int):
            raise Invalid(f"config.{field}", f"is {value!r}, but must be a string or a number")
    try:
        given = {name: kind(v) if (kind := _CONFIG[name]) else v for name, v in config.items()}
        algorithm = given.pop("algorithm", options.Algorithm.label_ranker)
        seed = given.pop("seed", None)
        return serving_model(algorithm, labels, options.ModelOptions(**given), seed, threads)
    except Exception as error:
        raise Invalid("config", f"does not describe a model: {error}") from None


def serving_model(
    algorithm: options.Algorithm,
    labels: list[str],
    given: options.ModelOptions,
    seed: int | None,
    threads: int,
) -> Any:
    """A new model for a service: an expert drawn for each row would make the served scores jump."""
    if algorithm is options.Algorithm.ada_olmr and given.expert is None:
        given = replace(given, expert=options.Expert.weighted)
    return options.make_model(algorithm, labels, given, seed=seed, threads=threads)
