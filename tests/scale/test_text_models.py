"""Models of texts: learned, scored and ranked by several processes and on a cluster."""

import json

import numpy as np
import pytest

from boostline import scale
from boostline.cli import main
from boostline.data import DataError
from boostline.text import TextRanker

pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

WORDS = {"sport": ["ball", "goal", "team"], "music": ["band", "song", "tune"], "law": ["court"]}


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    tags = rng.choice(list(WORDS), size=n)
    return [" ".join(rng.choice([*WORDS[tag], "the", "a"], size=6)) for tag in tags], tags.tolist()


@pytest.fixture(scope="module")
def tagger():
    model = TextRanker()
    model.learn(
        *(list(x) for x in zip(*((t, {y}) for t, y in zip(*texts(300), strict=True)), strict=True))
    )
    return model


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    """Two files of each format: 60 texts."""
    folder = tmp_path_factory.mktemp("mails")
    for i in range(2):
        body, tags = texts(20, seed=i + 1)
        frame = pd.DataFrame({"id": range(20 * i, 20 * i + 20), "body": body, "tag": tags})
        frame.to_parquet(folder / f"p{i}.parquet")
        frame.to_csv(folder / f"c{i}.csv", index=False)
        lines = [json.dumps(row) for row in frame.to_dict("records")]
        (folder / f"j{i}.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def expected(model, seed):
    return [model.rank(text, top=2) for text in texts(20, seed)[0]]


@pytest.mark.parametrize("pattern", ["p*.parquet", "c*.csv", "j*.jsonl"])
def test_rankings_of_files_of_texts(tagger, mails, tmp_path, pattern):
    done = scale.rank_files(tagger, mails / pattern, tmp_path, top=2, text="body")
    assert (done.n_rows, done.n_skipped) == (40, 0)
    for i in range(2):
        found = pq.read_table(tmp_path / f"{pattern[0]}{i}.parquet").to_pydict()
        assert found["labels"] == expected(tagger, i + 1)
        assert found["row"] == list(range(1, 21))
        best = -np.sort(-tagger.score(texts(20, i + 1)[0]), axis=1)[:, :2]
        np.testing.assert_array_equal(np.array(found["scores"]), best)
    again = scale.rank_files(tagger, mails / pattern, tmp_path, top=2, text=["body"])
    assert again.n_skipped == 2
    other = scale.rank_files(tagger, mails / pattern, tmp_path, top=2, text=["body", "tag"])
    assert other.n_skipped == 0  # of another text


def test_a_model_that_went_on_ranks_anew(tagger, mails, tmp_path):
    import copy

    scale.rank_files(tagger, mails / "p*.parquet", tmp_path, text="body", keys=["id"])
    assert pq.read_table(tmp_path / "p1.parquet")["id"].to_pylist() == list(range(20, 40))
    model = copy.deepcopy(tagger)
    model.learn("a new word", {"sport"})
    done = scale.rank_files(model, mails / "p*.parquet", tmp_path, text="body", keys=["id"])
    assert done.n_skipped == 0


@pytest.mark.process
def test_several_processes(tagger, mails, tmp_path):
    rows = texts(50, seed=9)[0]
    got = scale.score(tagger, rows, n_jobs=2, block=8)
    np.testing.assert_array_equal(got, tagger.score(rows))
    done = scale.rank_files(tagger, mails / "*.jsonl", tmp_path, top=2, text="body", n_jobs=2)
    assert done.n_rows == 40
    assert pq.read_table(tmp_path / "j1.parquet")["labels"].to_pylist() == expected(tagger, 2)


@pytest.mark.process
def test_on_a_cluster(cluster, tagger, mails, tmp_path):
    bd = pytest.importorskip("boostline.scale.engines.dask")
    while cluster.n_alive() < 2:
        cluster.add_worker()
    out = tmp_path / "out"
    engine = bd.DaskEngine(cluster.client)
    scale.rank_files(tagger, mails / "*.csv", out, top=2, text="body", engine=engine)
    assert pq.read_table(out / "c0.parquet")["labels"].to_pylist() == expected(tagger, 1)


def test_the_shell(tagger, mails, tmp_path, capsys):
    tagger.save(tmp_path / "tags.blm", {"train": {"text": ["body"], "separator": "|"}})

    def run(*more):
        capsys.readouterr()
        files = [str(mails / f"j{i}.jsonl") for i in range(2)]
        out = ["--out", str(tmp_path / "out"), "--top", "2", "--json"]
        with pytest.raises(SystemExit) as ended:
            main(["rank", str(tmp_path / "tags.blm"), *files, *out, *more])
        return ended.value.code, capsys.readouterr()

    code, printed = run()
    assert not code and json.loads(printed.out)["rows"] == 40
    found = pq.read_table(tmp_path / "out" / "j0.parquet")["labels"].to_pylist()
    assert found == expected(tagger, 1)
    code, printed = run("--text", "nobody")
    assert code and "nobody" in printed.err


def test_a_bad_row_is_named(tagger, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"body": "a ball"}\n{"body": 5}\n')
    with pytest.raises(DataError, match=r"bad\.jsonl:2"):
        scale.rank_files(tagger, tmp_path / "bad.jsonl", tmp_path / "out", text="body")
    assert not list((tmp_path / "out").iterdir())


def learned_in_sequence(mails):
    model = TextRanker()
    for seed in (1, 2):
        some, tags = texts(20, seed)
        model.learn(some, [{tag} for tag in tags])
    return model


@pytest.mark.parametrize("pattern", ["p*.parquet", "c*.csv", "j*.jsonl"])
def test_a_history_of_texts(mails, pattern):
    options: dict = {"text": "body", "labels": "tag", "sample": 5, "tail": 10}
    made = scale.warm_start(TextRanker(), mails / pattern, n_groups=2, **options)
    in_sequence = learned_in_sequence(mails)
    assert made.clock == 40 and sorted(made.labels) == sorted(in_sequence.labels)
    one, two = (m.text_features.state() for m in (made, in_sequence))
    for name, value in one.items():  # each word was counted once for each of its texts
        np.testing.assert_array_equal(value, two[name], name)
    rows, tags = texts(50, seed=9)
    right = np.mean([made.rank(t, top=1) == [y] for t, y in zip(rows, tags, strict=True)])
    assert right > 0.9
    found = scale.evaluate(made, mails / pattern, text="body", labels="tag")
    assert found["n"] == 40 and found["rank_loss"] < 0.05


def test_parts_of_texts_add_up_in_any_order(mails):
    model = TextRanker(["law", "music", "sport"])
    some, tags = texts(90, seed=4)
    told = [{tag} for tag in tags]
    model.learn(some[:10], told[:10])
    parts = [scale.partial(model, (some[a : a + 40], told[a : a + 40])) for a in (10, 50)]
    made = [scale.finish(model, scale.merge(order)) for order in (parts, parts[::-1])]
    np.testing.assert_allclose(*(m.score(some) for m in made), rtol=1e-6)
    assert made[0].clock == made[0].text_features.n_documents == 90 and model.clock == 10
    with pytest.raises(ValueError, match="tags has 'cats', which the model does not know"):
        scale.partial(model, (["a ball"], [{"cats"}]))


@pytest.mark.process
def test_two_processes_learn_what_one_learns(mails):
    options: dict = {"text": ["body"], "labels": ["tag"], "sample": 5, "tail": 10, "n_groups": 2}
    one, two = (
        scale.warm_start(TextRanker(), mails / "*.jsonl", n_jobs=n, **options) for n in (1, 2)
    )
    rows = texts(50, seed=9)[0]
    np.testing.assert_array_equal(one.score(rows), two.score(rows))


def test_what_does_not_fit_is_refused(tagger, mails, model, tmp_path):
    for job in (scale.warm_start, scale.evaluate):
        with pytest.raises(ValueError, match="text is not given, but must name the column"):
            job(tagger, mails / "*.csv")
    with pytest.raises(ValueError, match="text is not given, but must name the column"):
        scale.rank_files(tagger, mails / "*.csv", tmp_path)
    with pytest.raises(ValueError, match="text is 'body', but the model is no model of texts"):
        scale.rank_files(model, mails / "*.csv", tmp_path, text="body")
    with pytest.raises(TypeError, match="X is a str, but must be a list of strings"):
        scale.score(tagger, "a ball")
    with pytest.raises(TypeError, match="model is a TextRanker, but must take rows"):
        scale.learn_by_key(mails / "*.parquet", key="id", store=tmp_path, model=tagger)
    with pytest.raises(TypeError, match="but must take rows: texts come from files"):
        scale.warm_start(tagger, pd.DataFrame({"body": ["a"]}))
