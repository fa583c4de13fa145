"""What tuning several models together shall make small: the objectives of the paper's table 2.

Input: the best latency of every task. Output: one number, and its derivative by each latency.

    models = [ObjectiveModel("resnet", (0, 1), weights=(3, 1)),
              ObjectiveModel("bert", (1, 2), weights=(12, 12))]
    goal = Goal(LatencyRequirement((0.020, 0.100)), models, tasks=3)
    goal.value(latencies_s), goal.gradient(latencies_s)          # a float, and [3]

| paper | here                   | value for model latencies l_j                           |
|-------|------------------------|---------------------------------------------------------|
| f1    | `TotalLatency()`       | sum of l_j                                              |
| f2    | `LatencyRequirement`   | sum of max(l_j, L_j): no time for a model quick enough  |
| f3    | `GeomeanSpeedup`       | -(product of B_j / l_j)^(1/m): speed-up over references |
| f4    | `EarlyStopping`        | any of the others; a task that stalls counts as stalled |
|       | `CustomObjective`      | any function of the l_j                                 |

A model's latency is the weighted sum of its tasks' latencies; a task may serve several models. All
latencies are in seconds. A derivative at a kink is the one towards lower latency, for that is where
tuning leads: a model just at its requirement has nothing more to gain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tilewright.ground.errors import InputError

Floats = npt.NDArray[np.float64]

Histories = Sequence[Sequence[float]]
"""For each task its best latency after each unit of tuning, the last one being today's."""


@dataclass(frozen=True, slots=True)
class ObjectiveModel:
    """A network as its tasks, by index, and how often each one runs in it."""

    name: str
    tasks: tuple[int, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.tasks) != len(self.weights):
            raise InputError(
                f"model {self.name} has {len(self.tasks)} tasks but {len(self.weights)} weights"
            )


@runtime_checkable
class Objective(Protocol):
    """A function of model latencies that tuning makes small."""

    def value(self, latencies: Floats) -> float:
        """From latencies `[m]` of the models."""
        ...

    def gradient(self, latencies: Floats) -> Floats:
        """The derivative of `value` by each model's latency, `[m]`."""
        ...


@dataclass(frozen=True, slots=True)
class TotalLatency:
    """f1: the time of a pipeline that runs every model once."""

    def value(self, latencies: Floats) -> float:
        return float(latencies.sum())

    def gradient(self, latencies: Floats) -> Floats:
        return np.ones_like(latencies)


@dataclass(frozen=True, slots=True)
class LatencyRequirement:
    """f2: no gain from a model that runs within its limit, in seconds."""

    limits_s: tuple[float, ...]

    def value(self, latencies: Floats) -> float:
        return float(np.maximum(latencies, _per_model(self.limits_s, latencies, "limits")).sum())

    def gradient(self, latencies: Floats) -> Floats:
        slow = latencies > _per_model(self.limits_s, latencies, "limits")
        return slow.astype(np.float64)


@dataclass(frozen=True, slots=True)
class GeomeanSpeedup:
    """f3: minus the geometric mean of the speed-ups over reference latencies, in seconds."""

    references_s: tuple[float, ...]

    def value(self, latencies: Floats) -> float:
        references = _per_model(self.references_s, latencies, "references")
        return -math.exp(float(np.mean(np.log(references / latencies))))

    def gradient(self, latencies: Floats) -> Floats:
        return -self.value(latencies) / (len(latencies) * latencies)


