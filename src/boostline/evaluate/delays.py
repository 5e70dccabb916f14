"""After how many further examples the labels of an example arrive."""

from __future__ import annotations

import itertools
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
        self._name, self._text = "delay of example {}", "per example"
        self._values: Iterator[Any] = iter(())
        if isinstance(delay, str):
            self.field = self._text = delay
            self._name = f"{delay} of example {{}}"
        elif callable(delay):
            self._name = "delay({})"
            self._values = map(delay, itertools.count())
        elif isinstance(delay, Iterable) and getattr(delay, "ndim", 1) != 0:
            if isinstance(delay, np.ndarray) and delay.ndim != 1:
                raise ValueError(
                    f"delay has shape {delay.shape}, but must have one number per example"
                )
            self._values = iter(delay)
        else:
            constant = check_delay(delay, "delay")
            self.none, self._text = constant == 0, str(constant)
            self._values = itertools.repeat(constant)

    def of(self, example: int, carried: Any) -> int:
        """Return the delay of the next example; `carried` is the one in the stream's item."""
        if self.field is None:
            try:
                carried = next(self._values)
            except StopIteration:
                raise ValueError(
                    f"delay has {example} values, but there are more examples: it must have one for each"
                ) from None
        return check_delay(carried, self._name.format(example))

    def __repr__(self) -> str:
        return self._text


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
