"""The models of a service: the champion that serves, and challengers that learn from the same log in the shadow."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Any

from boostline.serve.fold import Fold
from boostline.serve.follower import Follower, replay
from boostline.serve.log import Log
from boostline.serve.opening import recovered, start_of
from boostline.serve.problems import Problem
from boostline.serve.roster import Roster
from boostline.serve.snapshots import Snapshots

if TYPE_CHECKING:
    from boostline.serve.service import Service

__all__ = ["Models", "make_model"]

_LOG = logging.getLogger("boostline.serve")
_MOST_CHALLENGERS = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
#: A change of models waits so many seconds for a model to learn what is on disk.
_PATIENCE = 60.0


class Models:
    """A follower for each model that is alive."""

    def __init__(self, service: Service) -> None:
        self._service = service
        log = service.log
        self.roster = Roster.of(log)
        self.snapshots = Snapshots(service.path)
        self.snapshots.read(log)
        self.followers: dict[str, Follower] = {}
        for name in self.roster.models:
            fold, complaints = recovered(name, log, self.snapshots, service.settings.threads)
            for one in complaints:
                _LOG.error("%s; an older one serves", one)
            self._follow(fold)
        self._serving = self.roster.champion
        # Nothing is served before everything on disk is learned.
        if not self.champion.reach(service.writer.head, float("inf")):
            raise self.champion.failure or RuntimeError("learning has stopped")
        self._change = asyncio.Lock()

    def _follow(self, fold: Fold) -> Follower:
        settings = self._service.settings
        follower = Follower(
            *(fold, self._service.path, self._service.writer, self.snapshots),
            every_rows=settings.snapshot_rows,
            every_seconds=settings.snapshot_seconds,
        )
        self.followers[fold.name] = follower
        return follower

    @property
    def champion(self) -> Follower:
        return self.followers[self._serving]

    def wake(self) -> None:
        for follower in list(self.followers.values()):
            follower.wake()

    def close(self, *, finish: bool = True) -> None:
        for name, follower in self.followers.items():
            follower.close(finish=finish and name == self._serving)

    # Changes: each is an event, and takes place when it is on disk.

    async def challenge(self, name: str, config: dict[str, Any]) -> dict[str, Any]:
        """Let another model learn from the log, from its beginning on."""
        async with self._change:
            self._check_new_name(name)
            if len(self.followers) > _MOST_CHALLENGERS:
                raise Problem(
                    409,
                    f"there are {_MOST_CHALLENGERS} challengers, but there can be no more",
                    "name",
                )
            fold, told = await asyncio.to_thread(self._first_snapshot, name, config)
            event = {"name": name, "config": config, "snapshot": told}
            entry = await self._service.outbox.record("challenger", event)
            self._done("challenger", event, entry)
            self.snapshots.add(told, entry.time)
            self._follow(fold)
        return self.describe(name)

    def _first_snapshot(self, name: str, config: dict[str, Any]) -> tuple[Fold, dict[str, Any]]:
        log = Log(self._service.path)
        try:
            start = start_of(log, self.snapshots)
        finally:
            log.close()
        model = make_model(config, start.labels.names, self._service.settings.threads)
        fold = start.fold(name, model)
        return fold, self.snapshots.write(fold)

    async def promote(self, name: str) -> dict[str, Any]:
        """Let a challenger serve; the one that served goes on learning as a challenger."""
        async with self._change:
            self._check_challenger(name)
            await self._reached(name)
            event = {"name": name, "before": self._serving}
            entry = await self._service.outbox.record("promote", event)
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
            entry = await self._service.outbox.record("dismiss", event)
            follower = self.followers.pop(name)
            self._done("dismiss", event, entry)
            await asyncio.to_thread(follower.close, snapshot=False, finish=False)

    async def roll_back(self, version: int) -> dict[str, Any]:
        """Let the champion serve as it was at a version; what it learned since is not in the new one."""
        async with self._change:
            before = self._serving
            name = f"{before.partition('@')[0]}@{version}"
            n = 2
            while name in self.roster.used:
                name, n = f"{before.partition('@')[0]}@{version}.{n}", n + 1
            fold, told = await asyncio.to_thread(self._at_version, name, before, version)
            event = {"name": name, "of": before, "version": version, "snapshot": told}
            entry = await self._service.outbox.record("rollback", event)
            self.snapshots.add(told, entry.time)
            self._follow(fold)
            await self._reached(name)
            self._serving = name
            self._done("rollback", event, entry)
            _LOG.info("rolled back to %d; %s serves from event %d on", version, name, entry.offset)
        return self.describe(name)

    def _at_version(self, name: str, of: str, version: int) -> tuple[Fold, dict[str, Any]]:
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
            fold = self.snapshots.load(before[-1], self._service.settings.threads)
            replay(fold, log, version)
            fold.name = name
            fold.follow_labels(log, head)
        finally:
            log.close()
        return fold, self.snapshots.write(fold)

    async def _reached(self, name: str) -> None:
        follower, head = self.followers[name], self._service.writer.head
        if not await asyncio.to_thread(follower.reach, head, _PATIENCE):
            raise Problem(
                503,
                f"{name} has not learned yet what is on disk ({follower.lag()} events behind); try again later",
                retry_after=30,
            )

    def _done(self, kind: str, event: dict[str, Any], entry: Any) -> None:
        self.roster.apply(kind, event, entry.offset, entry.time)

    def _check_new_name(self, name: str) -> None:
        if not _NAME.fullmatch(name) or name == "champion":
            raise Problem(
                422, f"name is {name!r}, but must have letters, digits, '.', '_' or '-'", "name"
            )
        if name in self.roster.used:
            raise Problem(409, f"name is {name!r}, but must be one that was never used", "name")

    def _check_challenger(self, name: str) -> None:
        if name == self._serving:
            raise Problem(409, f"{name} is the champion, but a challenger is needed", "name")
        if name not in self.followers:
            raise Problem(404, f"there is no model {name!r}", "name")

    # Looking.

    def describe(self, name: str) -> dict[str, Any]:
        """A model in figures."""
        follower = self.followers[name]
        fold = follower.fold
        return {
            "name": name,
            "serves": name == self._serving,
            "algorithm": type(fold.model).__name__,
            "config": self.roster.models[name].get("config", {}),
            "clock": fold.model.clock,
            "version": follower.version(),
            "lag": follower.lag(),
            "memory_bytes": fold.model.memory_usage(),
            "microseconds_per_row": round(
                1e6 * follower.busy_seconds / max(1, follower.n_learned), 1
            ),
            "failure": None if follower.failure is None else str(follower.failure),
        }


def make_model(config: dict[str, Any], labels: list[str], threads: int = 1) -> Any:
    """A new model from what a challenger's ``config`` says, in the words of the shell."""
    from boostline.cli import options as o

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
    except Exception as error:  # typer's errors of parameters, too
        message = getattr(error, "message", None) or str(error)
        raise Problem(422, f"config does not describe a model: {message}", "config") from None
