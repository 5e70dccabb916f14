"""``/rank`` and ``/feedback``, and many of them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, NotRequired, TypedDict

from boostline.serve.errors import Invalid
from boostline.serve.http.bodies import FEATURES, NAME, NAMES, TEXT, Body, whole
from boostline.serve.http.endpoint import Call, endpoint
from boostline.serve.live.requests import FeedbackRequest, RankRequest
from boostline.serve.store.commit_queue import Answer, Tell


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
def rank(call: Call) -> asyncio.Future[bytes]:
    """Rank the labels of an example."""
    body, features = call.body, _features(call.body)
    if features is None:
        raise Invalid(
            "features", "features is missing, but must be a list or an object (or give text)"
        )
    return _answer(call.service.rank, RankRequest(body["id"], features, body["top"], call.raw))


@endpoint("POST", "/feedback", "feedback", FEEDBACK, FeedbackAnswer, batch=True)
def feedback(call: Call) -> asyncio.Future[bytes]:
    """Give the labels of a ranking, or of a new example."""
    body = call.body
    relevant, irrelevant, unknown = (body[name] for name in ("relevant", "irrelevant", "unknown"))
    if relevant is None and irrelevant is None:
        raise Invalid("relevant", "relevant is missing, but must be a list of labels")
    seen = dict.fromkeys(relevant or (), "relevant")
    for field in ("irrelevant", "unknown"):
        for label in body[field] or ():
            if label in seen:
                raise Invalid(field, f"{field} has label {label!r}, but {seen[label]} has it too")
            seen[label] = field
    request = FeedbackRequest(
        body["id"], relevant or [], irrelevant, unknown or [], body["revision"], _features(body)
    )
    return _answer(call.service.feedback, request)


def _features(body: dict[str, Any]) -> Any:
    features, text = body["features"], body["text"]
    if features is not None and text is not None:
        raise Invalid("text", "text is given next to features, but only one of them can be")
    return features if text is None else text


def _answer(begin: Callable[[Any, Tell], None], request: Any) -> asyncio.Future[bytes]:
    """The answer when it is on disk."""
    future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def tell(answer: Answer) -> None:
        if future.done():  # nobody waits: the client has disconnected
            return
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    begin(request, tell)
    return future
