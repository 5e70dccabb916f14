"""What a run notes, against brute force; and that nothing is run twice, lost or mixed up."""

import csv
import json
import math

import numpy as np
import pytest
from reproduce_helpers import essence, make_data

import boostline as bl
from boostline.lab import reproduce
from boostline.lab.reproduce.one_run import perform
from boostline.lab.reproduce.plan import Settings, Task, fingerprint

pytestmark = pytest.mark.gate

SMALL = Settings(trees=5)


def rank_loss(relevant, scores):
    """The definition: pairs ranked the wrong way round, ties one half."""
    pairs = [
        (scores[i], scores[j]) for i in np.flatnonzero(relevant) for j in np.flatnonzero(~relevant)
    ]
    return sum((a < b) + (a == b) / 2 for a, b in pairs) / max(1, len(pairs))


@pytest.mark.parametrize("order", ["file", "shuffled"])
@pytest.mark.parametrize(("algorithm", "edge"), [("ada_olmr", None), ("online_bmr", 0.1)])
def test_a_run_notes_what_brute_force_finds(toy, algorithm, edge, order):
    record = perform(Task("toy", fingerprint(toy), algorithm, edge, order, 7, SMALL), toy)

    trees = bl.learners.paper_trees(5)
    if algorithm == "ada_olmr":
        model = bl.AdaOLMR(4, learners=trees, seed=7)
    else:
        model = bl.OnlineBMR(4, learners=trees, edge=edge, seed=7)
    rows = toy if order == "file" else toy.shuffled(7)
    losses, experts = [], []
    for x, relevant in rows:
        given = model.score(x)
        weights = model.learner_weights if model.n_features else np.zeros(5)
        by_expert = np.cumsum(weights[:, None] * model.votes(x), axis=0)
        losses.append(rank_loss(relevant, given))
        experts.append([rank_loss(relevant, s) for s in by_expert])
        model.learn(x, relevant)

    assert record["rank_loss"] == pytest.approx(np.mean(losses[90:]))
    assert record["n_test"] == 60
    # The row with all labels is in the test part, whatever the order.
    assert record["n_without_pairs"] == sum(1 for _, y in toy.test if y.all() or not y.any()) >= 1
    assert record["expert_losses"] == pytest.approx(np.mean(experts[90:], axis=0))
    ends = record["curve"]["n"]
    assert ends[-1] == 150 and 90 in ends
    sums = np.cumsum(losses)[np.array(ends) - 1]
    assert record["curve"]["cumulative_loss"] == pytest.approx(sums)
    assert record["learner_weights"] == pytest.approx(model.learner_weights)
    assert record["expert_weights"] == pytest.approx(model.diagnostics.expert_weights)
    assert record["edges"] == pytest.approx(model.edges())


def test_decayed_counts_by_hand(toy):
    counts, losses = np.zeros(4), []
    for _, relevant in toy:
        losses.append(rank_loss(relevant, counts))
        counts = counts / 2 + relevant
    record = perform(Task("toy", "", "decayed_counts", None, "file", 0, SMALL), toy)
    assert record["rank_loss"] == pytest.approx(np.mean(losses[90:]))


def test_the_plan_is_the_papers(tmp_path, toy):
    many = make_data(name="many")
    many = bl.data.Dataset(many.X, np.tile(many.Y, 25), n_train=90, name="many")
    made = reproduce.run(
        [toy, many], tmp_path, settings=Settings(trees=1), seeds=1, jobs=1, report=False
    )
    tried = {
        (data, edge) for data, algorithm, edge, _ in made.summary.cells if algorithm == "online_bmr"
    }
    small = {("toy", edge) for edge in (0.2, 0.1, 0.01, 0.001)}
    large = {("many", edge) for edge in (0.05, 0.01, 0.005, 0.001)}
    assert tried == small | large
    assert made.summary.orders == ["file", "shuffled"]


def test_means_deviations_and_the_best_edge(tmp_path, toy):
    made = reproduce.run(toy, tmp_path, settings=SMALL, seeds=3, edges=[0.3, 0.01], jobs=1)
    rows = list(csv.DictReader((tmp_path / "runs.csv").open()))
    assert len(rows) == made.n_tasks == 3 * 2 * 3 + 2 + 2 * 3
    means = {}
    for edge in ("0.3", "0.01"):
        found = [
            float(row["rank_loss"])
            for row in rows
            if (row["algorithm"], row["edge"], row["order"]) == ("online_bmr", edge, "shuffled")
        ]
        means[edge] = (np.mean(found), np.std(found, ddof=1))
    best = min(means, key=lambda edge: means[edge][0])
    table = {row["order"]: row for row in csv.DictReader((tmp_path / "table3.csv").open())}
    assert table["shuffled"]["online_bmr_edge"] == best
    assert float(table["shuffled"]["online_bmr_mean"]) == pytest.approx(means[best][0])
    assert float(table["shuffled"]["online_bmr_sd"]) == pytest.approx(means[best][1])
    results = json.loads((tmp_path / "results.json").read_text())
    [entry] = [r for r in results["best_edges"] if r["order"] == "shuffled"]
    assert f"{entry['edge']:g}" == best
    [described] = results["data"]
    assert (described["n_train"], described["n_test"], described["n_labels"]) == (90, 60, 4)


