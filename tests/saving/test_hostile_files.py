"""Files that are cut, flipped, random or malicious get a LoadError: no crash, no hang, no large allocation."""

import json

import numpy as np
import pytest
from forging import (
    changed,
    forged,
    header_length,
    is_harmless,
    parts,
    raw,
    refuse,
    with_odd_numbers,
)

import boostline as bl
from boostline import saving
from boostline.saving import LoadError

pytestmark = pytest.mark.usefixtures("limited_memory")

L = bl.learners


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 4))
    model = bl.AdaOLMR(
        labels=["a", "b", "c"],
        learners=[bl.learners.HoeffdingTree(features=(0, 1, 2), grace_period=3.0)] * 2,
    )
    model.learn(X, X[:, :3] > 0.3)
    return model


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m.blm"
    saving.save(model, path, {"rows": 150, "weights": np.arange(4)})
    return path.read_bytes()


def test_the_untouched_file_loads(model, content, tmp_path):
    (tmp_path / "m.blm").write_bytes(content)
    loaded, extra = saving.load_with_extra(tmp_path / "m.blm")
    assert loaded.clock == 150 and extra["rows"] == 150


def test_truncation_anywhere_is_found(content, tmp_path):
    end = header_length(content) + 8
    cuts = {*range(0, 200), *range(200, end, 97), *range(end - 20, end + 20)}
    cuts |= {*range(end, len(content), 211), *range(len(content) - 30, len(content))}
    for cut in sorted(cuts):
        refuse(tmp_path / "m.blm", content[:cut])


def test_more_bytes_at_the_end_are_found(content, tmp_path):
    for tail in (b"\0", b"x" * 64, content):
        refuse(tmp_path / "m.blm", content + tail)


@pytest.mark.gate
def test_a_flipped_bit_anywhere_is_found(content, tmp_path):
    rng = np.random.default_rng(2)
    end = header_length(content) + 8
    places = [*range(64), *range(end - 8, end + 8)]  # the length, the padding, the first array
    places += rng.integers(0, end, 900).tolist() + rng.integers(end, len(content), 600).tolist()
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        refuse(tmp_path / "m.blm", bytes(damaged))


@pytest.mark.gate
def test_every_bit_of_the_description_counts(content, tmp_path):
    """The configuration decides what the arrays mean, so the checksum covers it as well."""
    start = content.index(b"config")
    for place in range(start, start + 700):
        damaged = bytearray(content)
        damaged[place] ^= 1 << (place % 8)
        refuse(tmp_path / "m.blm", bytes(damaged))


def test_bytes_exchanged_within_an_array_are_found(content, tmp_path):
    end = header_length(content) + 8
    damaged = bytearray(content)
    damaged[end : end + 8], damaged[end + 8 : end + 16] = (
        damaged[end + 8 : end + 16],
        damaged[end : end + 8],
    )
    assert bytes(damaged) != content
    refuse(tmp_path / "m.blm", bytes(damaged), "SHA-256")


def test_random_bytes_are_no_model(tmp_path):
    rng = np.random.default_rng(3)
    for size in (0, 1, 7, 8, 9, 16, 100, 5000):
        for _ in range(20):
            refuse(tmp_path / "m.blm", rng.bytes(size))
            body = rng.bytes(size)
            refuse(tmp_path / "m.blm", len(body).to_bytes(8, "little") + body)


# Malicious files: well-formed, with a correct checksum, but with content that no model has.


def test_a_forged_file_without_malice_loads(content, tmp_path):
    (tmp_path / "m.blm").write_bytes(forged(*parts(content)))
    assert bl.load(tmp_path / "m.blm").clock == 150


def first_split(arrays):
    return int(np.flatnonzero(arrays["learners.0.node_covariate"] >= 0)[0])


