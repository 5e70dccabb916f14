"""Pictures of a model, as PNG. Okabe and Ito's colours, which people with any colour vision tell apart."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from boostline.evaluate.plots import OKABE_ITO
from boostline.inspect.explanations import Explanation
from boostline.inspect.feature_rows import FeatureRow
from boostline.inspect.label_rows import LabelRow
from boostline.inspect.learner_rows import LearnerRow
from boostline.inspect.recorder import Recording

BLUE, RED, GREEN = OKABE_ITO[:3]
_LONGEST_NAME = 28
# More bars than this cannot be read.
_MOST_BARS = 25


def learning_curve(history: Recording) -> bytes:
    """Rank loss along the stream."""
    figure, axes = _figure(4.0)
    axes.plot(history.clock, history.recent_loss, color=BLUE, label="since the point before")
    axes.plot(history.clock, history.mean_loss, color=RED, linestyle="--", label="mean of all")
    axes.set(
        title="Rank loss of the scores given before learning",
        xlabel="examples learned",
        ylabel="rank loss (share of pairs)",
    )
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return _png(figure)


def weights_over_time(history: Recording, names: list[str]) -> bytes:
    """The learners' weights along the stream; the largest at the end are named."""
    figure, axes = _figure(4.5)
    last = np.argsort(-np.abs(history.weights[-1]), kind="stable")[:6]
    for i in range(history.weights.shape[1]):
        if i not in last:
            axes.plot(history.clock, history.weights[:, i], color="#bbbbbb", linewidth=0.6)
    for colour, i in zip(OKABE_ITO, last, strict=False):
        axes.plot(history.clock, history.weights[:, i], color=colour, label=f"{i} {names[i]}")
    axes.set(
        title="Learners' weights (grey: all others)",
        xlabel="examples learned",
        ylabel="weight",
    )
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _png(figure)


def learners_picture(rows: list[LearnerRow]) -> bytes:
    """Edges and weights of all learners, in their order."""
    figure, (above, below) = _figure(5.5, rows=2)
    places = [row.index for row in rows]
    above.bar(places, [row.edge for row in rows], color=BLUE)
    above.axhline(0, color="black", linewidth=0.8)
    above.set(title="Edge over random guessing", ylabel="edge")
    below.bar(places, [row.weight for row in rows], color=[_tint(row.listened) for row in rows])
    below.axhline(0, color="black", linewidth=0.8)
    if len(rows) <= _MOST_BARS:
        below.set_xticks(
            places, [f"{row.index} {row.name}" for row in rows], rotation=45, ha="right"
        )
        above.set_xticks(places)
    else:
        for axes in (above, below):
            axes.locator_params(axis="x", integer=True)
    below.set(
        title="Weight (the darker, the more often the learner is listened to)",
        xlabel="learner",
        ylabel="weight",
    )
    return _png(figure)


def features_picture(rows: list[FeatureRow]) -> bytes:
    """The features that split most."""
    shown = [row for row in rows if row.splits][:_MOST_BARS][::-1]
    figure, axes = _figure(1.5 + 0.25 * len(shown))
    axes.barh([_short(row.name) for row in shown], [row.importance for row in shown], color=GREEN)
    axes.set(title="Features that split", xlabel="share of the trees' importance")
    return _png(figure)


def labels_picture(rows: list[LabelRow]) -> bytes:
    """The labels that are ranked worst."""
    shown = [row for row in rows if not np.isnan(row.missed)][:_MOST_BARS][::-1]
    figure, axes = _figure(1.5 + 0.25 * len(shown))
    axes.barh([_short(row.name) for row in shown], [row.missed for row in shown], color=RED)
    axes.set(
        title="Labels ranked worst", xlabel="irrelevant labels above it when it is relevant (share)"
    )
    axes.set_xlim(0, 1)
    return _png(figure)


def explanation_picture(why: Explanation) -> bytes:
    """What moves one label up or down."""
    shown = why.top(_MOST_BARS)[::-1]
    lifts = [float(why.lifts[i]) for i in shown]
    figure, axes = _figure(1.5 + 0.25 * len(shown))
    colours = [BLUE if lift >= 0 else RED for lift in lifts]
    axes.barh([f"{i} {why.names[i]}" for i in shown], lifts, color=colours)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set(
        title=f"Why {_short(why.name)} is on place {why.rank}",
        xlabel="share of the score, less the average label's",
    )
    return _png(figure)


def _figure(height: float, rows: int = 1) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'boostline[plot]'") from error
    # A Figure of its own, without pyplot: no window, no global state.
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots(rows, 1)
    for one in np.atleast_1d(axes):
        one.grid(alpha=0.3)
        one.set_axisbelow(True)
    return figure, axes


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # Names in scripts that the font lacks are shown as boxes; the tables have them in full.
        warnings.filterwarnings("ignore", message="Glyph")
        # Without the date and version the same picture is the same bytes.
        figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()


def _short(name: Any) -> str:
    text = str(name)
    if len(text) > _LONGEST_NAME:
        text = text[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")  # else it would be set as mathematics


def _tint(strength: float) -> tuple[float, float, float]:
    blue = np.array([0x00, 0x72, 0xB2]) / 255
    mixed = 0.85 + (blue - 0.85) * strength
    return tuple(float(c) for c in mixed)  # type: ignore[return-value]
