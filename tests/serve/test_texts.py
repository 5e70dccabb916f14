"""A service for texts: begun with --text, or with a model of texts."""

from __future__ import annotations

import pytest
from serving import serving, shell

from boostline.text import TextRanker

pytestmark = pytest.mark.process

TEXTS = {
    "sport": ["the goalkeeper held the ball", "a late goal in the match"],
    "music": ["the band played on", "a concert with violin and piano"],
}


def teach(server, n=30):
    """Rank and tell; return the last answer once it is learned."""
    for i in range(n):
        tag = ("sport", "music")[i % 2]
        told = {"id": f"t{i}", "text": TEXTS[tag][i // 2 % 2], "top": 1}
        assert server.post("/rank", told).status == 200
        answer = server.post("/feedback", {"id": f"t{i}", "relevant": [tag]})
        assert answer.status == 200
    server.reached(answer.json["offset"])
    return server.post("/rank", {"id": "last", "text": "the band on the piano", "top": 1})


def test_text_begins_a_store_that_takes_texts_and_explains_by_their_words(tmp_path):
    store = tmp_path / "s.db"
    with serving(store, "--text", "--labels", "sport,music,money") as server:
        wrong = server.post("/rank", {"features": [1.0, 2.0]})
        assert wrong.status == 422 and wrong.json["field"] == "features"
        assert server.post("/rank", {"text": "a goal"}).json["cold"]
        last = teach(server)
        assert last.json["labels"][0]["label"] == "music"
        assert last.json["known_words"] >= 2
        assert server.post("/rank", {"text": "Klavier"}).json["known_words"] == 0
        words = {part["name"] for part in server.get("/why/last").json["features"]}
        assert {"band", "piano"} <= words
        challenger = server.post("/challengers", {"name": "other", "config": {"seed": 1}})
        assert challenger.status == 201
        assert server.stop() == 0
    with serving(store) as server:
        again = {"id": "last", "text": "the band on the piano", "top": 1}
        assert server.post("/rank", again).raw == last.raw
        assert server.stop() == 0
    assert shell("log", "verify", "--store", store).returncode == 0


def test_a_model_of_texts_goes_on_in_service(tmp_path):
    model = TextRanker(["sport", "music"])
    for tag, texts in TEXTS.items():
        model.learn(texts, [{tag}] * 2)
    model.save(tmp_path / "m.blm")
    score = model.score("the goalkeeper")
    with serving(
        tmp_path / "s.db", "--model", str(tmp_path / "m.blm"), "--new-labels", "add"
    ) as server:
        shown = server.post("/rank", {"text": "the goalkeeper"}).json["labels"]
        assert {one["label"]: one["score"] for one in shown} == dict(
            zip(model.labels, score, strict=True)
        )
        answer = server.post(
            "/feedback", {"id": "n", "text": "shares rose at the bank", "relevant": ["money"]}
        )
        model_now = server.reached(answer.json["offset"])
        assert model_now["clock"] == 5
        assert server.get("/labels").json["labels"] == ["sport", "music", "money"]
        assert server.stop() == 0


def test_text_needs_a_model_of_texts(tmp_path):
    import boostline as bl

    bl.LabelRanker(labels=["a", "b"]).save(tmp_path / "m.blm")
    done = shell("serve", "--store", tmp_path / "s.db", "--text", "--model", tmp_path / "m.blm")
    assert done.returncode == 1 and "is no model of texts" in done.stderr
    done = shell(
        *("serve", "--store", tmp_path / "s.db", "--text", "--labels", "a,b"),
        *("--algorithm", "ada_olmr"),
    )
    assert done.returncode == 2 and "label_ranker" in done.stderr
