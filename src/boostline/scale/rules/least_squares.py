"""Least squares, merged exactly.

A worker sends G = sum of w z z^T and R = sum of w z (y - f0(z))^T over its rows, where z is what the member makes of a
row and f0 the model that all workers have. With the covariance P0 and the weights W0 of that model, the ridge solution
over all rows is P = (P0^-1 + G)^-1 and W = W0 + P R: the same that recursive least squares gives row by row. An unknown
label adds nothing to R: it is taken as what the common model predicts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.array_types import Arrays
from boostline.learners import Member
from boostline.scale.row_blocks import RowBlock
from boostline.scale.rules.rule import Common, Rule
from boostline.scale.sums import FloatArray, Moments

__all__ = ["KernelInputs", "MergedKernel", "MergedRidge"]

_CLIP = 5.0
# Squared distances below this, relative to the rows' lengths, are computed once more without cancellation.
_CLOSE = 1e-6


def packed(matrix: FloatArray) -> FloatArray:
    """The lower triangle of a symmetric matrix, row by row."""
    return np.asarray(matrix[np.tri(len(matrix), dtype=bool)])


def unpacked(cells: FloatArray, n: int) -> FloatArray:
    """The symmetric matrix of a lower triangle."""
    matrix = np.zeros((n, n))
    matrix[np.tri(n, dtype=bool)] = cells
    return matrix + np.tril(matrix, -1).T


def read_covariance(arrays: Arrays, prefix: str, n: int) -> FloatArray:
    """P of a member's state, with the changes that are still pending."""
    matrix = unpacked(arrays[prefix + "covariance.cells"], n)
    pending = arrays[prefix + "covariance.pending"].reshape(-1, n)
    factor = arrays[prefix + "covariance.pending_factor"]
    stretch = float(arrays[prefix + "stretch"][0])
    return np.asarray((matrix - (pending.T * factor) @ pending) * stretch, dtype=np.float64)


def write_covariance(arrays: Arrays, prefix: str, matrix: FloatArray) -> None:
    """Into a member's state, with nothing pending."""
    arrays[prefix + "covariance.cells"] = packed(matrix)
    arrays[prefix + "covariance.pending"] = np.zeros(0)
    arrays[prefix + "covariance.pending_factor"] = np.zeros(0)
    arrays[prefix + "stretch"] = np.array([1.0, 0.0])


def cholesky(matrix: FloatArray) -> FloatArray:
    """Of a covariance; its diagonal is lifted where rounding has spoilt it, as the core does."""
    lift = 0.0
    while True:
        try:
            root = np.linalg.cholesky(matrix + lift * np.eye(len(matrix)))
            return np.asarray(root, dtype=np.float64)
        except np.linalg.LinAlgError:
            largest = float(np.abs(np.diag(matrix)).max())
            lift = 10.0 * lift if lift else 1e-14 * largest
            if not lift <= largest:
                raise


