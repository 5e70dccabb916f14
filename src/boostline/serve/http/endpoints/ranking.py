"""``/rank`` and ``/feedback``, and many of them at once."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from boostline.serve.errors import Invalid
from boostline.serve.http.bodies import FEATURES, NAME, NAMES, SHARE, TEXT, Body, one_of, whole
from boostline.serve.http.endpoint import Call, endpoint


class RankedLabel(TypedDict):
    """A label of a ranking."""

    label: str
    score: float
    probability: float


class Ranking(TypedDict):
    """What /rank answers."""

    id: str
    model: Annotated[str, "The name of the model that ranked."]
    version: Annotated[int, "Events applied to the model that ranked."]
    labels: Annotated[list[RankedLabel], "The best first."]
    cold: NotRequired[Annotated[bool, "Whether the model has learned nothing yet."]]
    known_words: NotRequired[
        Annotated[
            int, "Of a text: how many of its words were learned; with 0, only frequency counts."
        ]
    ]


class FeedbackAnswer(TypedDict):
    """What /feedback answers."""

    id: str
    revision: int
    offset: int
    learn: Annotated[bool, "Whether it is learned; a later revision is only kept."]
    note: NotRequired[str]


RANK = Body(
    "RankRequest",
    id=NAME.described("Makes repeating safe; else one is made."),
    features=FEATURES,
    text=TEXT,
    top=whole(1).described("How many labels; all if not given."),
    threshold=SHARE.described("Only labels with a probability above it."),
    optimize=one_of("micro-f1", "macro-f1").described("Only the labels named for this measure."),
)
FEEDBACK = Body(
    "Feedback",
    id=NAME.described("Of a ranking, or of a new example with features or text.").required(),
    relevant=NAMES,
    irrelevant=NAMES.described("If given, labels that are not named are unknown."),
    unknown=NAMES.described("If irrelevant is not given, all other labels are irrelevant."),
    revision=whole(1),
    features=FEATURES,
    text=TEXT,
)


@endpoint("POST", "/rank", "rank", RANK, Ranking, batch=True)
async def rank(call: Call) -> bytes:
    """Rank the labels of an example."""
    if not _has_features(call):
        raise Invalid("features", "is missing, but must be a list or an object (or give text)")
    if call.body["threshold"] is not None and call.body["optimize"] is not None:
        raise Invalid("optimize", "is given next to threshold, but only one of them can be")
    return await call.service.rank(call.body, call.raw)


@endpoint("POST", "/feedback", "feedback", FEEDBACK, FeedbackAnswer, batch=True)
async def feedback(call: Call) -> bytes:
    """Give the labels of a ranking, or of a new example."""
    _has_features(call)
    body = call.body
    if body["relevant"] is None and body["irrelevant"] is None:
        raise Invalid("relevant", "is missing, but must be a list of labels")
    seen: dict[str, str] = {}
    for field in ("relevant", "irrelevant", "unknown"):
        for label in body[field] or ():
            if label in seen:
                raise Invalid(field, f"has label {label!r}, but {seen[label]} has it too")
            seen[label] = field
    return await call.service.feedback(body)


def _has_features(call: Call) -> bool:
    features, text = call.body["features"], call.body["text"]
    if features is not None and text is not None:
        raise Invalid("text", "is given next to features, but only one of them can be")
    return features is not None or text is not None
