"""Frames are taken by the names of their columns: another order changes nothing, other columns are refused."""

import copy
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import boostline as bl
from boostline.contract.frames import Named

FEATURES = ["age", "height", "is_new", "weight"]
LABELS = ["sun", "rain", "wind"]


def stream(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(3)
    return X, X[:, :3] + 0.3 * rng.normal(size=(n, 3)) > 0.4


def named(matrix, names):
    return Named(matrix, names)


def named_sparse(matrix, names):
    return Named(sparse.csr_matrix(matrix), names)


def pandas_frame(matrix, names):
    return pd.DataFrame(matrix, columns=names)


def polars_frame(matrix, names):
    return pl.DataFrame(matrix, schema=names)


KINDS = [pandas_frame, polars_frame, named, named_sparse]


def make(**options):
    return bl.AdaOLMR(3, learners=bl.learners.paper_trees(12), seed=3, **options)


def taught():
    X, Y = stream()
    model = make()
    model.learn(pandas_frame(X, FEATURES), pandas_frame(Y, LABELS))
    return model


def arrays(model):
    return {name: array.copy() for name, array in model.state()["arrays"].items()}


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_another_order_give_the_same_model(kind):
    X, Y = stream()
    plain = make()
    expected = plain.learn(X, Y)
    model = make()
    got = [model.learn(kind(X[:40], FEATURES), kind(Y[:40], LABELS))]
    assert model.features == FEATURES and model.labels == LABELS
    order, label_order = [2, 0, 3, 1], [1, 2, 0]
    shuffled = kind(X[40:][:, order], [FEATURES[i] for i in order])
    got.append(
        model.learn(shuffled, kind(Y[40:][:, label_order], [LABELS[i] for i in label_order]))
    )
    np.testing.assert_array_equal(np.concatenate(got), expected)
    assert_same(arrays(model), arrays(plain))
    np.testing.assert_array_equal(model.score(shuffled), plain.score(X[40:]))
    np.testing.assert_array_equal(model.votes(shuffled), plain.votes(X[40:]))
    assert model.rank(shuffled, top=1)[0] == [LABELS[plain.rank(X[40], top=1)[0]]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age", "heigth", "is_new", "weight"],
         r"x lacks the column 'height' and has the column 'heigth' \(is 'height' meant\?\), but its columns must "
         "be the model's features: 'age', 'height', 'is_new', 'weight'"),
        (["age", "height", "is_new"], "x lacks the column 'weight', but its columns must be the model's"),
        ([*FEATURES, "AGE"], r"x has the column 'AGE' \(is 'age' meant\?\), but"),
        (["a", "b", "c", "d"], "x lacks the columns 'age', 'height', .* and has the columns 'a', 'b', 'c', 'd', but"),
    ],
)  # fmt: skip
def test_missing_and_foreign_columns_are_refused_by_name(kind, columns, message):
    model = taught()
    before = arrays(model)
    X = np.zeros((2, len(columns)))
    for call in (model.score, model.rank, model.votes, lambda x: model.learn(x, [{0}, {1}])):
        with pytest.raises(ValueError, match=message):
            call(kind(X, columns))
    assert_same(arrays(model), before)
    assert model.features == FEATURES


def test_columns_of_one_name_are_refused():
    for frame in (pandas_frame, named):
        with pytest.raises(ValueError, match="x has the column 'age' twice"):
            make().score(frame(np.zeros((2, 3)), ["age", "height", "age"]))


