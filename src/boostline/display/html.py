"""Self-contained HTML pages: the reports of `inspect`, `reproduce` and `theory` look alike."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
h1 { margin-bottom: .2rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
nav a { margin-right: 1rem; }
img { max-width: 100%; height: auto; display: block; }
figure { margin: 1.2rem 0; } figcaption, .note { color: #444; font-size: .9rem; max-width: 50rem; }
p { max-width: 52rem; } li { margin: .3rem 0; } .figure { color: #555; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: 1rem 0 .3rem;
        font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: bold; padding-bottom: .3rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; }
thead th { vertical-align: bottom; border-bottom: 2px solid #888; }
th:first-child, td:first-child { text-align: left; }
.scroll tbody th, .scroll td { white-space: nowrap; }
.plainly { border-left: 5px solid #D55E00; background: #fdf3ec; padding: .6rem 1rem; }
.holds { color: #00704f; } .fails { color: #b03a00; font-weight: bold; }
code, pre { background: #f4f4f4; padding: .1rem .3rem; }
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
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
            *parts,
            "</body></html>\n",
        ]
    )


def image(png: bytes, title: str) -> str:
    """A picture inside the page.

    Examples
    --------
    >>> image(b"PNG", "a < b")
    '<img alt="a &lt; b" src="data:image/png;base64,UE5H">'
    """
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="{html.escape(title)}" src="data:image/png;base64,{data}">'
