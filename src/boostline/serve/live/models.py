"""The models of a service: the champion that serves, and challengers that learn from the same log in the shadow."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Any

from boostline.serve.errors import Problem
from boostline.serve.live.bootstrap import recovered, start_of
from boostline.serve.live.registry import Registry
from boostline.serve.live.replica import Replica, replay
from boostline.serve.live.replica_state import ReplicaState
from boostline.serve.live.snapshots import Snapshots
from boostline.serve.store.log import Log

if TYPE_CHECKING:
    from boostline.serve.live.service import Service

__all__ = ["Models", "make_model"]

_LOG = logging.getLogger("boostline.serve")
_MOST_CHALLENGERS = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
#: A change of models waits so many seconds for a model to learn what is on disk.
_CATCH_UP_SECONDS = 60.0


class Models:
    """A replica for each model that is alive."""

    def __init__(self, service: Service) -> None:
        self._service = service
        log = service.log
        self.registry = Registry.of(log)
        self.snapshots = Snapshots(service.path)
        self.snapshots.read(log)
        self.replicas: dict[str, Replica] = {}
        for name in self.registry.models:
            state, complaints = recovered(name, log, self.snapshots, service.settings.threads)
            for one in complaints:
                _LOG.error("%s; an older one serves", one)
            self._follow(state)
        self._serving = self.registry.champion
        # Nothing is served before everything on disk is learned.
        if not self.champion.reach(service.writer.head, float("inf")):
            raise self.champion.failure or RuntimeError("learning has stopped")
        self._change = asyncio.Lock()

    def _follow(self, state: ReplicaState) -> Replica:
        settings = self._service.settings
        replica = Replica(
            *(state, self._service.path, self._service.writer, self.snapshots),
            every_rows=settings.snapshot_rows,
            every_seconds=settings.snapshot_seconds,
        )
        self.replicas[state.name] = replica
        return replica

    @property
    def champion(self) -> Replica:
        return self.replicas[self._serving]

    def wake(self) -> None:
        for replica in list(self.replicas.values()):
            replica.wake()

    def close(self, *, finish: bool = True) -> None:
        for name, replica in self.replicas.items():
            replica.close(finish=finish and name == self._serving)

    # Changes: each is an event, and takes place when it is on disk.

    async def challenge(self, name: str, config: dict[str, Any]) -> dict[str, Any]:
        """Let another model learn from the log, from its beginning on."""
        async with self._change:
            self._check_new_name(name)
            if len(self.replicas) > _MOST_CHALLENGERS:
                raise Problem(
                    409,
                    f"there are {_MOST_CHALLENGERS} challengers, but there can be no more",
                    "name",
                )
            state, told = await asyncio.to_thread(self._first_snapshot, name, config)
            event = {"name": name, "config": config, "snapshot": told}
            entry = await self._service.queue.record("challenger", event)
            self._done("challenger", event, entry)
            self.snapshots.add(told, entry.time)
            self._follow(state)
        return self.describe(name)

    def _first_snapshot(
        self, name: str, config: dict[str, Any]
    ) -> tuple[ReplicaState, dict[str, Any]]:
        log = Log(self._service.path)
        try:
            start = start_of(log, self.snapshots)
        finally:
            log.close()
        model = make_model(config, start.labels.names, self._service.settings.threads)
        state = start.state(name, model)
        return state, self.snapshots.write(state)

    async def promote(self, name: str) -> dict[str, Any]:
        """Let a challenger serve; the one that served goes on learning as a challenger."""
        async with self._change:
            self._check_challenger(name)
            await self._reached(name)
            event = {"name": name, "before": self._serving}
            entry = await self._service.queue.record("promote", event)
            await self._reached(name)
            self._serving = name
            self._done("promote", event, entry)
            _LOG.info("%s serves from event %d on", name, entry.offset)
        return self.describe(name)

    async def dismiss(self, name: str) -> None:
        """End a challenger."""
        async with self._change:
            self._check_challenger(name)
            event = {"name": name}
            entry = await self._service.queue.record("dismiss", event)
            replica = self.replicas.pop(name)
            self._done("dismiss", event, entry)
            await asyncio.to_thread(replica.close, snapshot=False, finish=False)

    async def roll_back(self, version: int) -> dict[str, Any]:
        """Let the champion serve as it was at a version; what it learned since is not in the new one."""
        async with self._change:
            before = self._serving
            name = f"{before.partition('@')[0]}@{version}"
            n = 2
            while name in self.registry.used:
                name, n = f"{before.partition('@')[0]}@{version}.{n}", n + 1
            state, told = await asyncio.to_thread(self._at_version, name, before, version)
            event = {"name": name, "of": before, "version": version, "snapshot": told}
            entry = await self._service.queue.record("rollback", event)
            self.snapshots.add(told, entry.time)
            self._follow(state)
            await self._reached(name)
            self._serving = name
            self._done("rollback", event, entry)
            _LOG.info("rolled back to %d; %s serves from event %d on", version, name, entry.offset)
        return self.describe(name)

    def _at_version(self, name: str, of: str, version: int) -> tuple[ReplicaState, dict[str, Any]]:
        """The snapshot before a version and a replay up to it; then the labels' changes since."""
        before = [s for s in self.snapshots.of(of) if s.offset <= version]
        head = self._service.writer.head
        if not before or version > head:
            kept = ", ".join(str(s.offset) for s in self.snapshots.of(of))
            raise Problem(
                404,
                f"version is {version}, but must lie between the oldest snapshot kept and {head}; snapshots of "
                f"{of}: {kept}",
                "version",
            )
        log = Log(self._service.path)
        try:
            state = self.snapshots.load(before[-1], self._service.settings.threads)
            replay(state, log, version)
            state.name = name
            state.follow_labels(log, head)
        finally:
            log.close()
        return state, self.snapshots.write(state)

    async def _reached(self, name: str) -> None:
        replica, head = self.replicas[name], self._service.writer.head
        if not await asyncio.to_thread(replica.reach, head, _CATCH_UP_SECONDS):
            raise Problem(
                503,
                f"{name} has not learned yet what is on disk ({replica.lag()} events behind); try again later",
                retry_after=30,
            )

    def _done(self, kind: str, event: dict[str, Any], entry: Any) -> None:
        self.registry.apply(kind, event, entry.offset, entry.time)

    def _check_new_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or name == "champion":
            raise Problem(
                422, f"name is {name!r}, but must have letters, digits, '.', '_' or '-'", "name"
            )
        if name in self.registry.used:
            raise Problem(409, f"name is {name!r}, but must be one that was never used", "name")

    def _check_challenger(self, name: str) -> None:
        if name == self._serving:
            raise Problem(409, f"{name} is the champion, but a challenger is needed", "name")
        if name not in self.replicas:
            raise Problem(404, f"there is no model {name!r}", "name")

    # Looking.

    def describe(self, name: str) -> dict[str, Any]:
        """A model in figures."""
        replica = self.replicas[name]
        state = replica.state
        return {
            "name": name,
            "serves": name == self._serving,
            "algorithm": type(state.model).__name__,
            "config": self.registry.models[name].get("config", {}),
            "clock": state.model.clock,
            "version": replica.version(),
            "lag": replica.lag(),
            "memory_bytes": state.model.memory_usage(),
            "microseconds_per_row": round(
                1e6 * replica.busy_seconds / max(1, replica.n_learned), 1
            ),
            "failure": None if replica.failure is None else str(replica.failure),
        }


