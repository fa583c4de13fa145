"""The packed forest predicts what LightGBM predicts, bit for bit."""

import lightgbm as lgb
import numpy as np
import pytest

from tilewright.ground.errors import InputError, RecordsError
from tilewright.search.model.forest import MAX_DEPTH, Forest


def _train(rng, *, rows=1500, width=12, trees=30, **parameters):
    """A booster on features of which some are coarse, some constant, some negative."""
    features = rng.normal(size=(rows, width)).astype(np.float32)
    features[:, 1] = np.round(features[:, 1])
    features[:, 2] = 3.0
    features[:, 3] = np.maximum(features[:, 3], 0)
    target = features[:, 0] * features[:, 1] + np.abs(features[:, 4]) + 0.1 * rng.normal(size=rows)
    chosen = {
        "objective": "regression",
        "verbosity": -1,
        "num_threads": 1,
        "use_missing": False,
        "min_data_in_leaf": 3,
    } | parameters
    return lgb.train(chosen, lgb.Dataset(features, target), trees), features


@pytest.mark.parametrize(
    "parameters",
    [
        {"num_leaves": 32, "max_depth": 5},
        {"num_leaves": 31, "max_depth": 8},
        {"num_leaves": 2, "max_depth": 1},
        {"num_leaves": 16, "max_depth": 5, "extra_trees": True, "max_bin": 255},
        {"num_leaves": 32, "max_depth": 6, "boost_from_average": False, "bagging_fraction": 0.5},
    ],
)
def test_equals_lightgbm_exactly(parameters):
    rng = np.random.default_rng(0)
    booster, features = _train(rng, **parameters)
    forest = Forest.parse(booster.model_to_string())
    unseen = (3 * rng.normal(size=(7001, features.shape[1]))).astype(np.float32)
    for rows in (features, unseen, unseen[:1], unseen[:9]):
        np.testing.assert_array_equal(forest.predict(rows), booster.predict(rows))
    assert forest.predict(unseen[:0]).shape == (0,)


def test_a_feature_equal_to_a_border_goes_left_as_in_lightgbm():
    """Borders are float64; the nearest float32 may lie on the other side of one."""
    booster, _ = _train(np.random.default_rng(1), num_leaves=32, max_depth=5)
    forest = Forest.parse(booster.model_to_string())
    borders = np.concatenate([t[:, 0] for t in forest.thresholds])
    borders = borders[np.abs(borders) > 1e-30]  # LightGBM takes what is nearer to 0 for 0
    near = [borders, *(np.nextafter(borders, np.float32(side)) for side in (-np.inf, np.inf))]
    rows = np.repeat(np.concatenate(near)[:, None], forest.width, axis=1)
    np.testing.assert_array_equal(forest.predict(rows), booster.predict(rows))


def test_trees_without_splits_and_no_trees():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(50, 4)).astype(np.float32)
    constant = lgb.train(
        {"objective": "regression", "verbosity": -1, "min_data_in_leaf": 100},
        lgb.Dataset(features, np.full(50, 2.5)),
        3,
    )
    forest = Forest.parse(constant.model_to_string())
    np.testing.assert_array_equal(forest.predict(features), constant.predict(features))
    empty = Forest.parse(constant.model_to_string(num_iteration=0, start_iteration=10))
    assert (empty.predict(features) == 0).all()


def test_tests_are_shared_between_trees():
    booster, _ = _train(np.random.default_rng(3), num_leaves=32, max_depth=5, max_bin=15)
    forest = Forest.parse(booster.model_to_string())
    distinct = sum(map(len, forest.thresholds))
    assert distinct <= 11 * 15 < forest.tests.size
    assert (np.diff(forest.columns) > 0).all()
    assert 2 not in forest.columns, "a constant feature is never tested"


def test_what_it_cannot_read_is_an_error():
    booster, features = _train(np.random.default_rng(4), num_leaves=40, max_depth=-1)
    with pytest.raises(RecordsError, match=f"deeper than {MAX_DEPTH}"):
        Forest.parse(booster.model_to_string())
    shallow, _ = _train(np.random.default_rng(4), num_leaves=8, max_depth=3)
    text = shallow.model_to_string()
    for broken in ("", "not a model", text[: len(text) // 2], text.replace("threshold", "th")):
        with pytest.raises(RecordsError, match="cannot be read"):
            Forest.parse(broken)
    missing, _ = _train(
        np.random.default_rng(4), num_leaves=8, max_depth=3, zero_as_missing=True, use_missing=True
    )
    with pytest.raises(RecordsError, match="missing values"):
        Forest.parse(missing.model_to_string())
    linear, _ = _train(np.random.default_rng(4), num_leaves=8, max_depth=3, linear_tree=True)
    with pytest.raises(RecordsError, match="linear leaves"):
        Forest.parse(linear.model_to_string())
    with pytest.raises(InputError, match="float32 features"):
        Forest.parse(text).predict(features.astype(np.float64))
    with pytest.raises(InputError, match="float32 features"):
        Forest.parse(text).predict(features[:, :5])
