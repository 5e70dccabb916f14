"""A machine learning backend for Label Studio that asks a running ``boostline serve``.

Annotators see the labels that the service suggests. What they submit goes back to the service as feedback, which learns
from it. docs/how-to/label-studio.md says how to start it. The labelling configuration needs a ``Choices`` tag on a
``Text``; tasks of other kinds send the fields of their data as features.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
from typing import Any

from label_studio_ml.model import LabelStudioMLBase

from boostline.serve.client import Client, ServiceError

logger = logging.getLogger("boostline.label_studio")

#: Labels with at least this probability are suggested, and the best one in any case.
SUGGEST_FROM = 0.5


class BoostlineBackend(LabelStudioMLBase):  # type: ignore[misc]
    """Suggests the choices of a task, and tells the service what the annotators chose.

    ``BOOSTLINE_URL`` (default http://127.0.0.1:8000) and ``BOOSTLINE_TOKEN`` name the service. Only with a token of the
    role `admin`, or without tokens, can it add the choices that the service does not know yet.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.service = Client(
            os.environ.get("BOOSTLINE_URL", "http://127.0.0.1:8000"),
            os.environ.get("BOOSTLINE_TOKEN"),
        )
        found = [
            (name, control)
            for name, control in self.parsed_label_config.items()
            if control["type"] == "Choices"
        ]
        if self.parsed_label_config and not found:
            raise ValueError("label_config has no Choices, but must have one: labels are suggested")
        self.control: dict[str, Any] | None = None
        if found:
            self.name, self.control = found[0]
            self._add_labels(self.control["labels"])

    def predict(self, tasks: list[dict[str, Any]], **_: Any) -> list[dict[str, Any]]:
        """Rank the choices of every task, in Label Studio's format."""
        assert self.control is not None, "Label Studio calls setup() with a label_config first"
        return [self._suggest(task, self.control) for task in tasks]

    def fit(self, tasks: Any, workdir: str | None = None, **event: Any) -> dict[str, Any]:
        """Tell the service what an annotator chose; repeating it is safe."""
        data = event.get("data") or {}
        annotation, task = data.get("annotation"), data.get("task")
        if annotation is None or task is None or self.control is None:
            return {}
        if annotation.get("was_cancelled") or event.get("event") == "ANNOTATION_DELETED":
            return {}  # the log keeps what was told; skipped tasks tell nothing
        chosen = [
            choice
            for result in annotation.get("result", [])
            if result.get("from_name") == self.name
            for choice in result["value"]["choices"]
        ]
        answer = self.service.feedback(self._id(task), chosen, **self._input(task))
        logger.info("task %s: %s, revision %s", task.get("id"), chosen, answer["revision"])
        return {"offset": answer["offset"]}

    def _suggest(self, task: dict[str, Any], control: dict[str, Any]) -> dict[str, Any]:
        answer = self.service.rank(id=self._id(task), **self._input(task))
        known = [label for label in answer["labels"] if label["label"] in control["labels"]]
        chosen = [label for label in known if label["probability"] >= SUGGEST_FROM] or known[:1]
        return {
            "model_version": f"{answer['model']} {answer['version']}",
            "score": min((label["probability"] for label in chosen), default=0.0),
            "result": [
                {
                    "from_name": self.name,
                    "to_name": control["to_name"][0],
                    "type": "choices",
                    "value": {"choices": [label["label"] for label in chosen]},
                }
            ],
        }

    def _input(self, task: dict[str, Any]) -> dict[str, Any]:
        assert self.control is not None
        shown = self.control["inputs"][0]
        if shown["type"] == "Text":
            return {"text": str(task["data"][shown["value"]])}
        return {
            "features": {
                name: value
                for name, value in task["data"].items()
                if isinstance(value, int | float | str)
            }
        }

    def _id(self, task: dict[str, Any]) -> str:
        """The same task with the same data is the same event, so nothing is learned twice."""
        data = json.dumps(task["data"], sort_keys=True, ensure_ascii=True)
        return f"label-studio-{task.get('id')}-{hashlib.sha256(data.encode()).hexdigest()[:12]}"

    def _add_labels(self, labels: list[str]) -> None:
        known = self.service.ask("GET", "/labels")["labels"]
        new = [label for label in labels if label not in known]
        if not new:
            return
        try:
            self.service.ask("POST", "/labels", {"add": new})
        except ServiceError as error:
            logger.warning("the service does not know %s and refuses to add them: %s", new, error)


def main() -> None:
    from label_studio_ml.api import init_app

    parser = argparse.ArgumentParser(description="A Label Studio backend that asks boostline serve")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9090)
    parser.add_argument("--model-dir", default="label-studio-jobs", help="where job records go")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    app = init_app(BoostlineBackend, model_dir=arguments.model_dir)
    app.run(host=arguments.host, port=arguments.port)


if __name__ == "__main__":
    main()
