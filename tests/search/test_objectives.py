"""Values and derivatives of the objectives, on tasks shared by two models."""

import numpy as np
import pytest

from tilewright.ground.errors import InputError
from tilewright.search.objectives import (
    CustomObjective,
    EarlyStopping,
    GeomeanSpeedup,
    Goal,
    LatencyRequirement,
    ObjectiveModel,
    TotalLatency,
    as_objective,
)

MODELS = (ObjectiveModel("first", (0, 1), (3.0, 1.0)), ObjectiveModel("second", (1, 2), (2.0, 5.0)))
LATENCIES = np.array([0.010, 0.020, 0.004])  # models: 0.050 and 0.060 s


def _goal(objective, models=MODELS, tasks=3):
    return Goal(objective, models, tasks)


def _numeric_gradient(goal, latencies, histories=()):
    return np.array(
        [
            (goal.value(latencies + d, histories) - goal.value(latencies - d, histories)) / 2e-7
            for d in 1e-7 * np.eye(len(latencies))
        ]
    )


def test_models_share_tasks():
    np.testing.assert_allclose(_goal(TotalLatency()).model_latencies(LATENCIES), [0.05, 0.06])


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        (TotalLatency(), 0.11),
        (LatencyRequirement((0.04, 0.07)), 0.05 + 0.07),
        (LatencyRequirement((0.07, 0.07)), 0.14),
        (GeomeanSpeedup((0.1, 0.03)), -1.0),
        (GeomeanSpeedup((0.2, 0.06)), -2.0),
        (CustomObjective(max), 0.06),
        (CustomObjective(lambda latencies: latencies[0] * latencies[1]), 0.003),
        (EarlyStopping(), 0.11),
    ],
)
def test_values_and_gradients(objective, value):
    goal = _goal(objective)
    assert goal.value(LATENCIES) == pytest.approx(value)
    np.testing.assert_allclose(
        goal.gradient(LATENCIES), _numeric_gradient(goal, LATENCIES), rtol=1e-5, atol=1e-7
    )


def test_requirement_has_no_gain_from_a_model_that_meets_it():
    goal = _goal(LatencyRequirement((0.04, 0.07)))
    np.testing.assert_allclose(goal.gradient(LATENCIES), [3.0, 1.0, 0.0])
    just_met = _goal(LatencyRequirement((0.05, 0.06)))
    assert just_met.model_latencies(LATENCIES).tolist() == [0.05, 0.06]
    assert just_met.gradient(LATENCIES).tolist() == [0.0, 0.0, 0.0]


def test_geomean_cares_for_ratios():
    """The same relative gain counts the same in a slow and in a quick model."""
    models = (ObjectiveModel("slow", (0,), (1.0,)), ObjectiveModel("quick", (1,), (1.0,)))
    goal = _goal(GeomeanSpeedup((1.0, 1.0)), models, 2)
    latencies = np.array([10.0, 0.001])
    gain = goal.gradient(latencies) * latencies
    assert gain[0] == pytest.approx(gain[1]) and gain[0] > 0


def test_a_stalled_task_counts_as_stalled():
    objective = EarlyStopping(patience=3, tolerance=0.01)
    goal = _goal(objective)
    histories = [[0.02, 0.0101, 0.0101, 0.0101, 0.010], [0.05, 0.04, 0.03, 0.02], [0.004] * 3]
    assert objective.stop_s(histories[0]) == 0.0101
    assert objective.stop_s(histories[1]) == 0.0, "still gaining"
    assert objective.stop_s(histories[2]) == 0.0, "not tried for long enough"
    assert goal.value(LATENCIES, histories) == pytest.approx(0.11 + 3 * 0.0001)
    np.testing.assert_allclose(goal.gradient(LATENCIES, histories), [0.0, 3.0, 5.0])
    np.testing.assert_allclose(
        goal.gradient(LATENCIES, histories), _numeric_gradient(goal, LATENCIES, histories), 1e-5
    )


def test_early_stopping_wraps_any_objective():
    objective = EarlyStopping(LatencyRequirement((0.04, 0.07)), patience=2)
    goal = _goal(objective)
    histories = [[0.01] * 3, [0.05, 0.03, 0.02], [0.04, 0.02, 0.004]]
    np.testing.assert_allclose(goal.gradient(LATENCIES, histories), [0.0, 1.0, 0.0])


def test_what_a_user_may_give():
    assert as_objective(None) == TotalLatency()
    assert as_objective(EarlyStopping()) == EarlyStopping()
    assert as_objective(max).value(np.array([1.0, 4.0])) == 4.0
    for wrong in (3, "total", TotalLatency):
        with pytest.raises(InputError, match="an objective is"):
            as_objective(wrong)


def test_what_does_not_fit_is_named():
    with pytest.raises(InputError, match="first has 2 tasks but 1 weights"):
        ObjectiveModel("first", (0, 1), (1.0,))
    with pytest.raises(InputError, match=r"second has tasks \[2\] of 2"):
        _goal(TotalLatency(), tasks=2)
    with pytest.raises(InputError, match=r"tasks \[3\] belong to no model"):
        _goal(TotalLatency(), tasks=4)
    with pytest.raises(InputError, match="3 limits for 2 models"):
        _goal(LatencyRequirement((1.0, 1.0, 1.0)))
    with pytest.raises(InputError, match="1 references for 2 models"):
        _goal(GeomeanSpeedup((1.0,)))
