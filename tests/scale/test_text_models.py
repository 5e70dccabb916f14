"""Models of texts: scored and ranked by several processes and on a cluster; what they cannot do is refused."""

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


def test_what_does_not_fit_is_refused(tagger, mails, model, tmp_path):
    with pytest.raises(ValueError, match="text is None, but must name the column"):
        scale.rank_files(tagger, mails / "*.csv", tmp_path)
    with pytest.raises(ValueError, match="text is 'body', but the model is no model of texts"):
        scale.rank_files(model, mails / "*.csv", tmp_path, text="body")
    with pytest.raises(TypeError, match="X is a str, but must be a list of strings"):
        scale.score(tagger, "a ball")
    for job in (scale.warm_start, scale.evaluate):
        with pytest.raises(TypeError, match="model is a TextRanker, but must take rows"):
            job(tagger, mails / "*.csv")
    with pytest.raises(TypeError, match="model is a TextRanker, but must take rows"):
        scale.learn_by_key(mails / "*.parquet", key="id", store=tmp_path, model=tagger)
