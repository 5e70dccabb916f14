"""How long a history takes on many workers: the cost model of docs/scale.md against a simulation.

    python benchmarks/scale/simulation.py

The simulation deals groups of rows to workers as an engine does: a worker takes the next group when it is free, is slow
now and then, and may die, which sends its group back to the queue. Parts arrive at the driver over one line.
"""

from __future__ import annotations

import argparse
import heapq
import json
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Costs:
    """What a job costs; the defaults are those of mediamill's rows in docs/scale.md."""

    one_by_one: float = 0.24e-3  # seconds per row of the sample and of the tail
    statistics: float = 0.08e-3  # seconds per row on a worker
    merge: float = 0.04  # seconds per part, on the driver: unpickled and added
    finish: float = 0.42  # seconds
    overhead: float = 0.4  # seconds for the engine's messages
    megabytes: float = 5.0  # of a part without its share of the remembered rows
    remembered_megabytes: float = 21.2  # of all parts together
    model_megabytes: float = 13.0
    bandwidth: float = 100.0  # megabytes per second, of the driver's line

    def arrival(self, groups: int) -> float:
        """Seconds until a part is with the driver and added."""
        return (self.megabytes + self.remembered_megabytes / groups) / self.bandwidth + self.merge


@dataclass(frozen=True)
class Cluster:
    """Workers, some of which are slow for a group, and which die now and then."""

    n_workers: int = 100
    groups_per_worker: int = 2
    slow_share: float = 0.05  # of groups
    slow_factor: float = 4.0
    failures_per_hour: float = 0.0  # of one worker
    restart: float = 30.0  # seconds until another takes its place


def _rounds(n_workers: int) -> int:
    """How often the model is passed on until so many have it, when their number doubles each time."""
    return n_workers.bit_length()


def modelled(
    n: int, costs: Costs, cluster: Cluster, n_sample: int = 1500, n_tail: int = 4000
) -> float:
    """Seconds by the formula."""
    w, groups = cluster.n_workers, cluster.n_workers * cluster.groups_per_worker
    rows = n - n_sample - n_tail
    group = rows / groups * costs.statistics
    mean = group * (1.0 + cluster.slow_share * (cluster.slow_factor - 1.0))
    # A group that fails has cost half of its time, and waits for a new worker.
    lost = mean * cluster.failures_per_hour / 3600.0 * (mean / 2.0 + cluster.restart)
    work = (mean + lost) * cluster.groups_per_worker
    straggler = group * (cluster.slow_factor - 1.0) if cluster.slow_share * groups >= 1.0 else 0.0
    arrive = groups * costs.arrival(groups)
    send = _rounds(w) * costs.model_megabytes / costs.bandwidth
    alone = (n_sample + n_tail) * costs.one_by_one + costs.finish + costs.overhead
    return alone + send + max(work + straggler, arrive)


def simulated(
    n: int, costs: Costs, cluster: Cluster, seed: int, n_sample: int = 1500, n_tail: int = 4000
) -> float:
    """Seconds of one run."""
    rng = np.random.default_rng(seed)
    groups = cluster.n_workers * cluster.groups_per_worker
    group = (n - n_sample - n_tail) / groups * costs.statistics
    start = n_sample * costs.one_by_one
    # Workers begin as the model reaches them: those that have it pass it on.
    hop = costs.model_megabytes / costs.bandwidth
    free = [start + costs.overhead + _rounds(i + 1) * hop for i in range(cluster.n_workers)]
    heapq.heapify(free)
    waiting, ended = groups, []
    while waiting:
        now = heapq.heappop(free)
        slow = cluster.slow_factor if rng.random() < cluster.slow_share else 1.0
        takes = group * slow * rng.lognormal(0.0, 0.1)
        rate = cluster.failures_per_hour / 3600.0
        dies = rng.exponential(1.0 / rate) if rate > 0.0 else np.inf
        if dies < takes:
            heapq.heappush(free, now + dies + cluster.restart)
            continue
        waiting -= 1
        ended.append(now + takes)
        heapq.heappush(free, now + takes)
    merged = 0.0
    for at in sorted(ended):
        merged = max(merged, at) + costs.arrival(groups)
    return merged + costs.finish + n_tail * costs.one_by_one


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    cases = [
        (30_993, Cluster(1, slow_share=0.0)),
        (30_993, Cluster(2, slow_share=0.0)),
        (10_000_000, Cluster(2, slow_share=0.0)),
        (10_000_000, Cluster(100, slow_share=0.0)),
        (1_000_000_000, Cluster(100, slow_share=0.0)),
        (1_000_000_000, Cluster(100)),
        (1_000_000_000, Cluster(100, groups_per_worker=10)),
        (1_000_000_000, Cluster(100, failures_per_hour=0.2)),
        (1_000_000_000, Cluster(100, groups_per_worker=10, failures_per_hour=0.2)),
        (1_000_000_000, Cluster(1000, groups_per_worker=10, failures_per_hour=0.2)),
    ]
    for n, cluster in cases:
        times = [simulated(n, Costs(), cluster, seed) for seed in range(arguments.runs)]
        print(
            json.dumps(
                {
                    "rows": n,
                    **vars(cluster),
                    "model": round(modelled(n, Costs(), cluster), 1),
                    "simulated": [
                        round(float(q), 1) for q in np.quantile(times, [0.05, 0.5, 0.95])
                    ],
                }
            )
        )


if __name__ == "__main__":
    main()
