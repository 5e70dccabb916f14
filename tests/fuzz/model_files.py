"""Forged model files with a correct checksum: `load` refuses them, or gives a model that works.

Numbers, shapes, types and names of arrays, and every value of the description are changed. A model that loads has to
score, learn and be saved, its scores have to be finite, and what it saves has to load.
"""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from forging import forged, parts
from mutations import mutated
from zoo import Plan, random_labels, random_rows

import boostline as bl
from boostline.saving import LoadError
from boostline.saving.limits import least_bytes
from boostline.text import TextRanker

#: Different models that files are forged from.
N_BASES = 150
ODD_NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 255, 2**15, 2**24, 2**31 - 1, -(2**31), 2**32, 2**53, 2**63 - 1, -(2**63)),
    *(0.5, -0.5, 1e-9, 1e17, 1e150, 1e155, -1e155, 1e300, 1e308, -1e308, 1e-160, 1e-320, 5e-324),
    *(-5e-324, -0.0, float("nan"), float("inf"), float("-inf")),
)
ODD_VALUES = (*ODD_NUMBERS, None, True, False, "", "0", "auto", "rank", [], [0], {}, "x" * 300)

#: Two models of this size fit into what the harness allows (MEMORY_BYTES).
LARGE_BYTES = 2**29


def case(seed: int, folder: Path, outcomes: Counter[str]) -> None:
    """One forged file."""
    rng = np.random.default_rng([seed, 1])
    content = _base(int(rng.integers(N_BASES)))
    metadata, arrays = parts(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3, 6]))):
        if arrays and rng.random() < 0.65:
            _change_arrays(rng, arrays)
        else:
            _change_description(rng, metadata)
    content = _mended(rng, metadata, arrays)
    if rng.random() < 0.05:
        content = mutated(rng, content, 1)
    path = folder / "m.blm"
    path.write_bytes(content)
    outcomes["loaded" if _use(rng, path) else "refused"] += 1


@lru_cache(maxsize=N_BASES)
def _base(number: int) -> bytes:
    """The file of a model that has learned a little, or nothing."""
    rng = np.random.default_rng([number, 2])
    if number % 15 == 7:
        return _text_base(rng)
    while True:
        model = Plan(int(rng.integers(2**32)), python=False).make()
        n, d = int(rng.choice([0, 3, 40, 80])), int(rng.integers(1, 5))
        if n:
            Y = random_labels(rng, n, model.n_labels)
            model.learn(random_rows(rng, n, d), Y)
            if number % 5 == 0:
                model.add_labels(["new"] if model.labels else 1)
                model.add_features(2)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.blm"
            try:
                bl.saving.save(model, path, {"rows": n, "list": [1, 2.5, np.arange(3)]})
            except TypeError:  # a loss of our own, which no file can hold
                continue
            return path.read_bytes()


def _text_base(rng: np.random.Generator) -> bytes:
    model = TextRanker(
        n_columns=2 ** int(rng.integers(8, 20)),
        pairs=bool(rng.integers(2)),
        characters=None if rng.random() < 0.5 else (2, 3),
        n_embedding=int(rng.choice([0, 2])),
        max_bytes=None if rng.random() < 0.7 else 50_000_000,
    )
    if n := int(rng.choice([0, 1, 30])):
        model.learn([_text(rng) for _ in range(n)], [_tags(rng) for _ in range(n)])
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.blm")
        return (Path(folder) / "m.blm").read_bytes()


def _text(rng: np.random.Generator) -> str:
    return " ".join(f"word{n}" for n in rng.integers(30, size=int(rng.integers(0, 9))))


def _tags(rng: np.random.Generator) -> set[str]:
    return {f"tag {n}" for n in rng.integers(6, size=int(rng.integers(0, 3)))}


# Forging.


def _change_arrays(rng: np.random.Generator, arrays: dict[str, Any]) -> None:
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name]
    what = rng.random()
    if what < 0.55:
        arrays[name] = _odd_entries(rng, array)
    elif what < 0.65:
        arrays[name] = np.full_like(array, _fitting(rng, array.dtype))
    elif what < 0.72 and array.dtype.kind in "fi":
        with np.errstate(all="ignore"):
            arrays[name] = (array * rng.choice([-1, 2, 0, 1000, -3])).astype(array.dtype)
    elif what < 0.76:
        flat = array.reshape(-1).copy()
        rng.shuffle(flat)
        arrays[name] = flat.reshape(array.shape)
    elif what < 0.86:
        arrays[name] = _other_shape(rng, array)
    elif what < 0.90:
        kind = str(rng.choice(["f8", "f4", "i8", "i4", "u8", "u1", "i2", "b1"]))
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(kind)
    elif what < 0.93:
        del arrays[name]
    elif what < 0.96:
        arrays[name + str(rng.choice(["x", ".y", "1"]))] = array
    else:
        other = str(rng.choice(sorted(arrays)))
        arrays[name], arrays[other] = arrays[other], arrays[name]


def _odd_entries(rng: np.random.Generator, array: Any) -> Any:
    array = array.copy()
    flat = array.reshape(-1)
    for _ in range(int(rng.integers(1, 4)) if len(flat) else 0):
        place = rng.integers(len(flat))
        if rng.random() < 0.3 and array.dtype.kind in "iu":  # a near miss
            with np.errstate(all="ignore"):
                flat[place] += np.array(rng.integers(1, 4)).astype(array.dtype)
        else:
            flat[place] = _fitting(rng, array.dtype)
    return array


