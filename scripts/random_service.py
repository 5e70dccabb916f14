"""Random calls, kills, full disks and backups of the service's store; everything is checked after each life.

    python scripts/random_service.py [SEED ...] [--seeds 200] [--first 0] [--lives 4]

Each life of a store is a forked process that makes random calls from three tasks at once: rank, feedback, revisions,
labels, erasures, expiry, challengers, promotions, dismissals, rollbacks, snapshots. It ends by SIGKILL at any moment or
by SIGTERM. Between lives the log is compacted, backed up or restored, sometimes killed in between. After each life
every event that was acknowledged must be in the log with its bytes, nothing may be learned twice, and a replay of every
model must give the bytes of its newest snapshot. Each start must give the model that a replay of the log gives.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_real_time = time.time
_ahead = 0.0  # seconds that the clock of a life is ahead, so that rankings expire soon
time.time = lambda: _real_time() + _ahead  # type: ignore[assignment]

import boostline as bl  # noqa: E402
from boostline.serve.http.app import Application  # noqa: E402
from boostline.serve.http.security import Guard  # noqa: E402
from boostline.serve.live.bootstrap import is_new, open_store  # noqa: E402
from boostline.serve.live.replica import replay  # noqa: E402
from boostline.serve.live.replica_state import ReplicaState  # noqa: E402
from boostline.serve.live.service import Service  # noqa: E402
from boostline.serve.live.settings import Settings  # noqa: E402
from boostline.serve.ops.compaction import compact  # noqa: E402
from boostline.serve.ops.copying import copy_store  # noqa: E402
from boostline.serve.ops.verifying import verify  # noqa: E402
from boostline.serve.store.log import Log  # noqa: E402
from boostline.serve.store.snapshots import Snapshots, sha256  # noqa: E402
from boostline.serve.store.store_lock import StoreLock  # noqa: E402

CONFIGS: list[dict[str, Any]] = [
    {},
    {"seed": 3},
    {"algorithm": "ada_olmr", "learners": "paper:2"},
    {"algorithm": "online_bmr", "learners": "paper:2"},
]
READ = ("/overview", "/history", "/latest", "/metrics", "/model", "/labels", "/health")


class LastError(logging.Handler):
    """Keeps the traceback that the service logged last."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.text = logging.Formatter().formatException(record.exc_info)


LAST = LastError()


class Wrong(Exception):
    """Something that must never happen."""


@dataclass
class Known:
    """What the clients of a store know.

    Attributes
    ----------
    said : dict
        (path, id) -> the last request that was acknowledged, and the answer.
    unsure : set of str
        Ids that an erasure may have reached.
    """

    said: dict[tuple[str, str], tuple[dict[str, Any], str]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)

    def copy(self) -> Known:
        return Known(dict(self.said), set(self.unsure))


