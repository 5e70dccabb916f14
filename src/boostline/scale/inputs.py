"""What least squares learns from, in NumPy: standardised features (ridge.cpp) and kernel values (landmarks.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline import _core
from boostline.scale.row_blocks import RowBlock
from boostline.scale.sums import FloatArray, Moments

__all__ = ["KernelInputs", "RidgeInputs"]

_CLIP = 5.0
# Squared distances below this, relative to the rows' lengths, are computed once more without cancellation.
_CLOSE = 1e-6


class RidgeInputs:
    """Standardised features, clipped, over the root of their number; and 1 for the intercept."""

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
    """exp(-|u - u'| / width) + 1 for every landmark u'; distances of dense rows are those of the core, to the bit."""

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
