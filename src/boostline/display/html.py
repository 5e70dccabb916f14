"""Self-contained HTML pages: the reports of `inspect`, `reproduce` and `theory` look alike."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING

from boostline.display import charts
from boostline.display.colours import css

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: var(--ink); background: var(--paper); overflow-wrap: break-word; }
h1 { margin-bottom: .2rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 1rem; border-bottom: 1px solid var(--rule); line-height: 1.3; }
a { color: var(--blue); } nav a { margin-right: 1rem; }
p, li { max-width: 46rem; } li { margin: .3rem 0; }
figure { margin: 1.5rem 0; } figcaption { max-width: 46rem; margin-bottom: .6rem; }
img { width: 100%; height: auto; display: block; }
.note { color: var(--muted); font-size: .9rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0 .4rem; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: .3rem; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--rule); text-align: left;
         vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
thead th { vertical-align: bottom; border-bottom: 2px solid var(--muted); }
tbody th { font-weight: normal; }
.number { text-align: right; } td.number { white-space: nowrap; }
.plainly { border-left: 5px solid var(--vermillion); background: var(--panel); padding: .6rem 1rem; }
.holds { color: var(--good); } .fails { color: var(--bad); font-weight: bold; }
summary { cursor: pointer; }
.words { white-space: pre-wrap; background: var(--panel); padding: .6rem 1rem; }
mark { color: inherit; background: color-mix(in srgb, var(--blue) calc(var(--strength) * 50%), transparent); }
mark.against { background: color-mix(in srgb, var(--vermillion) calc(var(--strength) * 50%), transparent); }
code, pre { background: var(--panel); padding: .1rem .3rem; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """One page: a title and what is in it, as HTML.

    Examples
    --------
    >>> page("Figures", ["<h1>Figures</h1>"]).splitlines()[0]
    '<!doctype html>'
    """
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{css()}{_STYLE}</style></head><body>",
            *parts,
            "</body></html>\n",
        ]
    )


def chart(draw: Callable[[float], Figure], title: str, text: str = "") -> str:
    """A chart inside the page with its title above it; it is drawn again for narrow screens.

    Parameters
    ----------
    draw
        A function of the width in inches.
    title, text
        What it shows, and what there is to know of it.

    Examples
    --------
    >>> part = chart(lambda width: charts.panels(1, 2.0, width)[0], "a < b", "Since when.")
    >>> part.partition("<source")[0]
    '<figure><figcaption><strong>a &lt; b.</strong> Since when.</figcaption><picture>'
    """
    wide, narrow = (_address(draw(width)) for width in (charts.WIDE, charts.NARROW))
    return (
        f"<figure><figcaption><strong>{escape(title)}.</strong> {escape(text)}</figcaption><picture>"
        f'<source media="(max-width: 40rem)" srcset="{narrow}">'
        f'<img alt="{escape(title)}" src="{wide}"></picture></figure>'
    )


def _address(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(charts.svg(figure).encode()).decode()
