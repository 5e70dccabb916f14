"""``/labels``."""

from __future__ import annotations

from typing import Any

from boostline.serve.http.bodies import NAMES, RENAMES, Body
from boostline.serve.http.endpoint import Call, endpoint

CHANGE = Body("LabelChange", add=NAMES, rename=RENAMES, retire=NAMES, restore=NAMES)


@endpoint("GET", "/labels", "any")
def labels(call: Call) -> Any:
    """The labels."""
    known = call.service.labels
    return {
        "labels": [known.names[i] for i in known.active],
        "retired": [known.names[i] for i in known.retired],
    }


@endpoint("POST", "/labels", "admin", CHANGE)
async def change_labels(call: Call) -> Any:
    """Add, rename, retire or restore labels."""
    change = {field: value for field, value in call.body.items() if value is not None}
    await call.service.change_labels(change)
    return labels(call)