ARRAY_ATTACKS = {
    "child is the root": ("learners.0.node_left", lambda a, i: changed(a, i, 0)),
    "child is itself": ("learners.0.node_left", lambda a, i: changed(a, i, i)),
    "child far away": ("learners.0.node_left", lambda a, i: changed(a, i, 2**31 - 1)),
    "child negative": ("learners.0.node_left", lambda a, i: changed(a, i, -5)),
    "child is the last node": ("learners.0.node_left", lambda a, i: changed(a, i, len(a) - 1)),
    "covariate out of range": ("learners.0.node_covariate", lambda a, i: changed(a, i, 99)),
    "covariate minus two": ("learners.0.node_covariate", lambda a, i: changed(a, i, -2)),
    "threshold is NaN": ("learners.0.node_threshold", lambda a, i: changed(a, i, np.nan)),
    "weight is infinite": ("learners.0.node_weight", lambda a, i: changed(a, i, np.inf)),
    "label out of range": ("learners.0.label", lambda a, i: changed(a, 0, 3)),
    "label negative": ("learners.0.label", lambda a, i: changed(a, 0, -1)),
    "mass negative": ("learners.0.label_mass", lambda a, i: changed(a, 0, -1.0)),
    "mass NaN": ("learners.0.label_mass", lambda a, i: changed(a, 0, np.nan)),
    "statistics NaN": ("learners.0.label_stats", lambda a, i: changed(a, 0, np.nan)),
    "too many labels in a leaf": (
        "learners.0.node_n_labels",
        lambda a, i: changed(a, len(a) - 1, 2**31 - 1),
    ),
    "labels in a split": ("learners.0.node_n_labels", lambda a, i: changed(a, i, 1)),
    "no nodes": ("learners.0.node_covariate", lambda a, i: a[:0]),
    "fewer nodes": ("learners.0.node_covariate", lambda a, i: a[:-1]),
    "another type": ("learners.0.node_left", lambda a, i: a.astype(np.int64)),
    "float labels": ("learners.0.label", lambda a, i: a.astype(np.float64)),
    "two axes": ("learners.0.label_mass", lambda a, i: a.reshape(1, -1)),
    "learner weight NaN": ("learner_weights", lambda a, i: changed(a, 0, np.nan)),
    "expert weight infinite": ("expert_log_weights", lambda a, i: changed(a, 0, np.inf)),
    "clock negative": ("clock", lambda a, i: changed(a, 0, -1)),
    "clock of another type": ("clock", lambda a, i: a.astype(np.float64)),
    "weights too short": ("learner_weights", lambda a, i: a[:-1]),
    "label sizes too short": ("label_set_sizes", lambda a, i: a[:-1]),
    "edges infinite": ("edge_numerator", lambda a, i: changed(a, 0, -np.inf)),
}


@pytest.mark.parametrize("attack", ARRAY_ATTACKS)
def test_impossible_arrays_are_refused(attack, content, tmp_path):
    metadata, arrays = parts(content)
    name, change = ARRAY_ATTACKS[attack]
    arrays[name] = change(arrays[name], first_split(arrays))
    refuse(tmp_path / "m.blm", forged(metadata, arrays))


def test_a_model_that_cannot_count_another_row_learns_none(content, tmp_path):
    metadata, arrays = parts(content)
    sizes = arrays["label_set_sizes"].copy()
    sizes[1] += 2**53 - 1 - int(arrays["clock"][0])
    changed = {**arrays, "clock": np.array([2**53 - 1]), "label_set_sizes": sizes}
    path = tmp_path / "m.blm"
    path.write_bytes(forged(metadata, changed))
    for _ in range(2):
        model = bl.load(path)
        x = np.zeros(model.n_features)
        if model.clock < 2**53:
            with pytest.raises(ValueError, match="no more of them can be counted"):
                model.learn([x, x], [{0}, {0}])
            model.learn(x, {0})
            model.save(path)
    with pytest.raises(ValueError, match="no more of them can be counted"):
        model.learn(x, {0})
    assert model.clock == 2**53 and np.isfinite(model.score(x)).all()


def test_missing_and_foreign_arrays_are_refused(content, tmp_path):
    metadata, arrays = parts(content)
    for name in arrays:
        less = {key: value for key, value in arrays.items() if key != name}
        refuse(tmp_path / "m.blm", forged(metadata, less))
    for name in ("learners.2.label", "learners.0.other", "learners.00.label", "other", "x.y"):
        more = {**arrays, name: np.zeros(3)}
        refuse(tmp_path / "m.blm", forged(metadata, more), "array|learner")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


