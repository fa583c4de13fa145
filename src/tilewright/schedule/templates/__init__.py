"""Programs written with task mappings, for any contraction (Hidet, ASPLOS 2023).

`TEMPLATES` has them by name. A new one is a file here and a line in the table, and in that of the
targets that have it (`space/rules/template.py`). Whose nest changes gets another version in its
name, since records say what its numbers mean.
"""

from tilewright.schedule.templates.template import Template
from tilewright.schedule.templates.tensor_cores import SPLIT_TENSOR_CORES, TENSOR_CORES
from tilewright.schedule.templates.threads import SPLIT_THREADS, THREADS
from tilewright.schedule.templates.warpgroups import WARPGROUPS

TEMPLATES: dict[str, Template] = {
    t.name: t for t in (THREADS, SPLIT_THREADS, TENSOR_CORES, SPLIT_TENSOR_CORES, WARPGROUPS)
}

__all__ = [
    "SPLIT_TENSOR_CORES",
    "SPLIT_THREADS",
    "TEMPLATES",
    "TENSOR_CORES",
    "THREADS",
    "WARPGROUPS",
    "Template",
]
