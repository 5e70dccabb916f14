"""LabelRanker's answer to drift: the alarm, and the trial of a fresh model beside the old one."""

from __future__ import annotations

from typing import Any

import numpy as np


class DriftAlarm:
    """Tells when a loss has risen for good: a fast running mean against a slow one and its deviation.

    >>> alarm = DriftAlarm()
    >>> any(alarm.learn(0.1 + 0.01 * (t % 2)) for t in range(1000))
    False
    >>> any(alarm.learn(0.5) for _ in range(100))
    True
    """

    FAST, SLOW = 0.01, 0.001  # rates of the running means
    DEVIATIONS, RATIO, WARM_UP, HOLD = 3.5, 2.0, 200, 5

    def __init__(self) -> None:
        self.n = self.n_high = 0
        self.fast = self.slow = self.variance = self.fast_weight = self.slow_weight = 0.0

    def learn(self, loss: float) -> bool:
        """Take one loss; return whether the stream has changed."""
        self.n += 1
        self.fast_weight += self.FAST * (1 - self.fast_weight)
        self.slow_weight += self.SLOW * (1 - self.slow_weight)
        self.fast += self.FAST * (loss - self.fast)
        self.slow += self.SLOW * (loss - self.slow)
        fast, slow = self.fast / self.fast_weight, self.slow / self.slow_weight
        self.variance += self.SLOW * ((loss - slow) ** 2 - self.variance)
        deviation = np.sqrt(self.variance / self.slow_weight * self.FAST / (2 - self.FAST))
        is_high = fast > max(slow + self.DEVIATIONS * deviation, self.RATIO * slow)
        self.n_high = self.n_high + 1 if is_high and self.n > self.WARM_UP else 0
        return self.n_high >= self.HOLD


class Trial:
    """A fresh model on probation beside the old one: which of the two serves after each row.

    >>> trial = Trial()
    >>> for _ in range(64):
    ...     verdict = trial.learn(0.5, 0.9, 0.1, 1.0)   # the likelihoods of the old and the new model, the frequency
    >>> verdict, trial.newcomer_serves
    ('newcomer serves', True)
    """

    UNCOUNTED, UNJUDGED, PATIENCE, MOST_ROWS = 16, 64, 350, 1500  # rows
    FADING, TO_SERVE, TO_REJECT, TIE, KNOWLEDGE = 0.99, 2.0, -10.0, -5.0, 20.0

    def __init__(self) -> None:
        self.rows = 0
        self.evidence = self.knowledge = 0.0
        self.newcomer_serves = False

    def learn(self, old: Any, newcomer: Any, null: Any, weight: float) -> str:
        """Judge after a row: scores of its relevant labels by both models, their frequencies, and c."""
        self.rows += 1
        if self.rows <= self.UNCOUNTED:
            return ""
        over_old = np.log(np.maximum(newcomer, null) / np.maximum(old, null)).mean()
        over_null = np.log(np.divide(newcomer, null)).mean()
        self.evidence = self.FADING * self.evidence + float(np.clip(weight * over_old, -1, 1))
        self.knowledge += float(np.clip(weight * over_null, -1, 1))
        if self.rows < self.UNJUDGED:
            return ""
        if self.evidence <= self.TO_REJECT:
            return "newcomer goes"
        if self.rows >= self.MOST_ROWS:
            return "old goes" if self.newcomer_serves else "newcomer goes"
        is_early = self.evidence < self.TO_SERVE and self.rows < self.PATIENCE
        if self.newcomer_serves or self.knowledge < self.KNOWLEDGE or is_early:
            return ""
        self.newcomer_serves = self.evidence > self.TIE
        return "newcomer serves" if self.newcomer_serves else "newcomer goes"
