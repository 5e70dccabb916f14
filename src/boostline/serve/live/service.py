"""The service: ranks examples, takes their labels, and changes what it learns from.

Everything here runs in the thread of the event loop; replicas learn in threads of their own.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from array import array
from contextlib import closing
from typing import Any

from orjson import dumps

from boostline.contract.frames import near_name
from boostline.serve.errors import Invalid, Problem
from boostline.serve.live.erasure import erase
from boostline.serve.live.expiry import expired_to, keep_expiring
from boostline.serve.live.features import features_of
from boostline.serve.live.models import Models
from boostline.serve.live.replica import Replica
from boostline.serve.live.settings import Settings
from boostline.serve.store.log import Event, Log
from boostline.serve.store.writer import Checkpoints, CommitQueue, Entry, Writer

__all__ = ["Service"]

Record = Event | Entry
#: Bytes that a model takes for each pair of a label and a feature (measured: 13.5 with 2,005 labels, 65,536 features).
_BYTES_OF_PAIR = 16


class Service:
    """A store, its models and its clients.

    Parameters
    ----------
    path
        The store, which exists (`bootstrap.open_store`).
    settings
        How to behave.
    """

    def __init__(self, path: str, settings: Settings | None = None) -> None:
        self.path = path
        self.settings = settings or Settings()
        self.started = time.time()
        self.writer = Writer(path)
        self.log = Log(path, self.writer.shared)
        self.checkpoints = Checkpoints(path, self.writer)
        self.queue = CommitQueue(self.writer, self._written)
        self.models = Models(path, self.log, self.writer, self.queue, self.settings)
        self.labels = self.models.champion.state.labels.copy()
        #: New features that were accepted and are not learned yet.
        self._coming_features = 0
        self._counted_from = self.writer.head
        #: Rankings up to here without feedback have expired; up to there it was assumed that nothing was relevant.
        self.expired_to, self.assumed_to = expired_to(self.log), expired_to(self.log, "none")
        #: Rankings, and those of them with feedback. The log may be long: it is counted next to the requests.
        self.n_rankings, self.n_with_feedback = 0, 0
        self._counting = threading.Thread(target=self._count, name="boostline-count", daemon=True)
        self._counting.start()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Do in this loop what has to be done now and then."""
        if self.settings.expire is not None:
            self._expiring = loop.create_task(keep_expiring(self, self.settings.expire))

    def close(self, *, finish: bool = True) -> None:
        """Write what is waiting, learn it, save, and end."""
        self.queue.close()
        self.models.close(finish=finish)
        self._counting.join()
        self.checkpoints.close()
        self.writer.close()

    @property
    def champion(self) -> Replica:
        return self.models.champion

    # Requests. Each runs to its write without an await: no other request comes in between.

    async def rank(self, body: dict[str, Any], raw: bytes) -> bytes:
        """Rank an example; return the answer when it is on disk. The same request again gets the same answer."""
        id, features = body["id"], features_of(body)
        if id is not None and (known := self._known(id)):
            return await self._ranked_before(known[0], body)
        self._refuse_if_busy()
        replica = self.champion
        state = replica.state
        with state.turn:
            version, is_cold, labels = replica.version(), state.is_cold, state.labels
            try:
                scores, probabilities = state.rank(features)
            except Invalid:
                raise
            except (ValueError, TypeError) as error:
                raise Problem(422, str(error), "features") from None
            cut = state.threshold(body["threshold"] or body["optimize"])
            names, active = labels.names, labels.active.tolist()
            known_words = state.features.known_words(features) if type(features) is str else None
        score, probability = scores.tolist(), probabilities.tolist()
        shown = [
            {"label": names[i], "score": score[i], "probability": round(probability[i], 6)}
            for i in sorted(active, key=score.__getitem__, reverse=True)[: body["top"]]
            if probability[i] > cut
        ]
        id = id or new_id()
        ranking: dict[str, Any] = {
            "id": id,
            "model": state.name,
            "version": version,
            "labels": shown,
        }
        if is_cold:
            ranking["cold"] = True
        if known_words is not None:
            ranking["known_words"] = known_words
        answer = dumps(ranking)
        scored = array("f", score).tobytes()
        await self.queue.write(Entry("rank", id, None, raw, answer, scored))
        return answer

    async def _ranked_before(self, first: Record, body: dict[str, Any]) -> bytes:
        """The answer of then."""
        if first.kind != "rank" or first.answer is None:
            raise Problem(
                409,
                f"id is {first.id!r}, which is that of a labelled example, but must be new",
                "id",
            )
        request = first.data
        if features_of(request) != features_of(body) or any(
            request.get(name) != body[name] for name in ("top", "threshold", "optimize")
        ):
            raise Problem(
                409,
                f"id is {first.id!r}, which was ranked with other features or options, but must be new",
                "id",
            )
        await _on_disk(first)
        return first.answer

    async def feedback(self, body: dict[str, Any]) -> bytes:
        """Take the labels of a ranking or of a new example; return the answer when they are on disk."""
        id, features, revision = body["id"], features_of(body), body["revision"]
        known = self._known(id)
        if not known and features is None:
            raise Problem(404, f"id is {id!r}, but no ranking has this id", "id")
        first = known[0].data if known else body
        if features not in (None, features_of(first)):
            raise Problem(
                409, f"id is {id!r}, which came with other features, but must be new", "id"
            )
        labels: dict[str, Any] = {
            "relevant": sorted(body["relevant"] or ()),
            "irrelevant": None if body["irrelevant"] is None else sorted(body["irrelevant"]),
            "unknown": sorted(body["unknown"] or ()),
        }
        before = next((record for record in reversed(known) if record.kind == "feedback"), None)
        latest = {"revision": 0} if before is None else before.data
        repeats = before is not None and labels.items() <= latest.items()
        expected = latest["revision"] + (not repeats)
        if revision not in (None, expected):
            raise Problem(
                409,
                f"revision is {revision}, but the latest is {latest['revision']}; send new labels as revision "
                f"{latest['revision'] + 1}",
                "revision",
            )
        if before is not None and repeats:
            await _on_disk(before)
            return _feedback_answer(before)
        self._refuse_if_busy()
        add = self._new_labels(labels)
        shown = known[0] if known and known[0].kind == "rank" else None
        of = shown.offset if isinstance(shown, Event) else shown
        was_assumed = isinstance(of, int) and of <= self.assumed_to
        learn = before is None and not was_assumed
        event: dict[str, Any] = {"revision": expected, "learn": learn, **labels}
        if add:
            event["add"] = add
        if learn:
            self._check_size(len(add), features_of(first))
        if not known:
            with self.champion.state.turn:
                self.champion.state.features.check(features)
            event["text" if isinstance(features, str) else "features"] = features
        return _feedback_answer(await self.queue.write(Entry("feedback", id, of, dumps(event))))

    async def change_labels(self, change: dict[str, Any]) -> None:
        """Add, rename, retire or restore labels."""
        async with self.models.changing:
            self.labels.check(change)
            self._check_label_count(len(change.get("add", ())), "add")
            self._check_size(len(change.get("add", ())))
            await self.queue.write(Entry("labels", body=dumps(change)))
            self.labels.apply(change)

    async def erase(self, id: str) -> dict[str, Any]:
        """Erase what the log has of an id."""
        return await erase(self, id)

    # What is refused.

    def _new_labels(self, labels: dict[str, Any]) -> list[str]:
        named = [(field, label) for field, labels in labels.items() for label in labels or ()]
        new = [(field, label) for field, label in named if label not in self.labels.index]
        if new and self.settings.new_labels != "add":
            field, label = new[0]
            near = near_name(label, self.labels.names)
            meant = "" if near is None else f" (is {near!r} meant?)"
            raise Invalid(
                field,
                f"has label {label!r}{meant}, but labels must be those of the model (see /labels)",
            )
        self._check_label_count(len(new), "relevant")
        return [label for _, label in new]

    def _check_label_count(self, n_new: int, field: str) -> None:
        most = self.settings.limits.labels
        if len(self.labels.names) + n_new > most:
            raise Problem(422, f"there would be more than {most} labels", field)

    def _check_size(self, n_new_labels: int, features: Any = None) -> None:
        """Refuse an example, or labels, that would make the model too large: a label takes memory for each feature."""
        if not len(self.queue) and not self.champion.lag():
            self._coming_features = 0
        known, most = self.champion.state.features, self.settings.limits.model
        new = known.n_new(features)
        width = known.width + self._coming_features + new
        n_labels = len(self.labels.names) + n_new_labels
        needed = n_labels * width * _BYTES_OF_PAIR
        if needed > most:
            raise Problem(
                422,
                f"{n_labels} labels and {width} features would take about {needed / 1e6:.0f} MB, but --max-bytes is "
                f"{most / 1e6:.0f} MB",
                "features" if new else "relevant",
            )
        self._coming_features += new

    def _refuse_if_busy(self) -> None:
        if len(self.queue) >= self.settings.limits.queue:
            raise Problem(429, "too many requests wait for the disk", retry_after=1)

    # What is on disk, and on its way there.

    def records(self, id: str) -> list[Record]:
        """All events of an id, the first one first."""
        return [*self.log.of_id(id), *self.queue.by_id.get(id, ())]

    def _known(self, id: str) -> list[Record]:
        """The same, refused if they were erased or compacted away."""
        known = self.records(id)
        if known and known[0].data.get("erased"):
            raise Problem(410, f"id is {id!r}, which was erased", "id")
        if not known and self.log.is_gone(id):
            raise Problem(410, f"id is {id!r}, whose events were compacted away", "id")
        return known

    def _written(self, entries: list[Entry]) -> None:
        """Follow a transaction."""
        for entry in entries:
            if entry.kind == "rank":
                self.n_rankings += 1
            elif entry.kind == "feedback":
                event = entry.data
                self.n_with_feedback += event["revision"] == 1 and entry.of is not None
                if "add" in event:
                    self.labels.apply({"add": event["add"]})
        if any(entry.kind != "rank" for entry in entries):
            self.models.wake()

    def _count(self) -> None:
        with closing(Log(self.path)) as log:
            found = log.counts(self._counted_from)
        self.n_rankings += found["rankings"]
        self.n_with_feedback += found["with_feedback"]


def new_id() -> str:
    """An id that sorts by time, which keeps the index small, and that nobody can guess."""
    return f"{time.time_ns() // 1000:x}-{secrets.token_hex(8)}"


async def _on_disk(record: Record) -> None:
    if isinstance(record, Entry) and record.done is not None:
        await asyncio.shield(record.done)


def _feedback_answer(record: Record) -> bytes:
    body = record.data
    answer = {
        "id": record.id,
        "revision": body["revision"],
        "offset": record.offset,
        "learn": body["learn"],
    }
    if not body["learn"]:
        answer["note"] = "kept, and not learned: an earlier answer for this id was learned already"
    return dumps(answer)
