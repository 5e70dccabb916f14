"""After how many further examples the labels of an example arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

DelayLike = int | str | Callable[[int], int] | Iterable[int]


class Delays:
    """The delay of each example, whichever way it is given.

    Parameters
    ----------
    delay
        One number for all, one per example (array, iterable), a function of the example's number,
        or the name of the item in the stream that holds it.
    """

    def __init__(self, delay: DelayLike) -> None:
        self.field: str | None = None
        self.none = False
        self._constant: int | None = None
        self._function: Callable[[int], Any] | None = None
        self._iterator: Iterator[Any] | None = None
        if isinstance(delay, str):
            self.field = delay
        elif callable(delay):
            self._function = delay
        elif isinstance(delay, np.ndarray) and delay.ndim != 0:
            if delay.ndim != 1:
                raise ValueError(
                    f"delay has shape {delay.shape}, but must have one number per example"
                )
            self.none = delay.size > 0 and not delay.any() and delay.dtype.kind in "iu"
            self._iterator = iter(delay)
        elif isinstance(delay, Iterable):
            self._iterator = iter(delay)
        else:
            self._constant = check_delay(delay, "delay")
            self.none = self._constant == 0

    def of(self, example: int, carried: Any) -> int:
        """Return the delay of an example; `carried` is what the stream's item says."""
        if self._constant is not None:
            return self._constant
        if self.field is not None:
            return check_delay(carried, f"{self.field} of example {example}")
        if self._function is not None:
            return check_delay(self._function(example), f"delay({example})")
        assert self._iterator is not None
        try:
            value = next(self._iterator)
        except StopIteration:
            raise ValueError(
                f"delay has {example} values, but there are more examples: it must have one for each"
            ) from None
        return check_delay(value, f"delay of example {example}")

    def __repr__(self) -> str:
        if self._constant is not None:
            return str(self._constant)
        if self.field is not None:
            return self.field
        return "per example"


def check_delay(value: Any, name: str) -> int:
    """Refuse a delay that is no integer of at least 0."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} is {value!r}, but must be a whole number of examples")
    if value < 0:
        raise ValueError(
            f"{name} is {value}, but must be at least 0: labels cannot arrive before their example"
        )
    return int(value)