class Life:
    """One process: random calls until it ends."""

    def __init__(
        self,
        store: str,
        rng: random.Random,
        known: Known,
        report: Callable[..., None],
        plan: dict[str, Any],
    ) -> None:
        self.store, self.rng, self.known, self.report, self.plan = store, rng, known, report, plan
        self.disk_was_full = False
        self.n = 0

    def run(self) -> None:
        with StoreLock(self.store):
            if is_new(self.store):
                open_store(self.store, bl.LabelRanker(labels=list("abcde"), seed=1))
            settings = Settings(**self.plan["settings"])
            self.service = Service(self.store, settings)
            check_recovered(self.service)
            self.report("serves")
            asyncio.run(self._calls())
            self.service.close()
            for replica in self.service.models.replicas.values():
                if replica.failure is not None:
                    raise Wrong(f"{replica.state.name} stopped learning: {replica.failure!r}")

    async def _calls(self) -> None:
        loop = asyncio.get_running_loop()
        self.service.attach(loop)
        self.app = Application(self.service, Guard(None))
        self.ended = False
        loop.add_signal_handler(signal.SIGTERM, self._end)
        await asyncio.gather(*(self._client(n) for n in range(3)))

    def _end(self) -> None:
        self.ended = True

    async def _client(self, number: int) -> None:
        """Only this client uses its ids, so that it knows the order of its requests."""
        rng = random.Random(self.rng.random())
        ids = sorted({id for _, id in self.known.said if id.startswith(f"c{number}-")})
        rng.shuffle(ids)
        ids = ids[:50]
        calls, weights = zip(*CALLS, strict=True)
        while not self.ended:
            (call,) = rng.choices(calls, weights)
            await call(self, rng, number, ids)
            await asyncio.sleep(0)

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """One request without a network; a wrong answer ends the test."""
        answer: dict[str, Any] = {"body": b""}
        messages = [b"" if body is None else json.dumps(body).encode()]

        async def receive() -> Any:
            if messages:
                return {"type": "http.request", "body": messages.pop(), "more_body": False}
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            answer["status"] = message.get("status", answer.get("status"))
            answer["body"] += message.get("body", b"")

        where, _, query = path.partition("?")
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": method, "path": where, "raw_path": where.encode()}
        scope |= {"query_string": query.encode(), "headers": headers, "root_path": ""}
        await self.app({**scope, "scheme": "http", "server": ("localhost", 80)}, receive, send)
        status, raw = answer["status"], answer["body"]
        if status >= 500 and not (status in (503, 507) and self.disk_was_full):
            raise Wrong(f"{method} {path} {body}: {status} {raw[:300]!r}\n{LAST.text}")
        return status, raw

    # Calls.

    def features(self, rng: random.Random) -> Any:
        if self.plan["form"] == "list":
            return [rng.gauss(0, 1) if rng.random() > 0.05 else None for _ in range(4)]
        names = [rng.choice("uvwxyz") * rng.randrange(1, 4) for _ in range(rng.randrange(1, 5))]
        return {name: rng.choice([rng.gauss(0, 1), None, True, "red", "blue"]) for name in names}

    def some_labels(self, rng: random.Random) -> list[str]:
        names = self.service.labels.names
        chosen = rng.sample(names, min(len(names), rng.randrange(3)))
        if self.plan["settings"]["new_labels"] == "add" and rng.random() < 0.05:
            chosen.append(f"new{rng.randrange(30)}")
        return list(dict.fromkeys(chosen))

    async def say(self, path: str, body: dict[str, Any]) -> None:
        """Send, and remember what is acknowledged; the same again is answered with the same bytes."""
        status, raw = await self.ask("POST", path, body)
        if status == 200:
            self.report("said", path, body, raw.decode())
            self.known.said[path, body["id"]] = (body, raw.decode())

    async def rank(self, rng: random.Random, number: int, ids: list[str]) -> None:
        self.n += 1
        id = f"c{number}-{os.getpid()}-{self.n}"
        body = {"id": id, "features": self.features(rng)}
        if rng.random() < 0.5:
            body["top"] = rng.randrange(1, 4)
        if isinstance(body["features"], dict):
            body["features"][secret(id)] = "yes"
        await self.say("/rank", body)
        ids.append(id)

    async def feedback(self, rng: random.Random, number: int, ids: list[str]) -> None:
        if ids:
            body: dict[str, Any] = {"id": rng.choice(ids), "relevant": self.some_labels(rng)}
            if rng.random() < 0.2:
                body["irrelevant"] = []
            await self.say("/feedback", body)

    async def example(self, rng: random.Random, number: int, ids: list[str]) -> None:
        self.n += 1
        id = f"c{number}-{os.getpid()}-{self.n}"
        body = {"id": id, "features": self.features(rng), "relevant": self.some_labels(rng)}
        await self.say("/feedback", body)
        ids.append(id)

    async def again(self, rng: random.Random, number: int, ids: list[str]) -> None:
        path = rng.choice(["/rank", "/feedback"])
        id = rng.choice(ids or [""])
        if (path, id) in self.known.said:
            body, said = self.known.said[path, id]
            # A later revision may be in the log whose answer was lost when a life ended.
            latest = [event.offset for event in self.service.log.of_id(id) if event.kind != "rank"]
            if path == "/feedback" and latest and latest[-1] != json.loads(said)["offset"]:
                return
            status, raw = await self.ask("POST", path, body)
            same = status == 200 and raw.decode() == said
            gone = status == 410 and (id in self.known.unsure or self.service.log.is_gone(id))
            if not same and not gone and not (self.disk_was_full and status in (503, 507)):
                raise Wrong(f"{path} {body} was answered with {said}, then with {status} {raw!r}")

    async def change_labels(self, rng: random.Random, number: int, ids: list[str]) -> None:
        names = self.service.labels.names
        one, number = rng.choice(names), rng.randrange(40)
        changes: list[Any] = [{"add": [f"n{number}"]}, {"rename": {one: f"r{number}"}}]
        changes += [{"retire": [one]}, {"restore": [one]}]
        await self.ask("POST", "/labels", rng.choice(changes))

    async def challenge(self, rng: random.Random, number: int, ids: list[str]) -> None:
        body = {"name": f"m{rng.randrange(40)}", "config": rng.choice(CONFIGS)}
        if len(self.service.models.replicas) < 4:
            await self.ask("POST", "/challengers", body)

    def model(self, rng: random.Random) -> str:
        return rng.choice([*self.service.models.replicas, "m0"])

    async def promote(self, rng: random.Random, number: int, ids: list[str]) -> None:
        await self.ask("POST", f"/challengers/{self.model(rng)}/promote")

    async def dismiss(self, rng: random.Random, number: int, ids: list[str]) -> None:
        await self.ask("DELETE", f"/challengers/{self.model(rng)}")

    async def roll_back(self, rng: random.Random, number: int, ids: list[str]) -> None:
        if len(self.service.models.replicas) < 4:
            head = self.service.writer.head
            await self.ask("POST", "/rollback", {"version": rng.randrange(head + 2)})

    async def erase(self, rng: random.Random, number: int, ids: list[str]) -> None:
        if not ids:
            return
        id = ids.pop(rng.randrange(len(ids)))
        self.report("unsure", id)
        self.known.unsure.add(id)
        status, _ = await self.ask("DELETE", f"/events/{id}")
        if status == 200:
            for end in ("", "-wal"):
                if secret(id).encode() in Path(self.store + end).read_bytes():
                    raise Wrong(f"{id} was erased, but its features are in {self.store}{end}")

    async def save(self, rng: random.Random, number: int, ids: list[str]) -> None:
        await self.ask("POST", "/snapshot")

    async def read(self, rng: random.Random, number: int, ids: list[str]) -> None:
        id = rng.choice(ids or ["nobody"])
        await self.ask("GET", rng.choice([*READ, f"/events/{id}", f"/why/{id}"]))

    async def later(self, rng: random.Random, number: int, ids: list[str]) -> None:
        """The clock goes on; rankings expire."""
        global _ahead
        if _ahead < 300.0:  # less than what counts as a jump
            _ahead += rng.uniform(0.0, 3.0)
        await asyncio.sleep(0.01)

    async def fill_disk(self, rng: random.Random, number: int, ids: list[str]) -> None:
        """No file may grow for a while, except a little."""
        self.disk_was_full = True
        sizes = [os.path.getsize(self.store + end) for end in ("", "-wal")]
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(1, max(sizes) + 9000), hard))
        await asyncio.sleep(rng.uniform(0.0, 0.1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


CALLS: list[tuple[Any, float]] = [
    *((Life.rank, 30), (Life.feedback, 30), (Life.example, 8), (Life.again, 8), (Life.read, 4)),
    *((Life.change_labels, 2), (Life.challenge, 1), (Life.promote, 1), (Life.dismiss, 0.7)),
    *(
        (Life.roll_back, 0.7),
        (Life.erase, 2),
        (Life.save, 1),
        (Life.later, 2),
        (Life.fill_disk, 0.3),
    ),
]


def secret(id: str) -> str:
    """A feature that only this ranking has."""
    return f"secret-of-{id}-"


# Checks.


def check_recovered(service: Service) -> None:
    """Each model must have the bytes that a replay from its oldest snapshot gives."""
    log = Log(service.path)
    with tempfile.TemporaryDirectory() as folder:
        for name, replica in service.models.replicas.items():
            if not replica.reach(service.writer.head, 60.0):
                raise Wrong(f"{name} cannot learn what is on disk: {replica.failure!r}")
            with replica.state.turn:  # it goes on: a snapshot of its own is the next event
                still = replica.state.frozen()
            snapshots = service.models.snapshots
            replayed = ReplicaState.load(snapshots.checked(snapshots.of(name)[0]))
            replay(replayed, log, still.offset)
            replayed.offset = still.offset
            paths = [os.path.join(folder, f"{name}{i}") for i in range(2)]
            replayed.save(paths[0])
            still.save(paths[1])
            if sha256(paths[0]) != sha256(paths[1]):
                raise Wrong(f"{name} was recovered to other bytes than a replay gives")
    log.close()


def check_store(store: str, known: Known) -> None:
    """What was acknowledged is in the log, nothing was learned twice, and replays are equal."""
    for verdict in verify(store):
        if not verdict.equal:
            raise Wrong(f"a replay differs: {verdict}")
    log = Log(store)
    for (path, id), (body, said) in known.said.items():
        events = log.of_id(id)
        if not events:
            if not log.is_gone(id):
                raise Wrong(f"{path} {id} was acknowledged, but is not in the log")
        elif events[0].data.get("erased"):
            if id not in known.unsure:
                raise Wrong(f"{id} is erased, but nobody asked for that")
        elif path == "/rank":
            if (events[0].answer or b"").decode() != said:
                raise Wrong(f"the ranking {id} was answered with {said}; the log has {events[0]}")
        else:
            answer = json.loads(said)
            (event,) = (e for e in events if e.offset == answer["offset"])
            if event.data["relevant"] != sorted(body["relevant"]):
                raise Wrong(f"feedback {body} is in the log as {event}")
    learned = [event.id for event in log.of_kinds("feedback") if event.data["learn"]]
    if len(set(learned)) < len(learned):
        raise Wrong("an id was learned twice")
    log.close()


# Processes.


def forked(
    work: Callable[[Callable[..., None]], None],
    kill_after: float | None,
    take: Any,
    *,
    counts_from_start: bool = True,
) -> int:
    """Run work in a process; SIGKILL or SIGTERM (negative seconds) ends it. Return its exit code.

    The seconds count from the start, or from the report "serves": a busy machine does not shorten a life.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)

        def report(*what: Any) -> None:
            os.write(writer, json.dumps(what).encode() + b"\n")

        code = 0
        try:
            work(report)
        except BaseException as error:
            report("wrong", f"{error!r}\n{traceback.format_exc()[-3000:]}")
            code = 3
        os._exit(code)
    os.close(writer)
    end = None
    if kill_after is not None:
        end = time.monotonic() + (abs(kill_after) if counts_from_start else 60.0)
    rest = b""
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        ready, _, _ = select.select([reader], [], [], left)
        if not ready and kill_after is not None:
            os.kill(child, signal.SIGTERM if kill_after < 0 else signal.SIGKILL)
            end, kill_after = (
                time.monotonic() + 60.0,
                0.0,
            )  # SIGTERM may take a while, but not for ever
            continue
        chunk = os.read(reader, 65536)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            what, *more = json.loads(line)
            if what == "serves" and kill_after is not None and not counts_from_start:
                end = time.monotonic() + abs(kill_after)
            take(what, *more)
    os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def between(store: str, rng: random.Random) -> None:
    """Compact the log up to a random snapshot."""
    log = Log(store)
    times = [snapshot.time for snapshot in Snapshots(store, log).known]
    log.close()
    with StoreLock(store):
        compact(store, rng.choice(times) + 1e-6)


def one_store(seed: int, lives: int, folder: str) -> str:
    """Live, end, check, again and again; return what happened in a line."""
    rng = random.Random(seed)
    store, kept = os.path.join(folder, "s.db"), os.path.join(folder, "backup.db")
    settings = {
        "snapshot_rows": rng.choice([5, 20, 100]),
        "new_labels": rng.choice(["add", "refuse"]),
        "expire": rng.choice([None, 2.0, 5.0]),
        "assume": rng.choice(["none", "nothing"]),
    }
    plan = {"settings": settings, "form": rng.choice(["list", "dict"])}
    known, backed_up = Known(), None
    happened: list[str] = []
    wrong: list[str] = []

    def take(what: str, *rest: Any) -> None:
        if what == "said":
            path, body, answer = rest
            known.said[path, body["id"]] = (body, answer)
        elif what == "unsure":
            known.unsure.add(rest[0])
        elif what == "wrong":
            wrong.append(rest[0])

    def process(
        work: Callable[..., None],
        kill_after: float | None,
        *expected: int,
        counts_from_start: bool = True,
    ) -> int:
        code = forked(work, kill_after, take, counts_from_start=counts_from_start)
        if wrong or code not in expected:
            raise Wrong(f"exit code {code}; {''.join(wrong)}")
        return code

    def copy(source: str, target: str) -> Callable[..., None]:
        return lambda report: copy_store(source, target, replace=True)  # type: ignore[func-returns-value]

    for _ in range(lives):
        life = Life(store, random.Random(rng.random()), known, print, plan)

        def live(report: Callable[..., None], life: Life = life) -> None:
            life.report = report
            life.run()

        is_kill = rng.random() < 0.6
        seconds = rng.uniform(0.02, 1.0) if is_kill else -rng.uniform(0.3, 1.0)
        while_it_starts = rng.random() < 0.2
        expected = (0, -9) if is_kill else (0, -15)
        process(live, seconds, *expected, counts_from_start=while_it_starts)
        happened.append("kill" if is_kill else "term")
        if is_new(store):
            continue
        process(lambda report: check_store(store, known), None, 0)
        chance = rng.random()
        if chance < 0.3:
            kill_after = rng.uniform(0.001, 0.05) if rng.random() < 0.3 else None
            process(lambda report: between(store, rng), kill_after, 0, -9)
            happened.append("compact")
        elif chance < 0.5:
            process(copy(store, kept), None, 0)
            backed_up = known.copy()
            happened.append("backup")
        elif chance < 0.7 and backed_up is not None:
            for _ in range(rng.randrange(3)):
                process(copy(kept, store), rng.uniform(0.0, 0.03), 0, -9)
            process(copy(kept, store), None, 0)
            known.said, known.unsure = dict(backed_up.said), set(backed_up.unsure)
            happened.append("restore")
        process(lambda report: check_store(store, known), None, 0)
    return f"{' '.join(happened)}; {len(known.said)} acknowledged"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("given", nargs="*", type=int, metavar="SEED", help="these seeds only")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--lives", type=int, default=4)
    asked = parser.parse_args()
    logger = logging.getLogger("boostline")
    logger.addHandler(LAST)
    logger.propagate = False
    failed = []
    began = time.monotonic()
    memory = (
        "/dev/shm" if os.path.isdir("/dev/shm") else None
    )  # the disk's speed is not what is tested
    seeds = asked.given or range(asked.first, asked.first + asked.seeds)
    for seed in seeds:
        folder = tempfile.mkdtemp(prefix=f"random-service-{seed}-", dir=memory)
        try:
            result = one_store(seed, asked.lives, folder)
            shutil.rmtree(folder)
        except Wrong as error:
            failed.append(seed)
            result = f"WRONG, see {folder}: {error}"
        print(f"seed {seed}: {result}", flush=True)
    print(f"{len(seeds)} seeds in {time.monotonic() - began:.0f} s, {len(failed)} failed {failed}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
