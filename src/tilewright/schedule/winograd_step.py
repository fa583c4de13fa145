"""The step that gives a convolution Winograd's form (`expr/rewrites/winograd.py` has the math)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.expr.rewrites.winograd import MATRICES, Convolution, find, rewrite, rounding
from tilewright.ground.errors import ScheduleError
from tilewright.schedule.state import Mapped, State, Step


@dataclass(frozen=True, slots=True)
class Winograd(Step):
    """Compute a convolution in tiles of `tile` outputs along the windows of `axes`.

    Three stages come before it and it becomes a copy of the last. Its weights become a constant
    that is made from them once (`State.mapped`). The tiles are one axis.
    """

    name: ClassVar[str] = "winograd"
    is_grid: ClassVar[bool] = False
    stage: str
    axes: tuple[str, ...]
    tile: int

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        found = find(stage.compute)
        if found is None or self.tile not in MATRICES:
            raise ScheduleError(
                f"{self.stage} is no sum over windows of 3 taps with constant weights, or there "
                f"are no tables for tiles of {self.tile} (there are for {sorted(MATRICES)})"
            )
        if not (self.is_grid or all(isinstance(a.extent, int) for a in stage.axes)):
            raise ScheduleError(f"{self.stage} has sizes; its tiles must stay a grid")
        windows = tuple(w for w in found.windows if w.axis in self.axes)
        if tuple(w.axis for w in windows) != self.axes:
            raise ScheduleError(f"{self.stage} has no windows {self.axes}")
        around = [stage, *state.producers(self.stage)]
        if stage.relations or any(s.attach is not None for s in around):
            raise ScheduleError(f"{self.stage}: Winograd's form must come before other steps")
        weights = found.weights.tensor
        if len(state.consumers(weights.name)) > 1:
            raise ScheduleError(f"{weights.name} has other readers; it must stay as it is")
        chosen = Convolution(found.data, found.weights, windows)
        new = rewrite(stage.tensor, chosen, self.tile, self.is_grid)
        for tensor in new.stages:
            state.insert_before(self.stage, tensor)
        state.redefine(self.stage, new.result)
        state.constants = tuple(new.weights if t == weights else t for t in state.constants)
        state.tables = (*state.tables, *new.tables)
        state.rounding *= rounding(self.tile) ** len(windows)
        # Windows transformed one step after another are maps one after another.
        before = state.mapped.pop(weights.name, Mapped(weights, ()))
        state.mapped[new.weights.name] = Mapped(before.source, (*before.maps, *new.maps))


class WinogradGrid(Winograd):
    """The same with an axis of tiles for each window, whose extents may be sizes."""

    name: ClassVar[str] = "winograd_grid"
    is_grid: ClassVar[bool] = True