def test_label_frames_are_matched_with_the_labels_names():
    X, Y = stream()
    model, plain = make(labels=LABELS), make(labels=LABELS)
    plain.learn(X, Y)
    model.learn(X, pandas_frame(Y[:, ::-1], LABELS[::-1]))
    assert_same(arrays(model), arrays(plain))
    assert model.features is None
    for bad, message in (
        (
            ["sun", "rain", "snow"],
            "relevant lacks the column 'wind' and has the column 'snow', but",
        ),
        (
            ["sun", "rain"],
            "relevant lacks the column 'wind', but its columns must be the model's labels",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            model.learn(X[:1], pandas_frame(np.zeros((1, len(bad))), bad))
    with pytest.raises(ValueError, match="unknown lacks the column 'wind'"):
        model.learn(X[:1], Y[:1], unknown=pandas_frame(np.zeros((1, 2)), ["sun", "rain"]))


def with_none(Y, hidden):
    pairs = zip(Y.tolist(), hidden.tolist(), strict=True)
    return [[None if h else y for y, h in zip(*row, strict=True)] for row in pairs]


def test_unknown_labels_in_frames():
    X, Y = stream(20)
    hidden = ~Y & (np.arange(3) == 1)
    plain = make()
    plain.learn(X, Y, unknown=hidden)
    for relevant, unknown in (
        (pd.DataFrame(np.where(hidden, np.nan, Y), columns=LABELS), None),
        (pd.DataFrame(Y, columns=LABELS), pd.DataFrame(hidden[:, ::-1], columns=LABELS[::-1])),
        (pd.DataFrame(Y, columns=LABELS).astype("boolean").mask(hidden), None),
        (pl.DataFrame(with_none(Y, hidden), schema=LABELS, orient="row"), None),
    ):
        model = make()
        model.learn(X, relevant, unknown=unknown)
        assert_same(arrays(model), arrays(plain))


def test_rows_of_a_frame_are_taken_by_name_too():
    X, Y = stream(30)
    plain, model = make(), make()
    x, y = pandas_frame(X, FEATURES), pandas_frame(Y, LABELS)
    expected = plain.learn(X, Y)
    got = [
        model.learn(
            row.sample(frac=1, random_state=i), y.iloc[i].sample(frac=1, random_state=i + 1)
        )
        if i
        else model.learn(row, y.iloc[i])
        for i, (_, row) in enumerate(x.iterrows())
    ]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", [pandas_frame, polars_frame])
def test_columns_of_different_kinds(kind):
    """Floats beside bools and whole numbers; what is missing in any of them is NaN."""
    X, Y = stream(30)
    X[:, 2], X[:, 3] = X[:, 2] > 0, np.round(X[:, 3])
    plain = make()
    plain.learn(X, Y)
    frame = kind(X, FEATURES)
    if kind is pandas_frame:
        mixed = frame.astype({"is_new": bool, "weight": "int64"})
        nullable = mixed.astype({"is_new": "boolean", "weight": "Int64", "age": "Float64"})
    else:
        mixed = frame.with_columns(pl.col("is_new") == 1, pl.col("weight").cast(pl.Int64))
        nullable = mixed
    for one in (mixed, nullable):
        model = make()
        model.learn(one, Y)
        assert_same(arrays(model), arrays(plain))
        assert model.rank(one).tolist() == plain.rank(X).tolist()
    holes = X[:3].copy()
    holes[0, 2], holes[1, 3], holes[2, 0] = np.nan, np.nan, np.nan
    if kind is pandas_frame:
        missing = nullable[:3].copy()
        missing.loc[0, "is_new"], missing.loc[1, "weight"], missing.loc[2, "age"] = (
            pd.NA,
            pd.NA,
            pd.NA,
        )
    else:
        missing = mixed[:3].with_columns(
            is_new=pl.Series([None, *mixed["is_new"][1:3]]),
            weight=pl.Series([mixed["weight"][0], None, mixed["weight"][2]]),
            age=pl.Series([*mixed["age"][:2], None]),
        )
    np.testing.assert_array_equal(model.score(missing), plain.score(holes))


@pytest.mark.parametrize("kind", [pandas_frame, polars_frame])
def test_text_is_refused_with_its_column(kind):
    frame = kind(np.zeros((2, 4)), FEATURES)
    if kind is pandas_frame:
        frame = frame.assign(height=["tall", "small"])
    else:
        frame = frame.with_columns(height=pl.Series(["tall", "small"]))
    with pytest.raises(
        TypeError, match="x has 'tall' in the column 'height', but must have numbers"
    ):
        taught().score(frame)


def test_columns_that_are_numbered_are_places():
    X, Y = stream(40)
    plain, model = make(), make()
    expected = plain.learn(X, Y)
    frame, labels = pd.DataFrame(X), pd.DataFrame(Y)
    first = model.learn(frame[:20], labels[:20])
    second = model.learn(frame[20:][[3, 1, 0, 2]], labels[20:][[2, 0, 1]])
    np.testing.assert_array_equal(np.concatenate([first, second]), expected)
    assert model.features is None and model.labels is None
    # A model that knows names takes numbered columns, and arrays, by place.
    again = taught()
    np.testing.assert_array_equal(again.score(frame[[1, 0, 3, 2]]), again.score(X))


def test_names_may_come_after_arrays_and_stay():
    X, Y = stream(20)
    model = make()
    model.learn(X, Y)
    assert model.features is None
    model.score(pandas_frame(X, FEATURES))
    assert model.features is None  # score changes nothing
    model.learn(pandas_frame(X, FEATURES), Y)
    assert model.features == FEATURES
    with pytest.raises(ValueError, match="x lacks the columns"):
        model.score(pandas_frame(X, list("abcd")))


def test_a_failed_call_remembers_nothing():
    X, _ = stream(5)
    model = make()
    with pytest.raises(ValueError, match="has label 7"):
        model.learn(pandas_frame(X, FEATURES), [{7}] * 5)
    assert model.features is None and model.n_features is None
    model = taught()
    with pytest.raises(ValueError, match="x has 3 features, but must have 4"):
        model.learn(np.zeros(3), {0})


def test_names_are_saved_copied_and_checked(tmp_path):
    model = taught()
    model.save(tmp_path / "m.blm")
    X, _ = stream()
    shuffled = pandas_frame(X[:, ::-1], FEATURES[::-1])
    for twin in (bl.load(tmp_path / "m.blm"), copy.deepcopy(model)):
        assert twin.features == FEATURES and twin.labels == LABELS
        np.testing.assert_array_equal(twin.score(shuffled), model.score(X))
    config = json.loads(json.dumps(model.config()))
    assert config["features"] == FEATURES
    for bad in (["a"], ["a", "a", "b", "c"], "abcd"):
        with pytest.raises((ValueError, TypeError), match="features"):
            bl.AdaOLMR.from_config({**config, "features": bad})


def test_names_of_arrays_can_be_told():
    X, Y = stream(20)
    model = make()
    model.features = FEATURES
    with pytest.raises(ValueError, match="x has 3 features, but must have 4, one for each name"):
        model.learn(X[:, :3], Y)
    model.learn(X, Y)
    np.testing.assert_array_equal(
        model.score(pandas_frame(X[:, ::-1], FEATURES[::-1])), model.score(X)
    )
    with pytest.raises(ValueError, match="features has 3 names, but must have 4"):
        model.features = FEATURES[:3]


def test_new_features_get_names():
    model = taught()
    with pytest.raises(TypeError, match="features is 2, but must be the names of the new features"):
        model.add_features(2)
    with pytest.raises(ValueError, match="features has the name 'age' twice"):
        model.add_features(["age"])
    with pytest.raises(TypeError, match="features is the string 'income', but must be a list"):
        model.add_features("income")
    model.add_features(["income"])
    assert model.features == [*FEATURES, "income"]
    X, Y = stream(4)
    wide = pandas_frame(np.column_stack([np.ones(4), X]), ["income", *FEATURES])
    model.learn(wide, Y)
    plain = make()
    plain.learn(X, Y)
    with pytest.raises(TypeError, match=r"features is \['income'\], but must be the number"):
        plain.add_features(["income"])


@pytest.mark.parametrize(
    "columns", [pd.MultiIndex.from_product([["a", "b"], ["c", "d"]]), [0.5, 1, 2, 3]]
)
def test_names_that_no_file_can_hold_are_refused(columns):
    with pytest.raises(TypeError, match="columns must be strings or whole numbers"):
        make().learn(pd.DataFrame(np.zeros((1, 4)), columns=columns), [{0}])


def test_dicts_are_sent_to_the_river_adapter():
    with pytest.raises(
        TypeError, match=r"x is a dict, but must be .* \(boostline.river takes dicts\)"
    ):
        make().score({"age": 1.0})
