"""Programs written with task mappings, for any contraction (Hidet, ASPLOS 2023).

`TEMPLATES` has them by name. A new one is a file here and a line in the table of the targets that
have it. Whose nest changes gets another version in its name, since records say what its numbers
mean.
"""

from tilewright.schedule.templates.cpu_matmul import REGISTERS
from tilewright.schedule.templates.template import Template
from tilewright.schedule.templates.tensor_cores import SPLIT_TENSOR_CORES, TENSOR_CORES
from tilewright.schedule.templates.threads import SPLIT_THREADS, THREADS
from tilewright.schedule.templates.warp_specialized import (
    SPLIT_WARP_SPECIALIZED,
    WARP_SPECIALIZED,
)
from tilewright.schedule.templates.warpgroups import SPLIT_WARPGROUPS, WARPGROUPS
from tilewright.target import CpuTarget, GpuTarget, Target

ON_CPUS = (REGISTERS,)
ORDINARY = (THREADS, SPLIT_THREADS)
WITH_TENSOR_CORES = (TENSOR_CORES, SPLIT_TENSOR_CORES)
WITH_WARPGROUPS = (WARP_SPECIALIZED, SPLIT_WARP_SPECIALIZED, WARPGROUPS, SPLIT_WARPGROUPS)
ON_GPUS = {t.name: t for t in (*ORDINARY, *WITH_TENSOR_CORES, *WITH_WARPGROUPS)}
TEMPLATES: dict[str, Template] = {t.name: t for t in ON_CPUS} | ON_GPUS


def templates_of(target: Target, asked: bool = False) -> tuple[Template, ...]:
    """Those of a target, the most promising first; of a CPU none unless they are `asked` for: more
    sketches spread the sample of default programs, of which some would be slower.
    """
    if not isinstance(target, GpuTarget):
        return ON_CPUS if asked and isinstance(target, CpuTarget) else ()
    return (
        *(WITH_WARPGROUPS if target.has_warpgroups else ()),
        *(WITH_TENSOR_CORES if target.has_tensor_cores else ()),
        *ORDINARY,
    )


__all__ = [
    "ON_CPUS",
    "ON_GPUS",
    "ORDINARY",
    "TEMPLATES",
    "WARP_SPECIALIZED",
    "WITH_TENSOR_CORES",
    "WITH_WARPGROUPS",
    "Template",
    "templates_of",
]
