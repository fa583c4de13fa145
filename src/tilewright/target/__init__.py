"""Targets: the hardware facts that scheduling and code generation read.

    Target.parse("cpu")                            this machine
    Target.parse("cpu:cortex-a53")                 a named CPU, built here and run elsewhere
    Target.parse("cpu:cortex-a53 cores=2 l2=1M")   the same with facts of one's own
    Target.parse("cuda:a100")                      a named GPU
    str(target)                                    the full form, which parses to an equal target

A spec is `kind[:name]` followed by `key=value` words; sizes take the suffixes K and M. Each kind
is a class of its own: `CpuTarget`, `CudaTarget`, `OpenclTarget`.
"""

from tilewright.target.base import KIB, MIB, Scalar, Target
from tilewright.target.cpu import (
    CpuTarget,
    available_cores,
    available_cpus,
    host_cpu,
    known_cpus,
    named_cpu,
)
from tilewright.target.gpu import EMULATED, CudaTarget, GpuTarget, OpenclTarget, known_gpus
from tilewright.target.speeds import Speeds

__all__ = [
    "EMULATED",
    "KIB",
    "MIB",
    "CpuTarget",
    "CudaTarget",
    "GpuTarget",
    "OpenclTarget",
    "Scalar",
    "Speeds",
    "Target",
    "available_cores",
    "available_cpus",
    "host_cpu",
    "known_cpus",
    "known_gpus",
    "named_cpu",
]
