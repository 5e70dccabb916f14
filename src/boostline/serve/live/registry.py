"""Which models there are and which of them serves: a fold over the log's events about models."""

from __future__ import annotations

from typing import Any

from boostline.serve.store.log import Event, Log

__all__ = ["KINDS", "Registry"]

#: Events about models.
KINDS = ("begin", "challenger", "promote", "dismiss", "rollback")


class Registry:
    """The models by name, and who serves.

    Attributes
    ----------
    champion : str
        The one that serves.
    models : dict
        Name of each model that is alive -> what its event told.
    """

    def __init__(self) -> None:
        self.champion = ""
        self.models: dict[str, dict[str, Any]] = {}
        #: Names are never given twice: the log's snapshots go by them.
        self.used: set[str] = set()
        self.changes: list[dict[str, Any]] = []

    @classmethod
    def of(cls, log: Log) -> Registry:
        registry = cls()
        for event in log.of_kinds(*KINDS):
            registry.apply(event.kind, event.data, event.offset, event.time)
        return registry

    def apply(self, kind: str, told: dict[str, Any], offset: int, time: float) -> None:
        name = told["name"]
        if kind in ("begin", "challenger", "rollback"):
            self.models[name] = told
            self.used.add(name)
        if kind in ("begin", "promote", "rollback"):
            self.champion = name
        if kind == "dismiss":
            del self.models[name]
        self.changes.append({"kind": kind, "name": name, "offset": offset, "time": time})

    def apply_event(self, event: Event) -> None:
        self.apply(event.kind, event.data, event.offset, event.time)

    @property
    def challengers(self) -> list[str]:
        return [name for name in self.models if name != self.champion]
