"""The contract of the API, asked of a real server."""

from __future__ import annotations

import json

import pytest
from serving import LABELS, features, label, serving

pytestmark = pytest.mark.process


def problem(answer, status, field=None):
    assert answer.status == status, answer.raw
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json
    assert told["title"] and told["detail"]
    assert told.get("field") == field, told
    return told["detail"]


def test_a_ranking_is_answered_with_its_id_and_the_best_labels(server):
    answer = server.post("/rank", {"id": "r1", "features": {"f0": 0.3, "colour": "red"}, "top": 2})
    assert answer.status == 200
    told = answer.json
    assert told["id"] == "r1" and told["model"] == "first"
    assert isinstance(told["version"], int)
    assert len(told["labels"]) == 2
    assert {one["label"] for one in told["labels"]} <= set(LABELS)
    assert all(0 <= one["probability"] <= 1 and "score" in one for one in told["labels"])
    assert len(server.post("/rank", {"features": {"f0": 0.3}}).json["labels"]) == 3


def test_the_same_request_again_has_the_same_answer_and_another_is_a_conflict(server):
    request = {"id": "r2", "features": {"f0": 0.3, "colour": "red"}, "top": 2}
    first = server.post("/rank", request)
    for i in range(5):
        server.post("/feedback", {"id": f"r2-{i}", "features": features(i), "relevant": [label(i)]})
    assert server.post("/rank", request).raw == first.raw
    problem(server.post("/rank", {**request, "features": {"f0": 0.4}}), 409, "id")
    problem(server.post("/rank", {**request, "top": 1}), 409, "id")
    problem(server.post("/rank", {**request, "threshold": 0.5}), 409, "id")
    problem(server.post("/rank", {**request, "optimize": "micro-f1"}), 409, "id")


def test_a_ranking_ends_at_the_threshold(server):
    for i in range(30):
        body = {"id": f"th{i}", "features": features(i), "relevant": [label(i)]}
        offset = server.post("/feedback", body).json["offset"]
    server.reached(offset)
    whole = server.post("/rank", {"features": features(0)}).json["labels"]
    likely = [one["probability"] for one in whole]
    assert likely == sorted(likely, reverse=True) and likely[0] > likely[-1]
    cut = (likely[0] + likely[-1]) / 2
    part = server.post("/rank", {"features": features(0), "threshold": cut}).json["labels"]
    assert part == [one for one in whole if one["probability"] > cut]
    for aim in ("micro-f1", "macro-f1"):
        named = server.post("/rank", {"features": features(0), "optimize": aim}).json["labels"]
        assert named == whole[: len(named)]


def test_feedback_is_learned_once_and_its_revisions_are_kept(server):
    server.post("/rank", {"id": "f1", "features": features(0)})
    before = server.post("/feedback", {"id": "f0", "features": features(1), "relevant": ["rain"]})
    clock = server.reached(before.json["offset"])["clock"]  # what came earlier is learned by then
    first = server.post("/feedback", {"id": "f1", "relevant": ["sun"], "unknown": ["wind"]})
    assert first.json["revision"] == 1 and first.json["learn"]
    again = server.post("/feedback", {"unknown": ["wind"], "relevant": ["sun"], "id": "f1"})
    assert again.raw == first.raw
    second = server.post("/feedback", {"id": "f1", "relevant": ["rain"]}).json
    assert second["revision"] == 2 and not second["learn"] and "not learned" in second["note"]
    assert second["offset"] > first.json["offset"]
    assert server.post("/feedback", {"id": "f1", "relevant": ["rain"]}).json == second
    third = server.post("/feedback", {"id": "f1", "relevant": ["sun"], "unknown": ["wind"]}).json
    assert third["revision"] == 3
    assert server.reached(third["offset"])["clock"] == clock + 1
    events = server.get("/events/f1").json["events"]
    assert [event["kind"] for event in events] == ["rank", "feedback", "feedback", "feedback"]
    assert [event.get("learned") for event in events] == [None, True, False, False]


def test_a_revision_that_is_named_must_be_the_next_or_the_latest(server):
    server.post("/rank", {"id": "f2", "features": features(0)})
    problem(
        server.post("/feedback", {"id": "f2", "relevant": ["sun"], "revision": 2}), 409, "revision"
    )
    first = server.post("/feedback", {"id": "f2", "relevant": ["sun"], "revision": 1})
    assert (
        server.post("/feedback", {"id": "f2", "relevant": ["sun"], "revision": 1}).raw == first.raw
    )
    problem(
        server.post("/feedback", {"id": "f2", "relevant": ["rain"], "revision": 1}), 409, "revision"
    )
    assert server.post("/feedback", {"id": "f2", "relevant": ["rain"], "revision": 2}).status == 200


