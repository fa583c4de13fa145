"""The cost model learns from its programs' statements, ranks rightly, and is repeatable."""

import numpy as np
import pytest

from tilewright.ground.errors import InputError
from tilewright.search.model.cost_model import (
    GradientBoostedModel,
    TreeSettings,
    pairwise_accuracy,
    weights,
)
from tilewright.search.model.training_set import TrainingSet, states, summary

WIDTH = 24


def _statement_time(features):
    """The time that one statement takes; hidden from the model. Column 0 is its work, log2."""
    work, b, c = features[:, 0], features[:, 1], features[:, 2]
    return 2.0**work * (1.2 + np.tanh(b) * (c > 0))


def _programs(rng, n, most=4):
    """-> features, owner, throughput in (0, 1] of n programs of one to `most` statements."""
    owner = np.repeat(np.arange(n), rng.integers(1, most + 1, n))
    features = rng.normal(size=(len(owner), WIDTH)).astype(np.float32)
    features[:, 0] = rng.integers(0, 12, len(owner))
    throughput = 1.0 / np.bincount(owner, _statement_time(features), minlength=n)
    return features, owner, throughput**0.25  # of one order of magnitude, as in a search


def _rows(rng, *, rounds=10, per_round=64, workloads=("a",), scale=1.0):
    rows = TrainingSet(WIDTH)
    for round_id in range(rounds):
        for workload in workloads:
            features, owner, throughput = _programs(rng, per_round)
            rows.append(features, owner, scale * throughput, workload=workload, round_id=round_id)
    return rows


def _r2(truth, scores):
    """Share of the variance that scores explain after the best linear fit."""
    return np.corrcoef(truth, scores)[0, 1] ** 2


# ---- programs as rows ----------------------------------------------------------------------------


def test_a_program_is_its_busiest_statement_and_the_largest_of_each_feature():
    features = np.array([[1, 5, 0], [2, 2, 1], [0, 0, 3], [4, 0, 0]], np.float32)
    owner = np.array([0, 0, 2, 2])
    state = np.array([0.5, 1.0, 0.0], np.float32)
    expected = [[1, 5, 0, 2, 5, 1, 0.5], [0, 0, 0, 0, 0, 0, 1.0], [4, 0, 0, 4, 0, 3, 0.0]]
    np.testing.assert_array_equal(summary(features, owner, state), expected)


def test_a_summary_does_not_depend_on_the_order_of_statements():
    rng = np.random.default_rng(0)
    features, owner, _ = _programs(rng, 50)
    shuffled = rng.permutation(len(owner))
    state = np.zeros(50, np.float32)
    np.testing.assert_array_equal(
        summary(np.asfortranarray(features[shuffled]), owner[shuffled], state),
        summary(features, owner, state),
    )


def test_a_state_is_how_many_octaves_slower_a_region_was_to_the_half():
    region_s = np.array([0.5e-6, 0.55e-6, 0.75e-6, 1.2e-6, np.nan])
    assert states(region_s, 0.5e-6).tolist() == [0.0, 0.0, 0.5, 1.5, 0.0]
    assert states(region_s, np.nan).tolist() == [0.0] * 5, "nothing to compare with"


def test_weights_follow_throughput_above_the_floor():
    y = np.array([0.0, 0.0, 0.1, 0.3, 0.6, 1.0])
    weight = weights(y, floor=0.3, failed=0.1)
    np.testing.assert_allclose(weight / weight[-1], [0.1, 0.1, 0.3, 0.3, 0.6, 1.0])
    assert weight.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(weights(np.zeros(3), 0.3, 0.1), 1.0)


# ---- the training set ----------------------------------------------------------------------------


