"""Finite numbers that no model can hold, in files with a correct checksum: refused, whatever scores they would give."""

import numpy as np
import pytest
from forging import changed, forged, is_harmless, parts
from learner_arrays import learner_arrays

import boostline as bl
from boostline.saving import LoadError

L = bl.learners
K, D, N = 3, 4, 150
TREES = [L.HoeffdingTree(features=(0, 1, 2), grace_period=3.0)] * 2
MODELS = {
    "ada_olmr": lambda: bl.AdaOLMR(K, learners=TREES),
    "label_ranker": lambda: bl.LabelRanker(K, learners=[*TREES, L.Recency()]),
    "online_bmr": lambda: bl.OnlineBMR(K, learners=TREES, edge=0.1),
}


def rows():
    X = np.random.default_rng(1).normal(size=(N, D))
    return X, X[:, :K] > 0.3


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.blm"
    files = {}
    for name, make in MODELS.items():
        model = make()
        model.learn(*rows())
        model.save(path)
        files[name] = path.read_bytes()
    return files


def load_forged(path, content, **arrays):
    metadata, known = parts(content)
    assert set(arrays) <= set(known)
    path.write_bytes(forged(metadata, {**known, **arrays}))
    return bl.load(path)


def a_leaf(arrays):
    return int(np.flatnonzero(arrays["learners.0.node_n_labels"] > 1)[0])


def test_the_weights_of_leaves_just_below_zero(contents, tmp_path):
    """All labels seen, and a sum of -5e-324: 1 / -5e-324 is minus infinity."""
    _, arrays = parts(contents["online_bmr"])
    weights = np.full_like(arrays["learners.0.node_weight"], -5e-324)
    with pytest.raises(LoadError, match="node_weight"):
        load_forged(tmp_path / "m", contents["online_bmr"], **{"learners.0.node_weight": weights})


TREE_ATTACKS = {
    "node_weight": (-5e-324, 0.0, 1e-300, 1e90),
    "node_last_try": (-1.0, 1e9),
    "node_threshold": (1e200, -1e308),
    "node_left": (3, -2),
    "node_nan_right": (2, 255),
    "node_active": (0, 2),  # a leaf with statistics is active
}


@pytest.mark.parametrize("name", TREE_ATTACKS)
def test_a_leaf_that_no_tree_has(name, contents, tmp_path):
    _, arrays = parts(contents["online_bmr"])
    leaf, name = a_leaf(arrays), f"learners.0.{name}"
    for value in TREE_ATTACKS[name.rpartition(".")[2]]:
        with pytest.raises(LoadError):
            load_forged(
                tmp_path / "m",
                contents["online_bmr"],
                **{name: changed(arrays[name], leaf, value)},
            )


@pytest.mark.parametrize("mass", [0.0, 5e-324, 1e9, 1e300])
def test_a_mass_that_is_no_part_of_the_weight(mass, contents, tmp_path):
    _, arrays = parts(contents["online_bmr"])
    name = "learners.0.label_mass"
    forgery = {name: changed(arrays[name], 0, mass)}
    if mass == 5e-324:
        forgery[name] = np.full_like(arrays[name], mass)
    with pytest.raises(LoadError):
        load_forged(tmp_path / "m", contents["online_bmr"], **forgery)


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("weight", (-1.0, 1e300)),
        ("mean", (1e200, -1e308)),
        ("m2", (1e300, -1e308)),
        ("min", (1e99, -1e200, np.inf, -np.inf)),
        ("max", (-1e99, 1e200, np.inf, -np.inf)),
    ],
)
def test_statistics_that_no_label_has(part, values, contents, tmp_path):
    _, arrays = parts(contents["online_bmr"])
    name = "learners.0.label_stats"
    covariates = len(TREES[0].features)
    place = ["weight", "mean", "m2", "min", "max"].index(part) * covariates
    for value in values:
        with pytest.raises(LoadError, match="label_stats"):
            load_forged(
                tmp_path / "m",
                contents["online_bmr"],
                **{name: changed(arrays[name], place, value)},
            )


