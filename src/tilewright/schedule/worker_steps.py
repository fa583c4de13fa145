"""Transform steps for the workers of a GPU.

    Bind("C", "i.0", "block")         for i.0          ->  for i.0  # block
    SetScope("A.C", "shared")         alloc A.C        ->  alloc A.C  # shared

A fetch that the threads of a block share out is made of the general steps:

    CacheRead("A", ("C",))   ComputeAt("A.C", "C", 1)   SetScope("A.C", "shared")
    Fuse("A.C", ("d0", "d1"))   Split("A.C", "d0@d1", (32, 4))       32 threads, 4 elements each
    Bind("A.C", "d0@d1.1", "thread.x")   Annotate("A.C", "d0@d1.2", "vector")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilewright.errors import ScheduleError
from tilewright.nest.nodes import THREADS, WORKERS, Kind, Scope
from tilewright.schedule.state import State
from tilewright.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class Bind(Step):
    """Run a loop by workers: "block", "virtual thread", "thread.x" or "thread.y".

    A reduction may be bound to threads: they combine their results.
    """

    name: ClassVar[str] = "bind"
    stage: str
    leaf: str
    worker: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        stage.require(self.leaf)
        if self.worker not in [kind.value for kind in WORKERS]:
            known = ", ".join(kind.value for kind in WORKERS)
            raise ScheduleError(f"no workers are called {self.worker!r}; known: {known}")
        kind = Kind(self.worker)
        if stage.is_reduction(self.leaf) and kind not in THREADS:
            raise ScheduleError(
                f"{self.stage}: the reduction {self.leaf} can be bound to threads, not to a "
                f"{self.worker}"
            )
        if kind is Kind.BLOCK and stage.attach is not None:
            raise ScheduleError(
                f"{self.stage} is computed in {stage.attach.target}, inside its blocks"
            )
        stage.kinds[self.leaf] = kind


@dataclass(frozen=True, slots=True)
class SetScope(Step):
    """Which threads see a stage that is computed inside another: "local" or "shared"."""

    name: ClassVar[str] = "scope"
    stage: str
    scope: str

    def apply(self, state: State) -> None:
        stage = state[self.stage]
        if self.scope not in [s.value for s in Scope]:
            raise ScheduleError(f"no scope is called {self.scope!r}; known: local, shared")
        scope = Scope(self.scope)
        if scope is Scope.SHARED and stage.attach is None:
            raise ScheduleError(
                f"{self.stage} is computed at the root, where all blocks see it; attach it first"
            )
        stage.scope = scope


WORKER_STEPS: dict[str, type[Step]] = {cls.name: cls for cls in (Bind, SetScope)}