CONFIG_ATTACKS = {
    "no algorithm": lambda c: c.pop("algorithm"),
    "another algorithm": lambda c: c.update(algorithm="os.system"),
    "algorithm is a list": lambda c: c.update(algorithm=[]),
    "labels of another number": lambda c: c.update(n_labels=2),
    "labels without number": lambda c: c.update(n_labels=None),
    "labels without end": lambda c: c.update(n_labels=2**24, labels=None),
    "labels beyond all": lambda c: c.update(n_labels=10**400, labels=None),
    "negative labels": lambda c: c.update(n_labels=-3),
    "fractional labels": lambda c: c.update(n_labels=3.0),
    "the same label twice": lambda c: c.update(labels=["a", "a", "b"]),
    "labels that are lists": lambda c: c.update(labels=[[], [], []]),
    "features without end": lambda c: c.update(n_features=2**31),
    "no features": lambda c: c.update(n_features=0),
    "negative seed": lambda c: c.update(seed=-1),
    "seed too large": lambda c: c.update(seed=2**64),
    "seed of text": lambda c: c.update(seed="0"),
    "settings that are none": lambda c: c.update(settings={"x": 1}),
    "settings of the base": lambda c: c["settings"].update(n_labels=7),
    "settings as list": lambda c: c.update(settings=[1]),
    "a setting that was": lambda c: c["settings"].update(weight_limit=-1.0),
    "no learners": lambda c: c.update(resolved=[]),
    "learners as text": lambda c: c.update(resolved="auto"),
    "learners that were never given": lambda c: c.update(learners=[]),
    "given learners of an unknown kind": lambda c: c["learners"][0].update(kind="pickle"),
    "features with no names": lambda c: c.update(features=[]),
    "learners never drawn": lambda c: c.update(resolved=None),
    "an unknown kind": lambda c: c["resolved"][0].update(kind="pickle"),
    "a kind that is a list": lambda c: c["resolved"][0].update(kind=[]),
    "an unknown setting": lambda c: c["resolved"][0].update(depth=3),
    "a covariate out of range": lambda c: c["resolved"][0].update(features=[0, 1, 4]),
    "a covariate too large": lambda c: c["resolved"][0].update(features=[0, 1, 2**40]),
    "too few covariates": lambda c: c["resolved"][0].update(features=[0]),
    "covariates of text": lambda c: c["resolved"][0].update(features="012"),
    "no covariates": lambda c: c["resolved"][0].update(features=[]),
    "a grace period of text": lambda c: c["resolved"][0].update(grace_period="long"),
    "ten thousand more learners": lambda c: c["resolved"].extend(c["resolved"][:1] * 10_000),
    "undrawn learners": lambda c: c["resolved"][0].update(features=2),
    "a python learner": lambda c: c["resolved"].append({"kind": "python", "class": "os.system"}),
    "a seed that is no number": lambda c: c.update(
        resolved=None, learners=[{**L.Linear().config(), "seed": {"value": 1}}]
    ),
    "trees without a cap that is a number": lambda c: c.update(
        resolved=None, learners=[{**L.paper_trees(2).config(), "max_bytes": 1e17}]
    ),
    "very many trees": lambda c: c.update(
        resolved=None,
        learners=[{"kind": "paper_trees", "n": 10**12, "n_covariates": 1, "single_label": False}],
    ),
}


@pytest.mark.gate
@pytest.mark.parametrize("attack", CONFIG_ATTACKS)
def test_impossible_configurations_are_refused(attack, content, tmp_path):
    metadata, arrays = parts(content)
    CONFIG_ATTACKS[attack](metadata["config"])
    refuse(tmp_path / "m.blm", forged(metadata, arrays))


METADATA_ATTACKS = {
    "no version": lambda m: m.pop("format"),
    "version 0": lambda m: m.update(format=0),
    "version true": lambda m: m.update(format=True),
    "version of text": lambda m: m.update(format="1"),
    "no config": lambda m: m.pop("config"),
    "config of text": lambda m: m.update(config="x"),
    "no extra": lambda m: m.pop("extra"),
    "extra of an unknown kind": lambda m: m.update(extra={"pickle": "x"}),
    "extra that names another array": lambda m: m.update(extra={"array": "nowhere"}),
    "extra that is deep": lambda m: m.update(extra=nested(900)),
    "extra with an unhashable key": lambda m: m.update(extra={"dict": [[[], {"value": 1}]]}),
    "python that is none": lambda m: m.update(
        python=None, config=dict(m["config"], resolved=[{"kind": "python", "class": "x"}])
    ),
}


@pytest.mark.parametrize("attack", METADATA_ATTACKS)
def test_impossible_descriptions_are_refused(attack, content, tmp_path):
    metadata, arrays = parts(content)
    METADATA_ATTACKS[attack](metadata)
    refuse(tmp_path / "m.blm", forged(metadata, arrays))


def test_a_newer_format_says_so(content, tmp_path):
    metadata, arrays = parts(content)
    metadata["format"] = saving.FORMAT + 1
    refuse(tmp_path / "m.blm", forged(metadata, arrays), "upgrade boostline")


def test_a_description_that_is_not_in_its_one_form_is_refused(content, tmp_path):
    """Two texts for the same description would let changes pass that the checksum cannot see."""
    metadata, arrays = parts(content)
    good = forged(metadata, arrays)
    text = json.loads(good[8 : 8 + header_length(good)])["__metadata__"]["boostline"]
    spaced = json.dumps(json.loads(text), sort_keys=True)
    header = json.loads(good[8 : 8 + header_length(good)])
    header["__metadata__"]["boostline"] = spaced
    body = good[8 + header_length(good) :]
    refuse(tmp_path / "m.blm", raw(header, body), "has been changed")