@dataclass(frozen=True, slots=True)
class CustomObjective:
    """The user's function of the models' latencies; its gradient by central differences."""

    function: Callable[[Sequence[float]], float]
    relative_step: float = 1e-4

    def value(self, latencies: Floats) -> float:
        return float(self.function(latencies.tolist()))

    def gradient(self, latencies: Floats) -> Floats:
        steps = np.diag(self.relative_step * latencies)
        return np.array(
            [
                (self.value(latencies + step) - self.value(latencies - step)) / (2 * step.sum())
                for step in steps
            ]
        )


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """f4: a task that has stalled is not worth more time; otherwise `objective` decides.

    A task has stalled when its last `patience` units gained less than `tolerance` of its latency.
    Its latency g then counts as max(g, ES) with ES the latency before these units, so a small gain
    changes nothing; ES of other tasks is 0.
    """

    objective: Objective = field(default_factory=TotalLatency)
    patience: int = 8
    tolerance: float = 0.01

    def value(self, latencies: Floats) -> float:
        return self.objective.value(latencies)

    def gradient(self, latencies: Floats) -> Floats:
        return self.objective.gradient(latencies)

    def stop_s(self, history: Sequence[float]) -> float:
        """ES(g, t) of the paper's table 2, from the task's latency after each unit, in seconds."""
        if len(history) <= self.patience:
            return 0.0
        before, now = history[-1 - self.patience], history[-1]
        return before if before - now < self.tolerance * before else 0.0


def as_objective(
    wanted: Objective | Callable[[Sequence[float]], float] | None,
) -> Objective:
    """An objective from what a user may give: nothing (f1), an objective, or a function."""
    match wanted:
        case None:
            return TotalLatency()
        case Objective() if not isinstance(wanted, type):
            return wanted
        case _ if callable(wanted) and not isinstance(wanted, type):
            return CustomObjective(wanted)
    raise InputError(
        f"an objective is an instance such as TotalLatency() or a function of the models' "
        f"latencies, not {wanted!r}"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """An objective for certain models: a function of the latencies `[tasks]` of their tasks.

    Raises InputError if a model names a task that there is not, a task serves no model, or the
    objective is meant for another number of models.
    """

    objective: Objective
    models: Sequence[ObjectiveModel]
    tasks: int

    def __post_init__(self) -> None:
        for model in self.models:
            wrong = [task for task in model.tasks if not 0 <= task < self.tasks]
            if wrong:
                raise InputError(f"model {model.name} has tasks {wrong} of {self.tasks}")
        idle = sorted({*range(self.tasks)} - {t for model in self.models for t in model.tasks})
        if idle:
            raise InputError(f"tasks {idle} belong to no model: tuning them would serve nothing")
        self.value(np.ones(self.tasks))

    def value(self, latencies: Floats, histories: Histories = ()) -> float:
        """The objective; `histories` are read by `EarlyStopping` alone."""
        return self.objective.value(self.model_latencies(self._stopped(latencies, histories)))

    def gradient(self, latencies: Floats, histories: Histories = ()) -> Floats:
        """The derivative by each task's latency, `[tasks]`; 0 where early stopping holds."""
        counted = self._stopped(latencies, histories)
        by_model = self.objective.gradient(self.model_latencies(counted))
        by_task = by_model @ self._weights()
        running = latencies > self._stops(histories)
        return np.where(running, by_task, 0.0)

    def model_latencies(self, latencies: Floats) -> Floats:
        """Each model's latency `[m]` from its tasks'."""
        return self._weights() @ latencies

    def _weights(self) -> Floats:
        """How often each task runs in each model, `[m, tasks]`."""
        weights = np.zeros((len(self.models), self.tasks))
        for row, model in zip(weights, self.models, strict=True):
            np.add.at(row, np.array(model.tasks, np.int64), model.weights)
        return weights

    def _stopped(self, latencies: Floats, histories: Histories) -> Floats:
        return np.maximum(latencies, self._stops(histories))

    def _stops(self, histories: Histories) -> Floats:
        """ES of each task, 0 where it does not hold."""
        stops = np.zeros(self.tasks)
        if isinstance(self.objective, EarlyStopping) and len(histories):
            stops[:] = [self.objective.stop_s(history) for history in histories]
        return stops


def _per_model(constants: Sequence[float], latencies: Floats, what: str) -> Floats:
    if len(constants) != len(latencies):
        raise InputError(f"the objective has {len(constants)} {what} for {len(latencies)} models")
    return np.array(constants, np.float64)
