"""A fold over the log: a model and all that belongs to it, brought forward event by event.

The state is a function of the events and nothing else, so that a state that was loaded from a snapshot and brought
forward has the bytes of one that never stopped.
"""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.contract.label_sets import UNKNOWN, LabelSets
from boostline.models import Booster
from boostline.saving import load_with_extra, save
from boostline.serve.live.features import Features, features_of
from boostline.serve.live.label_names import LabelNames
from boostline.serve.live.windows import Windows
from boostline.serve.store.log import Event, Log, StoreError

__all__ = ["ReplicaState"]

FloatArray = NDArray[np.float64]


class ReplicaState:
    """A model at an offset of the log.

    Attributes
    ----------
    name : str
    model : Booster
    offset : int
        Events up to here have been applied.
    turn : TurnLock
        Held while an event is applied; whoever holds it sees the state of `offset`.
    """

    def __init__(self, name: str, model: Booster, offset: int = 0) -> None:
        self.name = name
        self.model = model
        self.offset = offset
        self.labels = LabelNames([str(label) for label in model.labels or range(model.n_labels)])
        self.features = Features.of(model)
        self.windows = Windows(model.n_labels)
        self.turn = _core.TurnLock()
        #: False from the beginning of an event to its end: if an event fails half way, this state is never saved.
        self.is_whole = True
        #: Called with the number and the figures of each window that is full, and with events that were refused.
        self.on_window: Callable[[int, dict[str, Any]], None] = lambda number, figures: None
        self.on_refused: Callable[[int, str], None] = lambda offset, reason: None
        #: Seconds of processor time spent in the model: ranking and learning.
        self.model_seconds = 0.0

    # Snapshots.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, which `boostline.load` reads as well."""
        self._refuse_if_torn()
        parts = {
            "name": self.name,
            "offset": self.offset,
            "labels": self.labels.state(),
            "features": self.features.state(),
            "windows": self.windows.state(self.model.n_labels),
        }
        save(self.model, path, {"serve": parts})

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_threads: int = 1) -> ReplicaState:
        """Read what `save` wrote."""
        model, extra = load_with_extra(path, n_threads=n_threads)
        parts = extra["serve"]
        state = cls(parts["name"], model, parts["offset"])
        state.labels = LabelNames(**parts["labels"])
        state.features = Features.from_state(parts["features"])
        state.windows = Windows.from_state(parts["windows"], model.n_labels)
        return state

    def frozen(self) -> ReplicaState:
        """A copy that stands still. The caller is the one who changes the state, or holds `turn`."""
        self._refuse_if_torn()
        twin = ReplicaState(self.name, copy.deepcopy(self.model), self.offset)
        twin.labels = self.labels.copy()
        twin.features = self.features.copy()
        twin.windows = self.windows.copy()
        return twin

    def _refuse_if_torn(self) -> None:
        if not self.is_whole:
            raise StoreError(
                f"{self.name} failed to apply the event after {self.offset}, so it cannot be saved"
            )

    # Ranking.

    @property
    def is_cold(self) -> bool:
        """Whether it has learned nothing yet."""
        return self.model.n_features is None

    def rank(self, features: Any) -> tuple[FloatArray, FloatArray]:
        """Scores and probabilities of all labels. Changes nothing; the caller holds `turn`."""
        self.features.check(features)
        if self.is_cold:
            return np.zeros(self.model.n_labels), np.full(self.model.n_labels, 0.5)
        row = self.features.row(features)
        began = time.thread_time()
        found = self.model.scores_and_probabilities(row)
        self.model_seconds += time.thread_time() - began
        return found

    def threshold(self, optimize: str | float | None) -> float:
        """The probability above which labels are shown; 0 for all. The caller holds `turn`."""
        if optimize is None:
            return 0.0
        return self.model.threshold(optimize)

    # Going forward.

    def apply(self, event: Event, ranking: Callable[[int], Event | None]) -> None:
        """Apply the next event; `ranking` finds the event at an offset."""
        with self.turn:
            self.is_whole = False
            if event.kind == "feedback":
                self._feedback(event, ranking)
            elif event.kind == "labels":
                self._change_labels(event.data)
            elif event.kind == "expire":
                self._expire(event, ranking)
            self.offset = event.offset
            self.is_whole = True

    def follow_labels(self, log: Log, up_to: int) -> None:
        """Pass over the events up to an offset, but for the changes of labels, which hold for every model."""
        while events := log.to_apply(self.offset, up_to):
            for event in events:
                body = event.data
                if event.kind == "labels":
                    self._change_labels(body)
                elif event.kind == "feedback" and body.get("add"):
                    self._change_labels({"add": body["add"]})
                self.offset = event.offset

    def _feedback(self, event: Event, ranking: Callable[[int], Event | None]) -> None:
        body = event.data
        if body.get("add"):
            self._change_labels({"add": body["add"]})
        if not body.get("learn") or body.get("erased"):
            return
        shown = None if event.of is None else ranking(event.of)
        if shown is None and event.of is not None:
            self.on_refused(
                event.offset, f"event {event.of}, its ranking, is not in the log any more"
            )
            return
        request = body if shown is None else shown.data
        if request.get("erased"):
            self.on_refused(event.offset, "its ranking was erased")
            return
        self._learn(event, features_of(request), self._relevance(body), shown)

    def _expire(self, event: Event, ranking: Callable[[int], Event | None]) -> None:
        """Rankings that never got feedback: where nothing is assumed there is nothing to do."""
        body = event.data
        if body["assume"] != "none":
            return
        for offset in body["offsets"]:
            shown = ranking(offset)
            if shown is None or shown.data.get("erased") or shown.answer is None:
                continue
            names = [one["label"] for one in json.loads(shown.answer)["labels"]]
            known = [name for name in names if name in self.labels.index]
            relevance = self._relevance({"relevant": [], "irrelevant": known})
            self._learn(event, features_of(shown.data), relevance, shown)

    def _relevance(self, body: dict[str, Any]) -> NDArray[np.int8]:
        """1, 0 or UNKNOWN for each label. Names of labels that no longer exist are ignored."""
        index = self.labels.index
        irrelevant = body.get("irrelevant")
        relevance = np.full(len(index), 0 if irrelevant is None else UNKNOWN, np.int8)
        for names, value in (
            (irrelevant or (), 0),
            (body.get("unknown") or (), UNKNOWN),
            (body["relevant"], 1),
        ):
            for name in names:
                if name in index:
                    relevance[index[name]] = value
        relevance[self.labels.retired] = UNKNOWN
        return relevance

    def _learn(
        self, event: Event, features: Any, relevance: NDArray[np.int8], shown: Event | None
    ) -> None:
        try:
            row = self.features.learned_row(features, self.model)
            began = time.thread_time()
            scores = self.model.learn(row, LabelSets.of_relevance(relevance[np.newaxis]))
            self.model_seconds += time.thread_time() - began
        except ValueError as error:
            # Two rankings of different lengths may have been served before the first was learned. Errors of other
            # kinds are ours: they stop the learning, which is said, and the log waits.
            self.on_refused(event.offset, str(error))
            return
        served = None
        if shown is not None and shown.scores is not None:
            served = np.frombuffer(shown.scores, np.float32).astype(np.float64)
        delay = None if shown is None else event.time - shown.time
        if self.windows.add(scores, served, relevance, delay, event.time):
            self.on_window(self.windows.number, {**self.figures(), "offset": event.offset})
            self.windows.begin_next(self.model.n_labels)

    def figures(self) -> dict[str, Any]:
        """What is known of the window that is being filled."""
        figures = self.windows.measure(self.model.n_labels)
        figures["clock"] = self.model.clock
        if not self.is_cold:
            figures["restarts"] = self.model.n_restarts
            figures["weights"] = [
                round(float(w), 4) for w in self.model.diagnostics.effective_weights
            ]
        return figures

    def _change_labels(self, change: dict[str, Any]) -> None:
        """Make a change of labels, whole or not at all: there may be no memory for the model."""
        labels = self.labels.copy()
        new = labels.apply({"add": change.get("add", ())})
        renamed = labels.renamed(change)
        labels.apply({name: value for name, value in change.items() if name != "add"})
        if new:
            self.model.add_labels(new if self.model.labels is not None else len(new))
        self.labels = labels
        if renamed and self.model.labels is not None:
            self.model.rename_labels(renamed)
