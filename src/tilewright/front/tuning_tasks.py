"""Models as the tuner sees them: different tasks, and how often each model runs which.

parts = parts_of([model, models_of_two_shapes], target)     one model for each shape
tasks, groups = merged(parts)                               equal tasks are one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.contract.surroundings import ALONE, Setting
from tilewright.front.models import Model, ModelSet, Task, Tunable
from tilewright.records.rows import ModelRow, ModelTask
from tilewright.search.objectives import ObjectiveModel
from tilewright.search.tasks import TuningTask
from tilewright.target import Target


def parts_of(models: Sequence[Tunable], target: Target) -> list[Task | Model]:
    """What is to be tuned, with every shape of a ModelSet as a model of its own."""
    parts = [m for each in models for m in (each.models if isinstance(each, ModelSet) else [each])]
    return [m if isinstance(m, Task) else m.for_target(target) for m in parts]


def tasks_of(model: Task | Model) -> list[TuningTask]:
    """The different tasks of a model, each with its weight."""
    if isinstance(model, Task):
        return [TuningTask(model.name, model.dag)]
    if model.partition.is_one_kernel:
        setting = ALONE
    else:
        setting = _among_others(model)
    return [TuningTask(t.name, t.dag, float(t.weight), setting) for t in model.partition.tasks]


def _among_others(model: Model) -> Setting:
    """Constants are read once a run. What kernels hand on to each other is nearer."""
    constants = {v for s in model.partition.subgraphs for v in s.constants}
    return Setting(1 + sum(v.bytes for v in constants))  # a model without any is a network, too


def merged(models: Sequence[Task | Model]) -> tuple[list[TuningTask], list[ObjectiveModel]]:
    """All different tasks, and every model in terms of them."""
    tasks: dict[str, TuningTask] = {}
    groups = []
    for model in models:
        mine = tasks_of(model)
        for task in mine:
            old = tasks.get(task.hash)
            weight = task.weight + (old.weight if old is not None else 0.0)
            kept = task if old is None else old
            tasks[task.hash] = replace(kept, weight=weight)
        index = {h: i for i, h in enumerate(tasks)}
        numbers = tuple(index[t.hash] for t in mine)
        groups.append(ObjectiveModel(model.name, numbers, tuple(t.weight for t in mine)))
    return list(tasks.values()), groups


def model_row(model: Task | Model, group: ObjectiveModel, tasks: Sequence[TuningTask]) -> ModelRow:
    """What the records say of a model."""
    parts = tuple(
        ModelTask(tasks[i].hash, int(w)) for i, w in zip(group.tasks, group.weights, strict=True)
    )
    return ModelRow.of(model.name, parts, model.path if isinstance(model, Model) else "")
