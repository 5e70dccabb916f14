"""The paper's 100 trees and Ada.OLMR as a sensible River program: what boostline's speed is measured against."""

from __future__ import annotations

import math
import random

import numpy as np
from river.tree import HoeffdingTreeClassifier


class RiverAdaOLMR:
    """Algorithm 3 on River's Hoeffding trees, 20 features per tree, label copies with importance weights."""

    def __init__(
        self, n_labels: int, features: list[str], n_trees: int = 100, seed: int = 0
    ) -> None:
        rng = random.Random(seed)
        self.k = n_labels
        self.features = [rng.sample(features, min(20, len(features))) for _ in range(n_trees)]
        self.scale = [rng.uniform(3, 10) for _ in range(n_trees)]
        self.trees = [
            HoeffdingTreeClassifier(
                grace_period=rng.uniform(5, 20),
                delta=math.exp(rng.uniform(math.log(0.01), math.log(0.9))),
                tau=math.exp(rng.uniform(math.log(0.01), math.log(0.9))),
                leaf_prediction="mc",
            )
            for _ in range(n_trees)
        ]
        self.alpha = np.zeros(n_trees)
        self.log_v = np.zeros(n_trees)
        self.rng = np.random.default_rng(seed)
        self.t = 0

    def learn(self, x: dict[str, float], y: np.ndarray) -> np.ndarray:
        """One round; returns the scores given before learning."""
        n = len(self.trees)
        votes = np.full((n, self.k), 1.0)
        views = [{f: x[f] for f in chosen} for chosen in self.features]
        for i, (tree, view) in enumerate(zip(self.trees, views, strict=True)):
            for label, p in tree.predict_proba_one(view).items():
                votes[i, label] += p
        votes /= votes.sum(axis=1, keepdims=True)
        s = np.vstack([np.zeros(self.k), np.cumsum(self.alpha[:, None] * votes, axis=0)])
        p = np.exp(self.log_v - self.log_v.max())
        followed = int(self.rng.choice(n, p=p / p.sum()))
        self.t += 1
        if y.any() and not y.all():
            d = s[:, ~y][:, None, :] - s[:, y][:, :, None]  # (N + 1, |Y|, |Y^c|)
            sigma = 1.0 / (1.0 + np.exp(-d)) / (y.sum() * (~y).sum())
            costs = np.zeros_like(s)
            costs[:, y] = -sigma.sum(axis=2)
            costs[:, ~y] = sigma.sum(axis=1)
            for i, (tree, view) in enumerate(zip(self.trees, views, strict=True)):
                for label in np.flatnonzero(y):
                    weight = self.scale[i] * (costs[i].max() - costs[i, label])
                    tree.learn_one(view, int(label), w=float(weight))
            slopes = (costs[1:] * votes).sum(axis=1)
            self.alpha = np.clip(self.alpha - slopes / math.sqrt(self.t), -2, 2)
            self.log_v -= ((d[1:] > 0) + 0.5 * (d[1:] == 0)).mean(axis=(1, 2))
        return s[followed + 1]
