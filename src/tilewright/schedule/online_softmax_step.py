"""The step that gives a softmax its online form (its math: `expr/rewrites/online_softmax.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.expr.nodes import Tensor
from tilewright.expr.rewrites.online_softmax import SoftmaxProduct, find, rewrite
from tilewright.expr.tensors import Compute
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.state import Stage, State, Step


@dataclass(frozen=True, slots=True)
class OnlineSoftmax(Step):
    """Sum products with a softmax in chunks of `length`, each with a maximum of its own.

    The stages of the softmax go, those of `OnlineForm` come before the sum, which adds up chunks.
    """

    name: ClassVar[str] = "online_softmax"
    stage: str
    length: int

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        found = softmax_product(state, stage)
        if found is None:
            raise ScheduleError(f"{self.stage} is no sum of products with a softmax of its own")
        (over,) = stage.compute.reduce_axes
        assert isinstance(over.extent, int)
        if self.length < 1 or over.extent % self.length:
            raise ScheduleError(
                f"{self.stage}: chunks of {self.length} do not divide {over.name}, which has "
                f"{over.extent} steps"
            )
        new = rewrite(stage.tensor, found, self.length)
        for tensor in new.stages:
            state.insert_before(self.stage, tensor)
        for name in found.replaced:
            del state.stages[name]
        state.redefine(self.stage, new.result)


def softmax_product(state: State, stage: Stage) -> SoftmaxProduct | None:
    """What `OnlineSoftmax` rewrites; None where it cannot: others read a part of the softmax, or
    steps said how it or the sum are computed.
    """

    def definition(tensor: Tensor) -> Compute | None:
        return state.stages[tensor.name].compute if tensor.name in state.stages else None

    found = find(stage.compute, definition)
    if found is None or stage.tensor.dtype != found.weights.tensor.dtype:
        return None
    gone = [state[name] for name in found.replaced]
    readers = {c.name for s in gone for c in state.consumers(s.name)}
    if any(state.is_output(s.name) for s in gone) or readers - {*found.replaced, stage.name}:
        return None
    return found if all(map(state.is_untouched, (stage, *gone))) else None
