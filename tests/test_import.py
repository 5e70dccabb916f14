"""``import boostline`` is light: quick, and without the libraries that only some of its parts need."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

HEAVY = (
    "sklearn",
    "river",
    "scipy",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "joblib",
    "typer",
)
# The aim is 0.2 s on a machine at rest; tests run beside others, which slows caches and clocks.
MOST_SECONDS = 0.6


def in_a_fresh_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_pulls_in_no_heavy_library():
    found = in_a_fresh_process(
        f"import sys, boostline; print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert found == "[]"


def test_the_default_model_learns_without_a_heavy_library():
    found = in_a_fresh_process(
        "import sys, boostline\n"
        "model = boostline.LabelRanker(3)\n"
        "for i in range(40):\n"
        "    model.learn([i % 3, 1.0], {i % 3})\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert found == "[]"


def test_import_is_quick():
    """CPU time, the least of several processes: what others do on this machine only ever adds."""
    code = "import time; t = time.process_time(); import boostline; print(time.process_time() - t)"
    in_a_fresh_process(code)  # compiles what has changed
    seconds = [float(in_a_fresh_process(code)) for _ in range(3)]
    assert min(seconds) < MOST_SECONDS, seconds


@pytest.mark.parametrize(
    ("part", "without"),
    [
        ("sklearn", ("river", "matplotlib")),
        ("river", ("sklearn", "matplotlib")),
        ("inspect", ("sklearn", "river", "scipy", "matplotlib")),
        ("evaluate", ("sklearn", "river", "scipy", "matplotlib")),
    ],
)
def test_a_part_brings_only_what_it_needs(part, without):
    if part in ("sklearn", "river"):
        pytest.importorskip(part)
    found = in_a_fresh_process(
        f"import sys, boostline.{part}; print([m for m in {without!r} if m in sys.modules])"
    )
    assert found == "[]"
