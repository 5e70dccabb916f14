"""What is measured while the service runs: for Prometheus, and for the page."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily

from boostline.serve.store.log import store_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boostline.serve.live.service import Service

__all__ = ["Telemetry"]

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
#: The page shows rates and latencies of the last rankings.
_RECENT = 1000


class Telemetry:
    """Counters of requests, and figures of the service when they are asked for."""

    def __init__(self, service: Service) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "boostline_requests",
            "Requests by path and status.",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "boostline_request_seconds",
            "Seconds from a request to its answer.",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        ProcessCollector(registry=self._registry)
        self._service = service
        self._registry.register(self)

    def count(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)
        if path == "/rank":
            self._recent.append((time.monotonic(), seconds))

    def collect(self) -> Iterator[Any]:
        """Figures of the service and its models; called by the registry."""
        service, writer = self._service, self._service.writer
        for name, text, value in (
            ("log_offset", "Offset of the last event on disk.", writer.head),
            ("queue_length", "Entries that wait for the disk.", len(service.queue)),
            ("commits_total", "Transactions.", writer.commits),
            ("commit_seconds_total", "Seconds spent in transactions.", writer.commit_seconds),
            ("rankings", "Rankings in the log.", service.n_rankings),
            ("rankings_with_feedback", "Those that have feedback.", service.n_with_feedback),
            ("clock_jumps_total", "Jumps of the machine's clock.", writer.n_jumps),
            ("store_bytes", "Bytes of the log on disk.", store_bytes(service.path)),
        ):
            yield GaugeMetricFamily(f"boostline_{name}", text, value)
        families = {
            name: GaugeMetricFamily(f"boostline_model_{name}", text, labels=["model", "serves"])
            for name, text in _OF_MODELS.items()
        }
        for name, replica in list(service.models.replicas.items()):
            figures, state = service.models.describe(name), replica.state
            with state.turn:
                window = state.figures()
            values = {
                **{key: figures[key] for key in ("clock", "version", "lag", "memory_bytes")},
                "cpu_seconds_total": state.model_seconds + replica.save_seconds,
                "restarts": window.get("restarts", 0),
                "features": len(state.features.names) or state.model.n_features or 0,
                "rank_loss": window.get("rank_loss"),
                "served_rank_loss": (window.get("served") or {}).get("rank_loss"),
                "precision_at_1": window.get("precision@1"),
                "label_delay_seconds": window.get("delay_median"),
            }
            for key, value in values.items():
                if value is not None:
                    serves = str(figures["serves"]).lower()
                    families[key].add_metric([name, serves], float(value))
        yield from families.values()

    def exposition(self) -> bytes:
        return generate_latest(self._registry)

    def recent(self) -> dict[str, Any]:
        """Rate and latencies of the last rankings."""
        now = time.monotonic()
        within = [at for at, _ in self._recent if at > now - 60.0]
        seconds = sorted(s for _, s in self._recent)
        span = max(1.0, now - within[0]) if within else 60.0
        return {
            "rankings_per_second": round(len(within) / span, 2),
            "p50_ms": _at(seconds, 0.5),
            "p99_ms": _at(seconds, 0.99),
        }


def _at(ordered: list[float], q: float) -> float | None:
    return round(1e3 * ordered[int(q * (len(ordered) - 1))], 2) if ordered else None


_OF_MODELS = {
    "clock": "Rows learned.",
    "version": "Offset of which the model has the state.",
    "lag": "Offsets that the model is behind.",
    "memory_bytes": "Memory of the model.",
    "cpu_seconds_total": "Processor time spent in the model and its snapshots.",
    "restarts": "Fresh models that took the place of an old one because the stream had changed.",
    "features": "Features that have a column.",
    "rank_loss": "Rank loss in the present window, before learning each row.",
    "served_rank_loss": "Rank loss of what was served, in the present window.",
    "precision_at_1": "Share of rows whose first label is relevant, in the present window.",
    "label_delay_seconds": "Median time from ranking to feedback, in the present window.",
}