def test_a_labelled_example_may_be_repeated_safely(server):
    example = {"id": "b7", "features": features(1), "relevant": ["rain"]}
    before = server.post("/feedback", {**example, "id": "b6"})
    clock = server.reached(before.json["offset"])["clock"]  # what came earlier is learned by then
    first = server.post("/feedback", example)
    assert server.post("/feedback", example).raw == first.raw
    assert server.reached(first.json["offset"])["clock"] == clock + 1
    problem(server.post("/feedback", {**example, "features": features(2)}), 409, "id")
    problem(server.post("/rank", {"id": "b7", "features": features(1)}), 409, "id")


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/feedback", {"id": "nobody", "relevant": ["sun"]}, 404, "id"),
        ("/feedback", {"id": "e1", "features": [1], "relevant": ["sn"]}, 422, "relevant"),
        ("/feedback", {"id": "e1", "features": {"a": 1}, "relevant": ["sun"], "unknown": ["sun"]}, 422, "unknown"),
        ("/feedback", {"id": "e1", "features": {"a": 1}}, 422, "relevant"),
        ("/feedback", {"id": "e1", "features": {"a": 1}, "relevant": "sun"}, 422, "relevant"),
        ("/feedback", {"id": "e1", "features": {"a": 1}, "relevant": ["sun", "sun"]}, 422, "relevant"),
        ("/feedback", {"id": "e1", "features": {"a": 1}, "relevant": [5]}, 422, "relevant[0]"),
        ("/feedback", {"relevant": ["sun"]}, 422, "id"),
        ("/feedback", {"id": "e1", "relevant": ["sun"], "revision": 0}, 422, "revision"),
        ("/rank", {"features": {"a": "red", "b": [1]}}, 422, "features.b"),
        ("/rank", {"features": {"a": 1e101}}, 422, "features.a"),
        ("/rank", {"features": [1, "a"]}, 422, "features.1"),
        ("/rank", {"features": {}}, 422, "features"),
        ("/rank", {"features": 5}, 422, "features"),
        ("/rank", {"features": {"a": 1}, "text": "b"}, 422, "text"),
        ("/rank", {}, 422, "features"),
        ("/rank", {"features": {"a": 1}, "top": 0}, 422, "top"),
        ("/rank", {"features": {"a": 1}, "top": "2"}, 422, "top"),
        ("/rank", {"features": {"a": 1}, "tops": 2}, 422, "tops"),
        ("/rank", {"features": {"a": 1}, "threshold": 0}, 422, "threshold"),
        ("/rank", {"features": {"a": 1}, "threshold": "0.5"}, 422, "threshold"),
        ("/rank", {"features": {"a": 1}, "threshold": True}, 422, "threshold"),
        ("/rank", {"features": {"a": 1}, "optimize": "f1"}, 422, "optimize"),
        ("/rank", {"features": {"a": 1}, "optimize": ["f1"]}, 422, "optimize"),
        ("/rank", {"features": {"a": 1}, "threshold": 0.5, "optimize": "micro-f1"}, 422, "optimize"),
        ("/rank", {"id": "", "features": {"a": 1}}, 422, "id"),
        ("/rank", {"id": "a\nb", "features": {"a": 1}}, 422, "id"),
        ("/rank", {"id": 5, "features": {"a": 1}}, 422, "id"),
        ("/rank", b'{"features": {"a": NaN}}', 400, None),
        ("/rank", b'{"id": "\\ud800", "features": {"a": 1}}', 400, None),
        ("/rank", b"[" * 100_000, 400, None),
        ("/rank", b"{", 400, None),
        ("/rank", b"[1]", 400, None),
        ("/rank", b"\xff\xfe", 400, None),
        ("/rank", b"1" * 10_000, 400, None),
        ("/labels", {"add": ["sun"]}, 422, "add"),
        ("/labels", {"rename": {"x": "y"}}, 422, "rename"),
        ("/labels", {"retire": ["sun", "rain"]}, 422, "retire"),
        ("/labels", {"drop": ["sun"]}, 422, "drop"),
        ("/challengers", {"name": "x", "config": {"algorithm": "none"}}, 422, "config"),
        ("/challengers", {"name": "x", "config": {"depth": 3}}, 422, "config.depth"),
        ("/challengers", {"name": "../x"}, 422, "name"),
        ("/challengers", {"config": {}}, 422, "name"),
        ("/challengers/nobody/promote", None, 404, "name"),
        ("/rollback", {"version": 10**9}, 404, "version"),
        ("/rollback", {}, 422, "version"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_field(server, path, body, status, field):
    problem(server.post(path, body), status, field)


def test_other_paths_and_methods_are_refused(server):
    problem(server.get("/nothing"), 404)
    problem(server.get("/rank"), 405)
    problem(server.post("/model"), 405)
    problem(server.get("/events/nobody"), 404, "id")


def test_batches_have_a_status_for_each_line(server):
    lines = [
        {"id": "l1", "features": features(0), "top": 1},
        {"id": "l2", "features": 5},
        {"id": "l1", "features": features(0), "top": 1},
    ]
    raw = b"\n".join(json.dumps(line).encode() for line in lines)
    answers = server.post("/rank/batch", raw).lines
    assert [answer["status"] for answer in answers] == [200, 422, 200]
    assert answers[1]["field"] == "features"
    assert answers[0] == answers[2]
    told = b'{"id": "l1", "relevant": ["sun"]}\n{"id": "l9", "relevant": []}\n'
    answers = server.post("/feedback/batch", told).lines
    assert [answer["status"] for answer in answers] == [200, 404]


def test_everything_about_the_service_can_be_asked(server):
    assert server.get("/health").json == {"alive": True}
    assert server.get("/ready").json["ready"]
    assert server.get("/labels").json == {"labels": LABELS, "retired": []}
    model = server.get("/model").json
    assert model["offset"] == model["version"] and model["memory_bytes"] > 0
    assert model["challengers"] == []
    metrics = server.get("/metrics").raw.decode()
    assert 'boostline_requests_total{path="/rank",status="200"}' in metrics
    assert "boostline_model_clock" in metrics
    history = server.get("/history").json
    assert history["models"]["first"][-1]["rows"] >= 1
    assert len(server.get("/latest").json) > 1


def test_why_splits_a_score_into_the_learners_shares(server):
    example = {"id": "w1", "features": features(1), "relevant": ["rain"]}
    offset = server.post("/feedback", example).json["offset"]
    server.reached(offset)
    ranked = server.post("/rank", {"id": "w2", "features": features(1)}).json["labels"][0]
    why = server.get(f"/why/w2?label={ranked['label']}").json
    assert why["score"] == pytest.approx(ranked["score"])
    assert why["learners"][0]["learner"]


def test_the_description_names_every_path(server):
    told = server.get("/openapi.json").json
    assert told["openapi"].startswith("3.1")
    for path in ("/rank", "/feedback", "/rank/batch", "/labels", "/model", "/history", "/rollback"):
        assert path in told["paths"]
    for path, methods in told["paths"].items():
        for method, operation in methods.items():
            asked = path.replace("{id}", "nobody").replace("{name}", "nobody")
            answer = server.ask(method.upper(), asked, b"{}" if method == "post" else None)
            assert answer.status != 405 and operation["summary"]


def test_labels_can_be_added_by_feedback_if_wanted_and_changed_while_running(tmp_path):
    with serving(tmp_path / "s.db", "--labels", "sun,rain", "--new-labels", "add") as server:
        example = {"id": "a", "features": {"f": 1.0}, "relevant": ["hail"]}
        assert server.post("/feedback", example).status == 200
        assert server.get("/labels").json["labels"] == ["sun", "rain", "hail"]
        change = {"add": ["snow"], "rename": {"rain": "drizzle"}, "retire": ["sun"]}
        assert server.post("/labels", change).status == 200
        offset = server.post("/feedback", {**example, "id": "b", "relevant": ["drizzle"]}).json[
            "offset"
        ]
        server.reached(offset)
        shown = server.post("/rank", {"features": {"f": 1.0}}).json["labels"]
        assert {one["label"] for one in shown} == {"drizzle", "hail", "snow"}
        assert server.stop() == 0
    with serving(tmp_path / "s.db") as server:
        assert server.get("/labels").json == {
            "labels": ["drizzle", "hail", "snow"],
            "retired": ["sun"],
        }