def _fitting(rng: np.random.Generator, dtype: Any) -> Any:
    """An odd number that the type can hold."""
    value = ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(value)
    if dtype.kind == "b":
        return bool(rng.integers(2))
    if not np.isfinite(value):
        value = -1
    info = np.iinfo(dtype)
    return dtype.type(min(max(int(value), info.min), info.max))


def _other_shape(rng: np.random.Generator, array: Any) -> Any:
    flat = array.reshape(-1)
    choice = rng.integers(6)
    if choice == 0:
        return flat[: int(rng.integers(len(flat) + 1))]
    if choice == 1:
        return np.concatenate([flat, flat[: int(rng.integers(1, 4))]])
    if choice == 2:
        return np.concatenate([flat, np.zeros(int(rng.choice([1, 7, 1000])), array.dtype)])
    if choice == 3:
        return flat[:, None]
    if choice == 4:
        return flat[:0]
    return array.reshape((1, *array.shape))


def _change_description(rng: np.random.Generator, metadata: dict[str, Any]) -> None:
    """Replace, remove or add one value somewhere in the JSON."""
    places = list(_places(metadata))
    holder, key = places[rng.integers(len(places))]
    what = rng.random()
    old = holder[key]
    if what < 0.5:
        holder[key] = copy.deepcopy(ODD_VALUES[rng.integers(len(ODD_VALUES))])
    elif what < 0.75 and isinstance(old, int | float) and not isinstance(old, bool):
        holder[key] = old + int(rng.integers(-2, 3)) if rng.random() < 0.7 else old * 1000
    elif what < 0.85:
        del holder[key]
    elif what < 0.95 and isinstance(old, list) and old:
        old.append(copy.deepcopy(old[rng.integers(len(old))]))
    else:
        other, there = places[rng.integers(len(places))]
        holder[key] = copy.deepcopy(other[there]) if key in holder or holder is other else old


def _places(value: Any) -> Any:
    """All (container, key) below `value`, but the container of the file's own sums."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _mended(rng: np.random.Generator, metadata: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """A file of them. What JSON or the checksum cannot hold is left as it would be written by hand."""
    try:
        return forged(metadata, arrays)
    except (KeyError, TypeError, ValueError):
        encoded = json.dumps({"__metadata__": {"boostline": json.dumps(metadata)}}).encode()
        return len(encoded).to_bytes(8, "little") + encoded


# Use.


def _use(rng: np.random.Generator, path: Path) -> bool:
    """Whether the file loads; if so the model has to work."""
    try:
        model, _ = bl.saving.load_with_extra(path, n_threads=int(rng.integers(1, 3)))
    except LoadError as error:
        if isinstance(error.__cause__, MemoryError):
            raise AssertionError("load allocated without bound before it refused") from error
        return False
    if isinstance(model, TextRanker):
        _use_text(rng, path, model)
        return True
    was_new = model.n_features is None
    d = model.n_features or len(model.features or [1, 2, 3])
    # Allowed, but rows of it would take too long, or copies of it too much.
    needed = least_bytes(model.learners, model.n_labels, d)
    if d > 100_000 or model.n_labels > 2_000 or needed > LARGE_BYTES:
        return True
    X = random_rows(rng, 4, d)
    Y = random_labels(rng, 4, model.n_labels)
    try:
        _finite(model.score(X), "score")
    except ValueError as error:
        # Before the first example nobody can know whether the learners fit to its features.
        if model.n_features is None and re.search(
            "x has|covariates|can be used|max_bytes is", str(error)
        ):
            return True
        raise
    model.rank(X, top=2)
    _probable(model.probabilities(X))
    try:
        for _ in range(2):
            _finite(model.learn(X, Y), "the score before learning")
    except ValueError as error:
        if "no more of them can be counted" in str(error):
            return True
        raise
    except MemoryError as error:
        # A short file may describe a model as large as a user may make one, as long as it has learned nothing.
        if was_new and "there is no memory" in str(error):
            return True
        raise
    _finite(model.score(X), "the score after learning")
    _probable(model.probabilities(X))
    model.predict(X, optimize="macro-f1")
    if rng.random() < 0.3:
        try:
            model.add_labels(["another"] if model.labels else 1)
            model.add_features(["another"] if model.features else 1)
        except ValueError as error:
            if "max_bytes is" in str(error):  # no room to grow
                return True
            raise
        X = random_rows(rng, 4, d + 1)
        Y = random_labels(rng, 4, model.n_labels)
        _finite(model.learn(X, Y), "the score after growth")
    again = path.with_name("again.blm")
    model.save(again)
    np.testing.assert_array_equal(bl.load(again).score(X), model.score(X))
    return True


def _use_text(rng: np.random.Generator, path: Path, model: TextRanker) -> None:
    if model.booster.n_labels > 2_000:
        return
    text = _text(rng)
    try:
        model.rank(text)
        _finite(model.score(text), "score")
        model.learn([text, _text(rng)], [_tags(rng), {"new one"}])
    except ValueError as error:
        # No room to grow, or to begin; or a number that only a file can have.
        if re.search("max_bytes is|no more of them can be counted|can be used", str(error)):
            return
        raise
    _finite(model.score(text), "the score after learning")
    _probable(model.probabilities(text))
    again = path.with_name("again.blm")
    model.save(again)
    np.testing.assert_array_equal(bl.load(again).score(text), model.score(text))


def _finite(scores: Any, what: str) -> None:
    assert np.isfinite(scores).all(), f"{what} is not finite"


def _probable(chances: Any) -> None:
    assert ((chances > 0) & (chances < 1)).all(), "a probability is not between 0 and 1"