class LeastSquares(Rule):
    """What ridge and kernel share."""

    inputs: Any

    def __init__(self, member: Member, arrays: Arrays, n_inputs: int) -> None:
        super().__init__(member, arrays)
        self.width = n_inputs + 2 * member.n_labels
        self.base = self.array("weights").reshape(n_inputs, member.n_labels)
        self.gram = np.zeros((n_inputs, n_inputs))
        self.residual = np.zeros((n_inputs, member.n_labels))

    def add(self, block: RowBlock) -> None:
        z = self.inputs.of(block)
        residual = block.relevant - z @ self.base
        if block.unknown is not None:
            residual[block.unknown] = 0.0
        root = np.sqrt(block.weights)[:, None]
        z *= root
        residual *= root
        self.gram += z.T @ z
        self.residual += z.T @ residual

    def sums(self) -> dict[str, Any]:
        return {"gram": packed(self.gram), "residual": self.residual}

    def solve(self, sums: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
        """Weights and covariance over all rows: with P0 = C C^T, P = C (I + C^T G C)^-1 C^T."""
        n = len(self.base)
        root = cholesky(read_covariance(self.arrays, self.member.prefix, n))
        inner = np.eye(n) + root.T @ unpacked(sums["gram"], n) @ root
        both = np.linalg.solve(inner, np.hstack([root.T, root.T @ sums["residual"]]))
        covariance = root @ both[:, :n]
        return self.base + root @ both[:, n:], (covariance + covariance.T) / 2.0


class MergedKernel(LeastSquares):
    """Kernel least squares once the landmarks are complete: scale, width and landmarks stay as they are."""

    def __init__(self, member: Member, arrays: Arrays) -> None:
        n, seen = member.description.n_landmarks, int(arrays[member.prefix + "n_rows"][0])  # type: ignore[attr-defined]
        if seen < n:
            raise ValueError(
                f"model has learned {seen} rows, but must have learned {n}, the landmarks of its kernel, before "
                "statistics can be merged: let it learn a sample first"
            )
        super().__init__(member, arrays, n)
        self.inputs = KernelInputs(arrays, member.prefix + "landmarks.")

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        weights, covariance = self.solve(sums)
        out[self.member.prefix + "weights"] = weights.ravel()
        write_covariance(out, self.member.prefix, covariance)


class MergedRidge(LeastSquares):
    """Ridge regression at the scale of the common model; the result is expressed in the scale of all rows."""

    needs_moments = True

    def __init__(self, member: Member, arrays: Arrays) -> None:
        super().__init__(member, arrays, member.n_features + 1)
        self.scale = Moments.read(arrays, member.prefix + "scale.")
        self.inputs = RidgeInputs(self.scale)

    def finish(self, sums: dict[str, Any], common: Common, out: Arrays) -> None:
        weights, covariance = self.solve(sums)
        moments = self.scale + common["moments"].first(self.member.n_features)
        change = change_of_scale(self.inputs, RidgeInputs(moments))
        back = np.linalg.inv(change)  # z0 = change z1, so f = W^T z0 = (change^T W)^T z1
        out[self.member.prefix + "weights"] = (change.T @ weights).ravel()
        write_covariance(out, self.member.prefix, back @ covariance @ back.T)
        moments.write(out, self.member.prefix + "scale.")


def change_of_scale(old: RidgeInputs, new: RidgeInputs) -> FloatArray:
    """The matrix S with z_old = S z_new, but for values that one of the scales clips."""
    both = (old.inverse > 0.0) & (new.inverse > 0.0)
    ratio = np.where(both, old.inverse / np.where(both, new.inverse, 1.0), 1.0)
    shift = np.where(both, (new.mean - old.mean) * old.inverse / old.root, 0.0)
    change = np.diag(np.append(ratio, 1.0))
    change[:-1, -1] = shift
    return change


class RidgeInputs:
    """As in ridge.cpp: standardised features, clipped, over the root of their number; and 1 for the intercept."""

    def __init__(self, moments: Moments) -> None:
        self.n_features = len(moments.mean)
        self.mean, self.inverse = moments.means(), moments.inverse_deviations()
        self.root = float(np.sqrt(max(self.n_features, 1)))
        self.size = self.n_features + 1

    def of(self, block: RowBlock) -> FloatArray:
        u = (block.dense(self.n_features) - self.mean) * self.inverse
        inputs = np.ones((len(u), self.size))
        inputs[:, :-1] = np.clip(np.where(np.isnan(u), 0.0, u), -_CLIP, _CLIP) / self.root
        return inputs


class KernelInputs:
    """As in landmarks.hpp: exp(-|u - u'| / width) + 1 for every landmark u'.

    Distances of dense rows are those of the core, to the bit.
    """

    def __init__(self, arrays: dict[str, NDArray[Any]], prefix: str) -> None:
        self.mean, self.inverse = arrays[prefix + "mean"], arrays[prefix + "inverse"]
        self.width = float(arrays[prefix + "width"][0])
        self.n_features = len(self.mean)
        self.root = 1.0 / float(np.sqrt(max(int((self.inverse > 0.0).sum()), 1)))
        self.is_dense = bool(arrays[prefix + "is_dense"][0])
        unit, offset = arrays[prefix + "unit"], arrays[prefix + "offset"]
        self.landmarks: Any
        if self.is_dense:
            self.landmarks = unit.reshape(-1, self.n_features).astype(np.float32)
        else:
            from scipy.sparse import csr_array

            shape = (len(offset) - 1, self.n_features)
            self.landmarks = csr_array((unit, arrays[prefix + "index"], offset), shape=shape)
            self.squares = np.asarray(self.landmarks.power(2).sum(axis=1)).ravel()
            self.zero = self._unit(np.zeros(self.n_features), slice(None))
        self.size = self.landmarks.shape[0]

    def of(self, block: RowBlock) -> FloatArray:
        return self.values(self.points(block))

    def points(self, block: RowBlock) -> Any:
        """Rows as the landmarks are: standardised, as a matrix or sparse."""
        if self.is_dense:
            return self._unit(block.dense(self.n_features), slice(None)).astype(np.float32)
        return self._differences(block)

    def values(self, rows: Any) -> FloatArray:
        """Kernel values of points."""
        if self.is_dense:
            return _core.kernel_values(rows, self.landmarks, self.width)
        own = np.asarray(rows.power(2).sum(axis=1)).ravel()
        lengths = own[:, None] + self.squares
        distances: FloatArray = lengths - 2.0 * (rows @ self.landmarks.T).toarray()
        for i, j in np.argwhere(distances < _CLOSE * lengths):
            distances[i, j] = ((rows[[i]] - self.landmarks[[j]]).power(2)).sum()
        np.sqrt(distances, out=distances)
        distances *= -1.0 / self.width
        np.exp(distances, out=distances)
        distances += 1.0
        return distances

    def _unit(self, values: FloatArray, features: Any) -> FloatArray:
        u = (values - self.mean[features]) * self.inverse[features]
        return np.asarray(np.clip(np.where(np.isnan(u), 0.0, u), -_CLIP, _CLIP) * self.root)

    def _differences(self, block: RowBlock) -> Any:
        """Rows as differences to the standardised zero row, which are not zero only where a row is not."""
        from scipy.sparse import csr_array

        row, column, value = block.entries()
        known = column < self.n_features
        row, column, value = row[known], column[known], value[known]
        unit = self._unit(value, column) - self.zero[column]
        return csr_array((unit, (row, column)), shape=(block.rows.n, self.n_features))
