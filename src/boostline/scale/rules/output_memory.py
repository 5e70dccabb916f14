"""Nearest neighbours in the space of a kernel's scores: rows of all workers, at the scores of the merged kernel.

A worker remembers its last rows as the kernel sees them. Once the kernels are merged, the merged one scores them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.array_types import Arrays
from boostline.learners import Kernel, Member
from boostline.scale.memories import Column, count_rows
from boostline.scale.row_blocks import MOST_CELLS, RowBlock
from boostline.scale.rules.counts import CountedNeighbours
from boostline.scale.rules.least_squares import KernelInputs
from boostline.scale.rules.rule import Common

__all__ = ["OutputMemory", "output_rule"]

_FARTHEST = 1e15  # PointBlocks::kFarthest


def output_rule(member: Member, arrays: Arrays) -> CountedNeighbours:
    """For a member that reads one kernel; the memory of others is that of the tail."""
    is_one = len(member.reads) == 1 and isinstance(member.reads[0].description, Kernel)
    return (OutputMemory if is_one else CountedNeighbours)(member, arrays)


class OutputMemory(CountedNeighbours):
    """The rows of each worker travel as points among the kernel's landmarks."""

    def __init__(self, member: Member, arrays: Arrays) -> None:
        super().__init__(member, arrays)
        self.inputs = KernelInputs(arrays, member.reads[0].prefix + "landmarks.")
        self.width = self.inputs.n_features
        self.labels = [Column("point_targets", member.n_labels), Column("point_importance", 1)]
        types: dict[str, Any] = {"point_targets": np.uint8, "point_importance": np.float64}
        if self.inputs.is_dense:
            self.rows = [Column("row_value", self.inputs.n_features)]
            types["row_value"] = np.float32
        else:
            self.rows = [Column("row_index", "row_length"), Column("row_value", "row_length")]
            types |= {"row_value": np.float64, "row_index": np.int32, "row_length": np.int32}
        self.blocks: list[Arrays] = [{name: np.zeros(0, one) for name, one in types.items()}]
        self.n_learned = 0

    def add(self, block: RowBlock) -> None:
        learned = block.is_learned
        rows, targets = self.inputs.points(block)[learned], block.relevant[learned] + 1.0
        if block.unknown is not None:
            targets[block.unknown[learned]] = 0.0
        mine: Arrays = {"point_targets": targets.astype(np.uint8).ravel()}
        mine["point_importance"] = block.weights[learned]
        if self.inputs.is_dense:
            mine["row_value"] = rows.ravel()
        else:
            mine |= {"row_value": rows.data, "row_index": rows.indices.astype(np.int32)}
            mine["row_length"] = np.diff(rows.indptr).astype(np.int32)
        self.n_learned += len(targets)
        self.blocks.append(mine)
        n = sum(count_rows(one, self.labels) for one in self.blocks)
        while n - (oldest := count_rows(self.blocks[0], self.labels)) > self.share_of_memory:
            del self.blocks[0]
            n -= oldest

    def sums(self) -> dict[str, Any]:
        mine = {name: np.concatenate([one[name] for one in self.blocks]) for name in self.blocks[0]}
        seed = hashlib.blake2b(mine["point_targets"].tobytes(), digest_size=16).digest()
        return {"memory": self.remembered(mine, [*self.labels, *self.rows], self.n_learned, seed)}

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        super().finish(sums, common, out)
        rows = sums["memory"].arrays
        points = self._scores(rows, out)
        columns = [*self.labels, Column("points", self.member.n_labels)]
        self.write_memory({**rows, "points": points.ravel()}, columns, out)

    def _scores(self, rows: Arrays, out: Arrays) -> NDArray[np.float32]:
        """By the merged kernel; some at a time, as matrices of kernel values are large."""
        kernel, n = self.member.reads[0].prefix, count_rows(rows, self.labels)
        weights = out[kernel + "weights"].reshape(self.inputs.size, self.member.n_labels)
        points: Any
        if self.inputs.is_dense:
            points = rows["row_value"].reshape(n, self.inputs.n_features)
        else:
            from scipy.sparse import csr_array

            start = np.append(0, np.cumsum(rows["row_length"]))
            shape = (n, self.inputs.n_features)
            points = csr_array((rows["row_value"], rows["row_index"], start), shape=shape)
        scores = np.zeros((n, self.member.n_labels), np.float32)
        size = max(1, MOST_CELLS // self.inputs.size)
        for first in range(0, n, size):
            part = slice(first, first + size)
            found = self.inputs.values(points[part]) @ weights
            scores[part] = np.clip(found, -_FARTHEST, _FARTHEST, out=found)
        return scores
