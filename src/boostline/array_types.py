"""Names for the types of arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Arrays: TypeAlias = dict[str, NDArray[Any]]