BOOSTER_ATTACKS: dict[str, dict[str, tuple[float, ...]]] = {
    "ada_olmr": {
        "learner_weights": (2.5, -3.0, 1e308),
        "expert_log_weights": (1e-9, 700.0, -N - 1.0, -1e308),
        "expert_loss": (-1e-9, N + 1.0, 1e308),
        "suffered_loss": (-1.0, N + 1.0),
        "largest_weight": (-1.0, 1e305),
        "edge_numerator": (1e305,),
        "edge_denominator": (-1e305,),
    },
    "label_ranker": {
        "chain_weights": (-0.1, 1.5, 1e308, -5e-324),
        "chain_masses": (-0.1, 0.0, 1.5, 1e308),
        "regret_gains": (-N - 1.0, 1e308),
        "surrogate": (-1.0, 1e308),
        "astray": (-0.1, 1.5),
        "label_counts": (-1.0, 1e308),
        "label_total": (-1.0, 1e308),
        "drift_alarm": (-1.0, N + 1.0),
        "restarts": (-1, N + 1),
    },
    "online_bmr": {"learner_weights": (0.0, 2.0, 1e308)},
}


@pytest.mark.parametrize("algorithm", BOOSTER_ATTACKS)
def test_numbers_that_no_booster_has(algorithm, contents, tmp_path):
    content = contents[algorithm]
    _, arrays = parts(content)
    for name, values in BOOSTER_ATTACKS[algorithm].items():
        for value in values:
            with pytest.raises(LoadError, match=name):
                load_forged(tmp_path / "m", content, **{name: changed(arrays[name], 0, value)})


def test_means_of_losses_above_one(tmp_path):
    """After few rows the alarm's sums are small because their weights are: half a unit over .001 is a mean of 500."""
    model = MODELS["label_ranker"]()
    X, Y = rows()
    model.learn(X[:1], Y[:1])
    model.save(tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    alarm = parts(content)[1]["drift_alarm"]
    for place in (1, 2, 3):  # the fast mean, the slow one, the variance
        with pytest.raises(LoadError, match="drift_alarm"):
            load_forged(tmp_path / "m", content, drift_alarm=changed(alarm, place, 0.5))


@pytest.mark.gate
@pytest.mark.parametrize("algorithm", MODELS)
def test_no_finite_number_anywhere_gives_scores_that_are_not(algorithm, contents, tmp_path):
    """One number at a time, in the first and the last place of every array."""
    metadata, arrays = parts(contents[algorithm])
    X, Y = rows()
    for name, array in arrays.items():
        if array.dtype.kind != "f" or not len(array):
            continue
        for place in {0, len(array) - 1}:
            for value in (-5e-324, 5e-324, 0.0, -1.0, 1e99, -1e99, 1e308, -1e308):
                forgery = {**arrays, name: changed(array, place, value)}
                (tmp_path / "m").write_bytes(forged(metadata, forgery))
                is_harmless(tmp_path / "m", X[:8], Y[:8])


def test_masses_too_small_to_be_shared_out_count_as_nothing_seen():
    """Importances of 1e-312, whose inverse is infinite."""
    x = np.linspace(-1.0, 1.0, 40)[:, None]
    sets = [{int(v > 0)} if abs(v) > 0.5 else {i % 2} for i, v in enumerate(x[:, 0])]
    tree = L.HoeffdingTree(grace_period=0.0, tie_threshold=1e9)
    model = bl.OnlineBMR(2, learners=[tree], edge=0.1)
    assert np.isfinite(model.learn(x, sets, weight=1e-312)).all()
    assert (
        len(learner_arrays(model, 0)["node_left"]) == 3
    )  # it has split: the children's masses are tiny
    assert (model.score(x[-1]) == 0.5).all()  # both labels are there
    assert np.isfinite(model.score(x)).all()


@pytest.mark.gate
def test_hundreds_of_votes_of_the_exponential_loss_stay_finite(tmp_path):
    """Costs of e^800 are beyond all numbers; the model learns on, saves and loads."""
    tree = L.HoeffdingTree(features=(0,), single_label=True)
    model = bl.OnlineBMR(K, learners=[tree] * 800, loss="exponential", edge=0.1)
    X, _ = rows()
    model.learn(X[:30], [{1}] * 30)
    assert np.isfinite(model.learn(X[:10], [{0}] * 10)).all()
    model.save(tmp_path / "m.blm")
    assert (bl.load(tmp_path / "m.blm").score(X) == model.score(X)).all()
