"""The colours of pages and charts, on light and on dark."""

from __future__ import annotations

# Name: on light, on dark. The hues of lines are Okabe and Ito's, which people with any colour vision tell apart; on
# dark they are a little lighter. Each has a contrast of at least 3 to its paper, text one of at least 4.5.
COLOURS = {
    "ink": ("#000000", "#e8e8e8"),
    "muted": ("#555555", "#a9adb3"),
    "rule": ("#d4d4d4", "#3b3f45"),
    "paper": ("#ffffff", "#15171b"),
    "panel": ("#f3f4f6", "#24272c"),
    "blue": ("#0072b2", "#3a9bdc"),
    "vermillion": ("#d55e00", "#f07d2c"),
    "green": ("#009e73", "#21b98d"),
    "purple": ("#cc79a7", "#dd97be"),
    "orange": ("#e69f00", "#f2b632"),
    "sky": ("#56b4e9", "#93d2f6"),
    "good": ("#00704f", "#45cba0"),
    "bad": ("#b03a00", "#ff9d61"),
}
#: What a colour on light is on dark.
DARK = dict(COLOURS.values())
#: The colours of lines, in the order in which they are taken.
SERIES = tuple(
    COLOURS[name][0]
    for name in ("blue", "vermillion", "green", "purple", "orange", "sky", "muted", "ink")
)


def css() -> str:
    """The colours as variables of a style sheet, such as ``var(--ink)``; dark where the reader prefers it.

    Examples
    --------
    >>> "--blue: #0072b2;" in css()
    True
    """
    light, dark = (
        " ".join(f"--{name}: {pair[side]};" for name, pair in COLOURS.items()) for side in (0, 1)
    )
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"
    )
