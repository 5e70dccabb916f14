"""States of Python objects as JSON and arrays, and back, without running anything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostline.saving.container import dtype_name
from boostline.saving.errors import LoadError

# JSON readers refuse longer whole numbers (sys.set_int_max_str_digits).
_MAX_INT_BITS = 10_000
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def pack(value: Any, prefix: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """JSON for a state; its arrays are added to `arrays` under the names ``prefix.0``, ``prefix.1``, ...

    Takes dicts, lists, tuples, strings, numbers, bools, None, arrays and NumPy scalars, nested at will.

    Examples
    --------
    >>> arrays = {}
    >>> pack({"mean": np.zeros(2), "n": 3}, "python.0", arrays)
    {'dict': [['mean', {'array': 'python.0.0'}], ['n', {'value': 3}]]}
    >>> list(arrays)
    ['python.0.0']
    """
    numbers = itertools.count()

    def packed(value: Any, where: str) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            if dtype_name(array.dtype) is None:
                raise TypeError(
                    f"{prefix}: {where} is an array of {array.dtype}, which the format does not have"
                )
            name = f"{prefix}.{next(numbers)}"
            arrays[name] = array
            return {"scalar" if isinstance(value, np.generic) else "array": name}
        if isinstance(value, dict):
            for key in value:
                if type(key) not in (str, int, bool):
                    raise TypeError(
                        f"{prefix}: {where} has the key {key!r}, but keys are strings or whole numbers"
                    )
            return {"dict": [[key, packed(v, f"{where}[{key!r}]")] for key, v in value.items()]}
        if type(value) in (list, tuple):
            kind = "list" if type(value) is list else "tuple"
            return {kind: [packed(v, f"{where}[{i}]") for i, v in enumerate(value)]}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
        if type(value) is int and value.bit_length() > _MAX_INT_BITS:
            raise TypeError(f"{prefix}: {where} is a whole number of too many digits")
        if value is None or type(value) in (str, int, float, bool):
            return {"value": value}
        raise TypeError(
            f"{prefix}: {where} is a {type(value).__name__}; a state has dicts, lists, tuples, strings, "
            "numbers, bools, None and arrays"
        )

    return packed(value, "the state")


def unpack(packed: Any, read: Callable[[str], NDArray[Any]]) -> Any:
    """The state that `pack` was given; `read` gives an array by its name.

    Examples
    --------
    >>> unpack({"tuple": [{"value": 3}, {"float": "inf"}]}, {}.__getitem__)
    (3, inf)
    """
    if not isinstance(packed, dict) or len(packed) != 1:
        raise LoadError("a state has a wrong description")
    [(kind, content)] = packed.items()
    match kind:
        case "array":
            return read(content)
        case "scalar":
            return read(content)[()]
        case "dict":
            return {key: unpack(value, read) for key, value in content}
        case "list":
            return [unpack(value, read) for value in content]
        case "tuple":
            return tuple(unpack(value, read) for value in content)
        case "float":
            return _NOT_FINITE[content]
        case "value":
            return content
    raise LoadError(f"a state has a part of the unknown kind {kind!r}")
