"""Charts of one look: matplotlib draws them, as SVG that is light or dark as its reader prefers."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from boostline.display.colours import DARK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["NARROW", "WIDE", "legend", "panels", "short", "svg", "title"]

# In inches: as wide as the text of a page (960 pixels), and for phones.
WIDE, NARROW = 10.0, 4.6
_LONGEST_NAME = 34


def panels(
    n: int, height: float, width: float = WIDE, across: int = 1, share: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure with `n` panels, each `height` inches high, `across` in a row where there is room.

    Examples
    --------
    >>> figure, axes = panels(3, height=2.0, across=2)
    >>> figure.get_size_inches().tolist(), len(axes)
    ([10.0, 4.0], 3)
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("charts need matplotlib: pip install 'boostline[plot]'") from error
    columns = 1 if width < WIDE else min(n, across)
    rows = -(-n // columns)
    # A Figure of its own, not pyplot's: no window, no global state.
    figure = Figure(figsize=(width, rows * height), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False, sharey=share).ravel())
    for axes in grid[n:]:
        axes.remove()
    for axes in grid[:n]:
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, grid[:n]


def title(axes: Axes, text: str) -> None:
    """Say what a panel shows."""
    axes.set_title(text, loc="left", fontsize=10.5, fontweight="bold")


def legend(figure: Figure) -> None:
    """Put one legend below all panels, where it hides nothing."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    # In as many columns as there is room for.
    for columns in range(min(4, len(found)), 0, -1):
        box = figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=columns,
            fontsize=9,
            frameon=False,
        )
        if columns == 1 or box.get_window_extent().width < 0.98 * figure.bbox.width:
            return
        box.remove()


def svg(figure: Figure) -> str:
    """The figure as SVG with a transparent ground; the same figure gives the same text.

    Examples
    --------
    >>> figure, [axes] = panels(1, height=2.0)
    >>> _ = axes.set_xlabel("examples learned")
    >>> ">examples learned</text>" in svg(figure)
    True
    """
    from matplotlib import rc_context

    buffer = io.StringIO()
    with (
        rc_context({"svg.fonttype": "none", "svg.hashsalt": "boostline"}),
        warnings.catch_warnings(),
    ):
        # The reader's fonts draw the text; that matplotlib's lacks a script does not matter.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.draw_without_rendering()  # an outside legend settles at the second pass
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.S)
    end = text.index(">") + 1
    return f"{text[:end]}\n<style>{_style()}</style>{text[end:]}"


def short(name: Any) -> str:
    r"""A name for an axis: not longer than there is room, and no formula.

    Examples
    --------
    >>> short("n" * 40), short("$")
    ('nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…', '\\$')
    """
    text = str(name)
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")


def _style() -> str:
    rules = [f"text:not([style*='fill']) {{ fill: {DARK['#000000']}; }}"]
    for light, dark in DARK.items():
        for use in ("fill", "stroke"):
            rules.append(f"[style*='{use}: {light}'] {{ {use}: {dark} !important; }}")
    return (
        "text { font-family: system-ui, sans-serif !important; }\n"
        f"@media (prefers-color-scheme: dark) {{ {' '.join(rules)} }}"
    )