UNLEARNED = {
    "ten million trees": {
        "learners": [{"kind": "paper_trees", "n": 10**7, "n_covariates": 1, "single_label": False}]
    },
    "a tree many times": {"learners": [bl.learners.HoeffdingTree().config()] * 20_000},
}


@pytest.mark.gate
@pytest.mark.parametrize("attack", UNLEARNED)
def test_more_learners_than_a_file_can_describe_are_refused(attack, tmp_path):
    """Nothing of them is in the file; the first score would have to make them all."""
    bl.AdaOLMR(3, learners=bl.learners.paper_trees(2)).save(tmp_path / "m.blm")
    metadata, arrays = parts((tmp_path / "m.blm").read_bytes())
    metadata["config"].update(UNLEARNED[attack])
    refuse(tmp_path / "m.blm", forged(metadata, arrays), "at most 16384")


def test_as_many_learners_can_be_made_as_can_be_loaded(tmp_path):
    with pytest.raises(ValueError, match="learners has 16385 learners, but must have at most"):
        bl.AdaOLMR(2, learners=bl.learners.paper_trees(16_385))
    bl.AdaOLMR(2, learners=bl.learners.paper_trees(16_384)).save(tmp_path / "m.blm")
    assert bl.load(tmp_path / "m.blm").n_learners == 16_384


CLAIMS = {
    "default": L.auto_mix(),
    "linear": [L.Linear()],
    "hashed": [L.Linear(n_hashed=8)],
    "ridge": [L.Ridge()],
    "neighbours": [L.Neighbours()],
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("n_features", [10**4, 2 * 10**7])
def test_arrays_are_compared_with_the_description_before_room_is_made(name, n_features, tmp_path):
    """A few kilobytes that claim very many features, which would still fit into this machine."""
    X = np.random.default_rng(0).normal(size=(10, 4))
    model = bl.AdaOLMR(3, learners=CLAIMS[name])
    model.learn(X, X[:, :3] > 0)
    model.save(tmp_path / "m.blm")
    metadata, arrays = parts((tmp_path / "m.blm").read_bytes())
    if name == "hashed":
        metadata["config"]["resolved"][0]["n_hashed"] = n_features
    else:
        metadata["config"]["n_features"] = n_features
    refuse(tmp_path / "m.blm", forged(metadata, arrays), "bytes of arrays, but the file has")


def test_features_that_came_after_the_landmarks_take_no_room(tmp_path):
    """They are in no array of a kernel, so that any number of them may be claimed."""
    X = np.random.default_rng(0).normal(size=(80, 4))
    model = bl.AdaOLMR(3, learners=[L.Kernel(32)])
    model.learn(X, X[:, :3] > 0)
    model.save(tmp_path / "m.blm")
    metadata, arrays = parts((tmp_path / "m.blm").read_bytes())
    metadata["config"]["n_features"] = 2**31 - 1
    (tmp_path / "m.blm").write_bytes(forged(metadata, arrays))
    assert bl.load(tmp_path / "m.blm").memory_usage() < 2**20


def test_a_model_beyond_the_allowed_memory_is_refused(content, tmp_path):
    (tmp_path / "m.blm").write_bytes(content)
    with pytest.raises(
        LoadError, match=r"2 learners and 3 labels, which need [\d.]+ kB; at most 1.0 kB are"
    ):
        bl.load(tmp_path / "m.blm", max_bytes=1000)


def test_what_is_no_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        bl.load(tmp_path / "nowhere.blm")
    with pytest.raises(LoadError, match="is a folder"):
        bl.load(tmp_path)
    with pytest.raises(LoadError):
        bl.load("/dev/null")


def test_a_python_learner_that_fails_to_load_is_no_crash(tmp_path):
    class Fragile:
        def predict(self, x):
            return np.array([0.5, 0.5])

        def learn(self, x, relevant, costs, weight):
            pass

        def get_state(self):
            return {}

        def set_state(self, state):
            raise ZeroDivisionError("in set_state")

    bl.AdaOLMR(2, learners=[Fragile()]).save(tmp_path / "m.blm")
    with pytest.raises(LoadError, match="in set_state"):
        bl.load(tmp_path / "m.blm", learners=[Fragile()])


@pytest.mark.gate
def test_changed_numbers_are_refused_or_harmless(content, tmp_path):
    """Whoever forges the checksum as well may get a wrong model, but no crash, no hang and no endless loop."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 4))
    metadata, arrays = parts(content)
    names = sorted(name for name in arrays if not name.startswith("extra"))
    loaded = 0
    for _ in range(400):
        (tmp_path / "m.blm").write_bytes(forged(metadata, with_odd_numbers(arrays, names, rng)))
        loaded += is_harmless(tmp_path / "m.blm", X, X[:, :3] > 0.3)
    assert 50 < loaded < 350  # both happen, else the test says nothing
