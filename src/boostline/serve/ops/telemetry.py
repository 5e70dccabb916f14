"""What is measured while the service runs: for Prometheus, and for the page."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from bisect import bisect_left
from collections import deque
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from boostline.serve.store.log import store_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boostline.serve.live.service import Service

__all__ = ["Telemetry"]

_BUCKETS = (
    0.0005,
    0.001,
    0.002,
    0.003,
    0.005,
    0.0075,
    0.01,
    0.015,
    0.025,
    0.05,
    0.1,
    0.25,
    1.0,
    5.0,
)
#: The page shows rates and latencies of the last rankings.
_RECENT = 1000


class Telemetry:
    """Counters of requests, and figures of the service when they are asked for."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.registry = CollectorRegistry()
        #: Plain numbers, counted for every request; made into metrics when they are asked for.
        self._requests: dict[tuple[str, int], int] = {}
        self._times: dict[str, tuple[list[int], list[float]]] = {}
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self.registry.register(self)
        self.registry.register(_Figures(service))

    def count(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        key = (path, status)
        self._requests[key] = self._requests.get(key, 0) + 1
        times = self._times.get(path)
        if times is None:
            times = self._times[path] = ([0] * (len(_BUCKETS) + 1), [0.0])
        times[0][bisect_left(_BUCKETS, seconds)] += 1
        times[1][0] += seconds
        if path == "/rank":
            self._recent.append((time.monotonic(), seconds))

    def collect(self) -> Iterator[Any]:
        """The metrics of requests; called by the registry."""
        requests = CounterMetricFamily(
            "boostline_requests", "Requests by path and status.", labels=["path", "status"]
        )
        for (path, status), n in self._requests.items():
            requests.add_metric([path, str(status)], n)
        seconds = HistogramMetricFamily(
            "boostline_request_seconds", "Seconds from a request to its answer.", labels=["path"]
        )
        bounds = [*(str(bound) for bound in _BUCKETS), "+Inf"]
        for path, (counts, total) in self._times.items():
            buckets = list(zip(bounds, accumulate(counts), strict=True))
            seconds.add_metric([path], buckets, total[0])
        yield from (requests, seconds)

    def exposition(self) -> bytes:
        return generate_latest(self.registry)

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


class _Figures:
    """Read from the service at each scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Any]:
        service = self._service
        used = os.times()
        for name, text, value in (
            ("log_offset", "Offset of the last event on disk.", service.writer.head),
            ("queue_length", "Entries that wait for the disk.", len(service.queue)),
            ("commits_total", "Transactions.", service.writer.commits),
            (
                "commit_seconds_total",
                "Seconds spent in transactions.",
                service.writer.commit_seconds,
            ),
            ("rankings", "Rankings in the log.", service.n_rankings),
            ("rankings_with_feedback", "Those that have feedback.", service.n_with_feedback),
            ("clock_jumps_total", "Jumps of the machine's clock.", service.writer.n_jumps),
            ("store_bytes", "Bytes of the log on disk.", store_bytes(service.path)),
            ("resident_bytes", "Memory of the process.", resident_bytes()),
            ("cpu_seconds_total", "Processor time of the process.", used.user + used.system),
            ("uptime_seconds", "Seconds since the start.", time.time() - service.started),
        ):
            yield GaugeMetricFamily(f"boostline_{name}", text, value)
        threads = GaugeMetricFamily(
            "boostline_thread_cpu_seconds_total",
            "Processor time by thread: MainThread answers and writes, boostline-learn-* learn.",
            labels=["thread"],
        )
        for name, seconds in sorted(thread_seconds().items()):
            threads.add_metric([name], seconds)
        yield threads
        families = {
            name: GaugeMetricFamily(f"boostline_model_{name}", text, labels=["model", "serves"])
            for name, text in _OF_MODELS.items()
        }
        for name in list(service.models.replicas):
            told = service.models.describe(name)
            replica = service.models.replicas[name]
            state = replica.state
            with state.turn:
                window = state.windows.measure()
                restarts = 0 if state.is_cold else state.model.n_restarts
            values = {
                "clock": told["clock"],
                "version": told["version"],
                "lag": told["lag"],
                "memory_bytes": told["memory_bytes"],
                "cpu_seconds_total": state.model_seconds + replica.save_seconds,
                "restarts": restarts,
                "features": len(state.features.names) or state.model.n_features or 0,
                "rank_loss": window.get("rank_loss"),
                "served_rank_loss": (window.get("served") or {}).get("rank_loss"),
                "precision_at_1": window.get("precision@1"),
                "label_delay_seconds": window.get("delay_median"),
            }
            for key, value in values.items():
                if value is not None:
                    families[key].add_metric([name, str(told["serves"]).lower()], float(value))
        yield from families.values()


_OF_MODELS = {
    "clock": "Rows learned.",
    "version": "Offset of which the model has the state.",
    "lag": "Offsets that the model is behind.",
    "memory_bytes": "Memory of the model.",
    "cpu_seconds_total": "Processor time spent in the model and its snapshots.",
    "restarts": "How often learning started anew because the stream had changed.",
    "features": "Features that have a place.",
    "rank_loss": "Rank loss in the present window, before learning each row.",
    "served_rank_loss": "Rank loss of what was served, in the present window.",
    "precision_at_1": "Share of rows whose first label is relevant, in the present window.",
    "label_delay_seconds": "Median time from ranking to feedback, in the present window.",
}


def thread_seconds() -> dict[str, float]:
    """Processor time of the threads that are alive, by name."""
    if not hasattr(time, "pthread_getcpuclockid"):  # not Linux
        return {}
    found = {}
    for thread in threading.enumerate():
        if thread.ident is not None:
            with contextlib.suppress(OSError):  # it has just ended
                found[thread.name] = time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return found


def resident_bytes() -> int:
    """Memory of this process."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