def test_throughput_is_normalised_per_workload():
    rows = TrainingSet(2)
    features = np.zeros((3, 2), np.float32)
    owner = np.array([0, 0, 1])
    rows.append(features, owner, np.array([5.0, 10.0]), workload="a", round_id=0)
    rows.append(features, owner, np.array([1.0, 0.0]), workload="b", round_id=0)
    rows.append(features, owner, np.array([20.0, 2.0]), workload="a", round_id=1)
    rows.append(features, owner, np.array([0.0, 0.0]), workload="broken", round_id=0)
    sample = rows.sample()
    assert sample.throughput.tolist() == [0.25, 0.5, 1.0, 0.0, 1.0, 0.1, 0.0, 0.0]
    assert sample.owner.tolist() == [0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7]
    assert sample.workload.tolist() == [0, 0, 1, 1, 0, 0, 2, 2]
    assert sample.batch.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert rows.sample(2).throughput.tolist() == [0.5, 1.0, 1.0, 0.0]
    assert rows.programs == 8


def test_states_are_relative_to_the_least_of_all_workloads():
    rows = TrainingSet(1)
    features, owner, one = np.zeros((2, 1), np.float32), np.arange(2), np.ones(2)
    rows.append(features, owner, one, workload="a", round_id=0)
    assert np.isnan(rows.sample().least_region_s)
    for workload, region_s in (("a", [4e-6, np.nan]), ("b", [1e-6, 2e-6])):
        rows.append(
            features, owner, one, workload=workload, round_id=1, region_s=np.array(region_s)
        )
    assert rows.sample().state.tolist() == [0.0, 0.0, 2.0, 0.0, 0.0, 1.0]
    assert rows.sample().least_region_s == 1e-6
    assert rows.sample(2).state.tolist() == [0.0] * 4
    later = rows.sample().take(np.arange(6) > 1)
    assert (later.state.tolist(), later.least_region_s) == ([2.0, 0.0, 0.0, 1.0], 1e-6)


def test_take_keeps_statements_with_their_programs():
    sample = _rows(np.random.default_rng(0), rounds=3).sample()
    chosen = sample.batch == 1
    part = sample.take(chosen)
    np.testing.assert_array_equal(part.throughput, sample.throughput[chosen])
    np.testing.assert_array_equal(part.features, sample.features[chosen[sample.owner]])
    np.testing.assert_array_equal(np.unique(part.owner), np.arange(chosen.sum()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.zeros((3, 2))}, "float32"),
        ({"features": np.zeros((3, 5), np.float32)}, r"\[m, 2\]"),
        ({"features": np.full((3, 2), np.nan, np.float32)}, "not finite"),
        ({"owner": np.array([0, 1])}, "2 owners"),
        ({"owner": np.array([-1, 0, 1])}, r"lie in \[0, 2\)"),
        ({"owner": np.array([0, 1, 2])}, r"lie in \[0, 2\)"),
        ({"owner": np.array([1, 1, 1])}, "no statement"),
        ({"throughput": np.array([1.0, np.inf])}, "finite"),
        ({"throughput": np.array([1.0, -1.0])}, "finite"),
    ],
)
def test_bad_rows_are_named(change, message):
    good = {
        "features": np.zeros((3, 2), np.float32),
        "owner": np.array([0, 0, 1]),
        "throughput": np.array([1.0, 2.0]),
    }
    rows = TrainingSet(2)
    with pytest.raises(InputError, match=message):
        rows.append(**(good | change), workload="gemm", round_id=7)
    assert rows.programs == 0
    rows.append(**good, workload="gemm", round_id=7)
    assert rows.programs == 2


# ---- the model -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "ordered"), [(1, 0.95), (4, 0.88), (12, 0.8)])
def test_learns_programs_of_several_statements(most, ordered):
    rng = np.random.default_rng(0)
    rows = TrainingSet(WIDTH)
    for round_id in range(24):
        features, owner, throughput = _programs(rng, 64, most)
        rows.append(features, owner, throughput, workload="a", round_id=round_id)
    model = GradientBoostedModel(seed=0)
    model.update(rows)
    features, owner, truth = _programs(rng, 1000, most)
    scores = model.predict(features, owner, 1000)
    assert _r2(truth, scores) > 0.9
    assert pairwise_accuracy(scores, truth, np.zeros(1000, np.int64)) > ordered
    assert truth[np.argsort(-scores)[:32]].mean() > 0.95 * np.sort(truth)[-32:].mean()


