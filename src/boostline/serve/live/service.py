"""The service: what becomes of a ranking that is asked for and of feedback that comes.

Everything here runs in the thread of the event loop; replicas learn in threads of their own.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from array import array
from collections.abc import Sequence
from typing import Any

from orjson import dumps, loads

from boostline.contract.frames import near_name
from boostline.serve.errors import Invalid, Problem
from boostline.serve.live.erasure import erase
from boostline.serve.live.expiry import expired_to, keep_expiring
from boostline.serve.live.models import Models
from boostline.serve.live.replica import Replica
from boostline.serve.live.requests import FeedbackRequest, RankRequest
from boostline.serve.live.settings import Settings
from boostline.serve.live.size_limit import SizeLimit
from boostline.serve.store.commit_queue import Answer, CommitQueue, Tell
from boostline.serve.store.log import Event, Log, StoreError
from boostline.serve.store.writer import Checkpoints, Entry, Writer

__all__ = ["Service"]

Record = Event | Entry


class Service:
    """A store, its models and its clients.

    Parameters
    ----------
    path
        The store, which exists (`opening.open_store`).
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
        self.queue = CommitQueue(self.writer, self._answer, self._wake)
        self.models = Models(path, self.log, self.writer, self.queue, self.settings)
        self.labels = self.models.champion.state.labels.copy()
        self._size_limit = SizeLimit(self.settings.limits.model)
        self._counted_from = self.writer.head
        #: Rankings up to here without feedback have expired; up to there it was assumed that nothing was relevant.
        self.expired_to, self.assumed_to = expired_to(self.log), expired_to(self.log, "none")
        #: Rankings, and those of them with feedback. The log may be long: it is counted beside the requests.
        self.n_rankings, self.n_with_feedback = 0, 0
        self._counting = threading.Thread(target=self._count, name="boostline-count", daemon=True)
        self._counting.start()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer requests in this loop."""
        self.queue.attach(loop)
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

    # Ranking.

    def rank(self, request: RankRequest, tell: Tell) -> None:
        """Have the answer told: at once, or when it is on disk. What cannot be answered is raised, or told."""
        if request.id in self.queue.by_id:
            self._rank_again(request, tell)
            return
        try:
            self._rank_new(request, tell)
        except Problem:
            # What is there already is answered as it was then, whatever the model thinks of it by now.
            if request.id is None or not self.records(request.id):
                raise
            self._rank_again(request, tell)

    def _rank_new(self, request: RankRequest, tell: Tell) -> None:
        """Rank what is taken to be new; whether it is turns out when it is written."""
        self._refuse_if_busy()
        id = request.id or new_id()
        replica = self.champion
        state = replica.state
        with state.turn:
            version, is_cold, labels = replica.version(), state.is_cold, state.labels
            try:
                scores, probabilities = state.rank(request.features)
            except Invalid:
                raise
            except (ValueError, TypeError) as error:
                raise Invalid("features", str(error)) from None
            names, active = labels.names, labels.active.tolist()
            known_words = None
            if isinstance(request.features, str):
                known_words = state.features.known_words(request.features)
        score, probability = scores.tolist(), probabilities.tolist()
        order = sorted(active, key=score.__getitem__, reverse=True)[: request.top]
        shown = [
            {"label": names[i], "score": score[i], "probability": round(probability[i], 6)}
            for i in order
        ]
        told: dict[str, Any] = {"id": id, "model": state.name, "version": version, "labels": shown}
        if is_cold:
            told["cold"] = True
        if known_words is not None:
            told["known_words"] = known_words
        answer = dumps(told)
        scored = array("f", score).tobytes()
        entry = Entry(
            "rank", id, None, request.raw, answer, scored, request, request.id is not None
        )
        self.queue.submit(entry, tell)

    def _rank_again(self, request: RankRequest, tell: Tell) -> None:
        first = self._ranked_before(request)
        if isinstance(first, Entry):
            first.tell.append(tell)
        else:
            tell(first)

    def _ranked_before(self, request: RankRequest) -> bytes | Entry:
        """What was answered then, or the entry that is on its way to the disk."""
        assert request.id is not None
        known = self.records(request.id)
        if not known:
            raise Problem(410, f"id is {request.id!r}, whose events were compacted away", "id")
        first = known[0]
        _refuse_erased(known)
        if first.kind != "rank" or first.answer is None:
            raise Problem(
                409,
                f"id is {request.id!r}, which is that of a labelled example, but must be new",
                "id",
            )
        if not request.same(loads(first.body)):
            raise Problem(
                409,
                f"id is {request.id!r}, which was ranked with other features or another top, but must be new",
                "id",
            )
        return first if isinstance(first, Entry) else first.answer

    # Feedback.

    def feedback(self, request: FeedbackRequest, tell: Tell) -> None:
        """Have the answer told: at once, or when it is on disk. What cannot be answered is raised, or told."""
        known = self.records(request.id)
        _refuse_erased(known)
        if self.log.is_gone(request.id):
            raise Problem(410, f"id is {request.id!r}, whose events were compacted away", "id")
        if not known and request.features is None:
            raise Problem(404, f"id is {request.id!r}, but no ranking has this id", "id")
        if known and request.features is not None:
            first = loads(known[0].body)
            theirs = first["features"] if first.get("features") is not None else first.get("text")
            if theirs != request.features:
                raise Problem(
                    409,
                    f"id is {request.id!r}, which came with other features, but must be new",
                    "id",
                )
        before = [record for record in known if record.kind == "feedback"]
        told = request.told
        if before:
            latest = loads(before[-1].body)
            if all(latest.get(name) == value for name, value in told.items()):
                if request.revision not in (None, latest["revision"]):
                    raise _wrong_revision(request, latest["revision"])
                if isinstance(before[-1], Entry):
                    before[-1].tell.append(tell)
                else:
                    tell(_feedback_answer(before[-1]))
                return
        revision = before[-1].data["revision"] + 1 if before else 1
        if request.revision not in (None, revision):
            raise _wrong_revision(request, revision - 1)
        self._refuse_if_busy()
        add = self._new_labels(request)
        shown = known[0] if known and known[0].kind == "rank" else None
        learn = not before and not (shown is not None and self._was_assumed(shown))
        body: dict[str, Any] = {"revision": revision, "learn": learn, **told}
        if add:
            body["add"] = add
        if learn:
            asked = request.features
            if known:
                first = loads(known[0].body)
                asked = first.get("features")
            self._check_size(len(add), asked)
        if not known:
            with self.champion.state.turn:
                self.champion.state.features.check(request.features)
            body["text" if isinstance(request.features, str) else "features"] = request.features
        of = shown.offset if isinstance(shown, Event) else shown
        entry = Entry("feedback", request.id, of, dumps(body), data=body)
        self.queue.submit(entry, tell)

    def _new_labels(self, request: FeedbackRequest) -> list[str]:
        new = []
        for label_field, label in request.named:
            if label in self.labels.place:
                continue
            if self.settings.new_labels != "add":
                near = near_name(label, self.labels.names)
                meant = "" if near is None else f" (is {near!r} meant?)"
                raise Invalid(
                    label_field,
                    f"{label_field} has label {label!r}{meant}, but labels must be those of the model (see /labels)",
                )
            new.append(label)
        self._check_label_count(len(new), "relevant")
        return new

    def _check_label_count(self, n_new: int, field: str) -> None:
        most = self.settings.limits.labels
        if len(self.labels.names) + n_new > most:
            raise Invalid(field, f"there would be more than {most} labels")

    def _check_size(self, n_new_labels: int, features: Any = None) -> None:
        all_learned = not len(self.queue) and not self.champion.lag()
        n_labels = len(self.labels.names) + n_new_labels
        known = self.champion.state.features
        self._size_limit.check(known, n_labels, features, all_learned=all_learned)

    def _was_assumed(self, shown: Record) -> bool:
        """Whether it was learned that none of its labels was relevant, because no feedback came in time."""
        return shown.offset is not None and shown.offset <= self.assumed_to

    # Changes.

    async def change_labels(self, change: dict[str, Any]) -> None:
        """Add, rename, retire or restore labels."""
        async with self.models.changing:
            self.labels.check(change)
            self._check_label_count(len(change.get("add", ())), "add")
            self._check_size(len(change.get("add", ())))
            await self.queue.record("labels", change)
            self.labels.apply(change)

    async def erase(self, id: str) -> dict[str, Any]:
        """Erase what the log has of an id."""
        return await erase(self, id)

    def _count(self) -> None:
        log = Log(self.path)
        try:
            found = log.counts(self._counted_from)
        finally:
            log.close()
        self.n_rankings += found["rankings"]
        self.n_with_feedback += found["with_feedback"]

    # What is on disk.

    def _answer(self, entry: Entry) -> Answer:
        if entry.error is not None:
            return Problem(507, str(entry.error), retry_after=5)
        if entry.offset is not None:
            self._keep_count(entry)
            return _feedback_answer(entry) if entry.kind == "feedback" else entry.answer or b""
        try:  # its id was there already
            answer = self._ranked_before(entry.data)
        except (Problem, StoreError) as problem:
            return problem
        assert isinstance(answer, bytes)  # it is on disk
        return answer

    def _wake(self, entries: list[Entry]) -> None:
        if any(entry.kind != "rank" for entry in entries):
            self.models.wake()

    def _keep_count(self, entry: Entry) -> None:
        if entry.kind == "rank":
            self.n_rankings += 1
        elif entry.kind == "feedback":
            told = entry.data
            self.n_with_feedback += told["revision"] == 1 and entry.of is not None
            if "add" in told:
                self.labels.apply({"add": told["add"]})

    def records(self, id: str) -> list[Record]:
        """All that is known of an id: on disk, and on its way there."""
        return [*self.log.of_id(id), *self.queue.by_id.get(id, ())]

    def has_feedback(self, id: str) -> bool:
        return any(record.kind == "feedback" for record in self.records(id))

    def _refuse_if_busy(self) -> None:
        if len(self.queue) >= self.settings.limits.queue:
            raise Problem(429, "too many requests wait for the disk", retry_after=1)


def new_id() -> str:
    """An id that sorts by time, which keeps the index small, and that nobody can guess."""
    return f"{time.time_ns() // 1000:x}-{secrets.token_hex(8)}"


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


def _refuse_erased(known: Sequence[Record]) -> None:
    if known and b'"erased"' in known[0].body and loads(known[0].body).get("erased"):
        raise Problem(410, f"id is {known[0].id!r}, which was erased", "id")


def _wrong_revision(request: FeedbackRequest, latest: int) -> Problem:
    return Problem(
        409,
        f"revision is {request.revision}, but the latest is {latest}: the labels of the latest again, or others with "
        f"revision {latest + 1}",
        "revision",
    )
