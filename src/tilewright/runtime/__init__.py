"""Load, call and time compiled functions on this machine."""

from tilewright.contract.artifact import Artifact, BufferSpec, Packing
from tilewright.runtime.buffers import aligned_empty
from tilewright.runtime.cpu import LoadedKernel
from tilewright.runtime.function import CompiledFunction

__all__ = [
    "Artifact",
    "BufferSpec",
    "CompiledFunction",
    "LoadedKernel",
    "Packing",
    "aligned_empty",
]
