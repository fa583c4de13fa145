"""What code generation makes of a program, whatever it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tilewright.artifact import Launch
from tilewright.nest.nodes import Program
from tilewright.target import Target


@dataclass(frozen=True, slots=True)
class Kernel:
    """A compiled program. `externals` are symbols that a loader must provide (the pool of threads,
    libmvec, libm); `scratch_bytes` is the size of the block its caller passes. `ir` is the code as
    text; of a GPU `object_code` is that text, and `launches` are the kernels to call.
    """

    entry: str
    ir: str
    object_code: bytes
    scratch_bytes: int
    externals: tuple[str, ...] = ()
    launches: tuple[Launch, ...] = ()


Emitter: TypeAlias = Callable[[Program, Target, int], Kernel]
"""Compiles a program; constants of so many bytes are fetched ahead of their use (0: none is)."""
