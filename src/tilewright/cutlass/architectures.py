"""What templates need to know of a device: which instructions there are, and how much shared memory
a block may have.

    architecture_of(Target.parse("cuda:a100")).shared_bytes       166912
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.target import CudaTarget, Target
from tilewright.target.cuda import CORES
from tilewright.target.emulated import ARCHITECTURE, EmulatedTarget

Shape = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Architecture:
    """`tag` is CUTLASS's name of the instructions used. `instructions` are the multiply-adds of a
    warp (m, n, k) by dtype, `stages` the most tiles in flight.
    """

    name: str
    tag: str
    stages: int
    instructions: Mapping[str, Shape]

    @property
    def shared_bytes(self) -> int:
        """What one block can have when its launch asks for it."""
        return CORES[self.name][0]


TURING: Mapping[str, Shape] = {"float16": (16, 8, 8)}
AMPERE: Mapping[str, Shape] = {"float16": (16, 8, 16), "bfloat16": (16, 8, 16)}
ARCHITECTURES: Mapping[str, Architecture] = {
    a.name: a
    for a in (
        Architecture("sm_75", "Sm75", 2, TURING),
        Architecture("sm_80", "Sm80", 5, AMPERE),
        Architecture("sm_86", "Sm80", 5, AMPERE),
        Architecture("sm_87", "Sm80", 5, AMPERE),
        Architecture("sm_89", "Sm80", 5, AMPERE),
        Architecture("sm_90", "Sm80", 5, AMPERE),
    )
}


def architecture_of(target: Target) -> Architecture | None:
    """The architecture of a target; None where templates have nothing for it."""
    if isinstance(target, EmulatedTarget):
        return ARCHITECTURES[ARCHITECTURE]
    return ARCHITECTURES.get(target.architecture) if isinstance(target, CudaTarget) else None