def test_units_of_throughput_do_not_matter():
    models = [GradientBoostedModel(), GradientBoostedModel()]
    for model, scale in zip(models, (1.0, 1024.0), strict=True):
        model.update(_rows(np.random.default_rng(0), rounds=3, scale=scale))
    assert models[0].text == models[1].text


def test_same_rows_and_seed_give_the_same_model():
    def train(seed):
        model = GradientBoostedModel(seed)
        model.update(_rows(np.random.default_rng(0), rounds=6))
        return model.text

    assert train(1) == train(1)
    assert train(1) != train(2)


def test_a_resumed_run_gets_the_same_model():
    """Which updates were made before does not matter, only what was measured."""
    rng = np.random.default_rng(0)
    steady, rows = GradientBoostedModel(), TrainingSet(WIDTH)
    for round_id in range(30):
        features, owner, throughput = _programs(rng, 10)
        rows.append(features, owner, throughput, workload="a", round_id=round_id)
        steady.update(rows)
    resumed = GradientBoostedModel()
    resumed.update(rows)
    assert resumed.text == steady.text
    assert resumed.validation == steady.validation is not None


def test_milestones_are_a_quarter_apart():
    rng = np.random.default_rng(0)
    rows = TrainingSet(WIDTH)
    seen = []
    for round_id in range(12):
        features, owner, throughput = _programs(rng, 10)
        rows.append(features, owner, throughput, workload="a", round_id=round_id)
        seen.append(rows.milestone(0.25))
    assert seen == [1, 2, 3, 4, 5, 5, 7, 7, 9, 9, 9, 12]
    assert rows.milestone(0.0) == 12 and rows.milestone(1.0) == 8
    assert rows.milestone(0.0, least=15) == 11, "10, 20, 30, 40, 50, 70, 90, 110 programs"


def test_is_trained_again_only_when_the_data_have_grown():
    rng = np.random.default_rng(0)
    model, rows, seen = GradientBoostedModel(), _rows(rng, rounds=1, per_round=400), []
    for round_id in range(1, 11):
        model.update(rows)
        seen.append(model.text)
        features, owner, throughput = _programs(rng, 6)
        rows.append(features, owner, throughput, workload="a", round_id=round_id)
    assert len(set(seen)) == 3, "400, 424 and 448 programs"
    other = _rows(rng, rounds=1, per_round=400)
    model.update(other)
    fresh = GradientBoostedModel()
    fresh.update(other)
    assert model.text == fresh.text, "other rows are not taken for the same ones"


def test_held_out_rounds_stop_a_model_that_fits_noise():
    rng = np.random.default_rng(1)  # noise may fit noise: one seed in ten keeps all trees
    noise, signal = TrainingSet(WIDTH), _rows(rng, rounds=30)
    for round_id in range(30):
        features, owner, _ = _programs(rng, 64)
        throughput = rng.uniform(0.1, 1.0, 64)
        noise.append(features, owner, throughput, workload="noise", round_id=round_id)
    trees = {}
    for name, rows in (("noise", noise), ("signal", signal)):
        model = GradientBoostedModel(settings=TreeSettings(learning_rate=0.4, min_trees=32))
        model.update(rows)
        trees[name] = model.validation.trees
        assert (
            model.validation.programs + model.validation.known
            == rows.sample(rows.milestone(0.25)).throughput.size
        )
        assert model.text.count("\nTree=") == trees[name]
    assert 32 <= trees["noise"] <= 64 and trees["signal"] > 100
    assert model.validation.pairwise > 0.85


