"""Targets: the hardware facts that scheduling and code generation read.

    Target.parse("cpu")                            this machine
    Target.parse("cpu:cortex-a53")                 a named CPU, built here and run elsewhere
    Target.parse("cpu:cortex-a53 cores=2 l2=1M")   the same with facts of one's own
    Target.parse("cuda:a100")                      a named GPU
    str(target)                                    the full form, which parses to an equal target

A spec is `kind[:name]` followed by `key=value` words; sizes take the suffixes K and M. Each kind is
a class in a file of its own, with the record of what serves it (`backend`). A new kind is such a
file and one line in the table below.
"""

from tilewright.target.backend import Backend, Part
from tilewright.target.base import KIB, MIB, Scalar, Target
from tilewright.target.cpu import (
    CpuTarget,
    available_cores,
    available_cpus,
    host_cpu,
    known_cpus,
    memory_bytes,
    named_cpu,
)
from tilewright.target.cuda import CudaTarget
from tilewright.target.emulated import EmulatedTarget
from tilewright.target.gpu import GpuTarget
from tilewright.target.opencl import OpenclTarget
from tilewright.target.speeds import Speeds

Target.kinds = {
    kind.kind: kind
    for kind in (
        CpuTarget,
        CudaTarget,
        OpenclTarget,
        EmulatedTarget,
    )
}

__all__ = [
    "KIB",
    "MIB",
    "Backend",
    "CpuTarget",
    "CudaTarget",
    "EmulatedTarget",
    "GpuTarget",
    "OpenclTarget",
    "Part",
    "Scalar",
    "Speeds",
    "Target",
    "available_cores",
    "available_cpus",
    "host_cpu",
    "known_cpus",
    "memory_bytes",
    "named_cpu",
]