def test_a_second_call_does_only_what_is_missing(tmp_path, toy):
    options = {"settings": SMALL, "jobs": 1, "report": False, "algorithms": ["ada_olmr"]}
    first = reproduce.run(toy, tmp_path, seeds=2, **options)
    assert (first.n_new, first.finished) == (2 * 2 + 2 + 2 * 2, True)
    files = sorted((tmp_path / "runs").iterdir())
    stamps = {path: path.stat().st_mtime_ns for path in files}
    files[0].unlink()
    files[1].write_text('{"format": 1, "rank_l')  # as if the disk had been full
    again = reproduce.run(toy, tmp_path, seeds=2, **options)
    assert again.n_new == 2
    assert essence(again.summary) == essence(first.summary)
    assert all(path.stat().st_mtime_ns == stamps[path] for path in files[2:])
    more = reproduce.run(toy, tmp_path, seeds=3, **options)
    assert more.n_new == 2 + 2  # both orders with the new seed; counts when shuffled
    assert reproduce.run(toy, tmp_path, seeds=3, fresh=True, **options).n_new == more.n_tasks


def test_runs_of_another_version_are_done_again(tmp_path, toy, monkeypatch):
    options = {"settings": SMALL, "jobs": 1, "report": False, "seeds": 1, "orders": ["file"]}
    first = reproduce.run(toy, tmp_path, **options)
    monkeypatch.setattr(bl, "__version__", "99.0")
    assert reproduce.run(toy, tmp_path, **options).n_new == first.n_tasks


def test_rows_that_changed_are_another_data_set(tmp_path, toy):
    options = {"settings": SMALL, "jobs": 1, "report": False, "seeds": 1, "orders": ["file"]}
    reproduce.run(toy, tmp_path, **options)
    changed = make_data(seed=1)
    made = reproduce.run(changed, tmp_path, **options)
    alone = reproduce.run(changed, tmp_path / "alone", **options)
    assert made.n_new == made.n_tasks
    assert essence(made.summary) == essence(alone.summary)


def test_a_report_tells_of_all_data_sets_in_the_folder(tmp_path, toy):
    options = {"settings": SMALL, "jobs": 1, "report": False, "seeds": 1, "orders": ["file"]}
    reproduce.run(toy, tmp_path, **options)
    made = reproduce.run(make_data(seed=1, name="other"), tmp_path, **options)
    assert list(made.summary.data) == ["other", "toy"]
    other_settings = {**options, "settings": Settings(trees=6)}
    assert list(reproduce.run(toy, tmp_path, **other_settings).summary.data) == ["toy"]


def test_processes_change_no_result(tmp_path, toy):
    options = {"settings": SMALL, "seeds": 2, "report": False}
    here = reproduce.run(toy, tmp_path / "a", jobs=1, **options)
    seen = []
    spread = reproduce.run(
        toy, tmp_path / "b", jobs=2, progress=lambda *at: seen.append(at), **options
    )
    assert essence(here.summary) == essence(spread.summary)
    assert seen == [(done, spread.n_tasks) for done in range(1, spread.n_tasks + 1)]


def test_sparse_rows(tmp_path):
    from scipy import sparse

    dense = make_data()
    csr = bl.data.Dataset(sparse.csr_matrix(dense.X), dense.Y, n_train=90, name="toy")
    options = {"settings": SMALL, "seeds": 1, "jobs": 1, "report": False}
    one = reproduce.run(dense, tmp_path / "dense", **options).summary
    two = reproduce.run(csr, tmp_path / "csr", **options).summary
    assert [c.losses for c in one.cells.values()] == [c.losses for c in two.cells.values()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"algorithms": ["adaboost"]}, "algorithms has 'adaboost'"),
        ({"orders": ["sorted"]}, "orders has 'sorted'"),
        ({"edges": [0.1, 1.5]}, "edges has 1.5"),
        ({"seeds": 0}, "seeds is"),
        ({"seeds": [1, 1]}, "seeds is"),
        ({"jobs": 0}, "jobs is 0"),
        ({"labels": ["a"]}, "labels can be used with files only"),
        ({"algorithms": []}, "algorithms is empty"),
    ],
)
def test_bad_arguments_are_named(tmp_path, toy, given, message):
    with pytest.raises(ValueError, match=message):
        reproduce.run(toy, tmp_path, **given)


def test_data_needs_both_parts(tmp_path, toy):
    with pytest.raises(ValueError, match="150 train rows and 0 test rows"):
        reproduce.run(bl.data.Dataset(toy.X, toy.Y), tmp_path)


def test_repeats_of_label_sets():
    found = reproduce.summary.describe(make_data())
    data = make_data()
    sets = [tuple(y) for _, y in data]
    assert found["repeats_file"] == np.mean([sets[i] == sets[i - 1] for i in range(90, 150)])
    test = sets[90:]
    alike = sum(a == b for a in test for b in test) - 60
    assert found["repeats_shuffled"] == pytest.approx(alike / (60 * 59))
    assert not math.isnan(found["repeats_file"])


@pytest.mark.parametrize(
    "settings", [Settings(trees=5, loss="rank", expert="best"), Settings(trees=3)]
)
def test_other_settings(tmp_path, toy, settings):
    options = {"seeds": 1, "edges": [0.1], "orders": ["file"], "jobs": 1, "report": False}
    made = reproduce.run(toy, tmp_path, settings=settings, **options)
    for algorithm in ("ada_olmr", "online_bmr"):
        assert made.summary.cell("toy", algorithm, "file").mean < 0.45  # better than guessing


def test_report_only(tmp_path, toy):
    options = {"settings": SMALL, "seeds": 1, "jobs": 1}
    assert reproduce.run(toy, tmp_path, report_only=True, **options).summary is None
    reproduce.run(toy, tmp_path, report=False, **options)
    made = reproduce.run(toy, tmp_path, report_only=True, **{**options, "seeds": 2})
    assert made.n_new == 0 and not made.finished and made.page.exists()