def make_model(config: dict[str, Any], labels: list[str], threads: int = 1) -> Any:
    """A new model from what a challenger's ``config`` says, in the words of the shell."""
    from boostline.boosters import settings as o

    known = (
        "algorithm",
        "learners",
        "seed",
        "drift",
        "max_bytes",
        "expert",
        "steps",
        "edge",
        "loss",
    )
    for field, value in config.items():
        if field not in known:
            raise Problem(
                422,
                f"config.{field} is not known, but must be one of {', '.join(known)}",
                f"config.{field}",
            )
        if field != "seed" and not isinstance(value, str | float | int):
            raise Problem(
                422,
                f"config.{field} is {value!r}, but must be a string or a number",
                f"config.{field}",
            )
    try:
        algorithm = o.Algorithm(config.get("algorithm", "label_ranker"))
        text = {name: config.get(name) for name in ("learners", "edge", "loss")}
        expert, steps, drift = (config.get(name) for name in ("expert", "steps", "drift"))
        given = o.ModelOptions(
            **{name: None if value is None else str(value) for name, value in text.items()},
            expert=None if expert is None else o.Expert(expert),
            steps=None if steps is None else o.Steps(steps),
            drift=None if drift is None else o.Drift(drift),
            max_bytes=config.get("max_bytes"),
        )
        return o.make_model(algorithm, labels, given, seed=config.get("seed"), threads=threads)
    except Exception as error:
        raise Problem(422, f"config does not describe a model: {error}", "config") from None