def test_few_programs_are_enough_to_be_trained():
    rng = np.random.default_rng(0)
    model, rows = GradientBoostedModel(), TrainingSet(WIDTH)
    model.update(rows)
    assert not model.trained
    features, owner, throughput = _programs(rng, 1)
    with pytest.raises(InputError, match="no program yet"):
        model.predict(features, owner, 1)
    rows.append(features, owner, throughput, workload="a", round_id=0)
    model.update(rows)
    assert np.isfinite(model.predict(features, owner, 1)).all()
    rows.append(features, owner, np.zeros(1), workload="all failed", round_id=0)
    model.update(rows)
    assert np.isfinite(model.predict(features, owner, 1)).all()


def test_what_a_slow_machine_measured_is_told_apart():
    rng = np.random.default_rng(0)
    rows = TrainingSet(WIDTH)
    for round_id in range(10):
        features, owner, throughput = _programs(rng, 64)
        slow = rng.random(64) < 0.5
        rows.append(
            features,
            owner,
            throughput * np.where(slow, 0.5, 1.0),
            workload="a",
            round_id=round_id,
            region_s=np.where(slow, 2e-6, 1e-6),
        )
    model = GradientBoostedModel()
    model.update(rows)
    features, owner, _ = _programs(rng, 200)
    at_best = model.predict(features, owner, 200)
    np.testing.assert_array_equal(
        at_best, model.predict(features, owner, 200, np.full(200, 1.1e-6))
    )
    slowly = model.predict(features, owner, 200, np.full(200, 2e-6))
    assert 0.4 < np.median(slowly / at_best) < 0.6


def test_features_that_tell_nothing_are_no_error():
    rows = TrainingSet(3)
    features, owner = np.ones((6, 3), np.float32), np.arange(6)
    for round_id in range(24):
        rows.append(features, owner, 1.0 + owner, workload="a", round_id=round_id)
    model = GradientBoostedModel()
    model.update(rows)
    assert np.ptp(model.predict(features, owner, 6)) == 0


def test_failed_programs_are_avoided():
    rng = np.random.default_rng(0)
    rows = TrainingSet(WIDTH)
    for round_id in range(6):
        features, owner, throughput = _programs(rng, 64)
        bad = np.bincount(owner, features[:, 5] > 1.0, minlength=64) > 0
        throughput = np.where(bad, 0.0, throughput)
        rows.append(features, owner, throughput, workload="a", round_id=round_id)
    model = GradientBoostedModel()
    model.update(rows)
    features, owner, _ = _programs(rng, 1000)
    bad = np.bincount(owner, features[:, 5] > 1.0, minlength=1000) > 0
    best = np.argsort(-model.predict(features, owner, 1000))[:100]
    assert bad[best].mean() < 0.25 * bad.mean()


def test_predictions_of_a_program_do_not_depend_on_its_neighbours():
    rng = np.random.default_rng(0)
    model = GradientBoostedModel()
    model.update(_rows(rng, rounds=2))
    features, owner, _ = _programs(rng, 50)
    scores = model.predict(features, owner, 50)
    for program in (0, 7, 49):
        mine = owner == program
        alone = model.predict(features[mine], np.zeros(mine.sum(), np.int64), 1)
        assert alone[0] == scores[program]
    assert model.predict(features[:0], owner[:0], 0).shape == (0,)
    shuffled = rng.permutation(len(owner))
    again = model.predict(features[shuffled], owner[shuffled], 50)
    np.testing.assert_allclose(again, scores, rtol=1e-12)


def test_pairwise_accuracy_counts_within_workloads():
    truth = np.array([1.0, 2.0, 3.0, 1.0, 5.0])
    workload = np.array([0, 0, 0, 1, 1])
    assert pairwise_accuracy(truth, truth, workload) == 1.0
    assert pairwise_accuracy(-truth, truth, workload) == 0.0
    assert pairwise_accuracy(np.zeros(5), truth, workload) == 0.0
    assert pairwise_accuracy(np.array([1.0, 0.0, 2.0, 9.0, 8.0]), truth, workload) == 0.5
    assert np.isnan(pairwise_accuracy(truth, np.ones(5), workload))
