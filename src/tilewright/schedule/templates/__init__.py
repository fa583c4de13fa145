"""Programs written with task mappings, for any contraction (Hidet, ASPLOS 2023).

`TEMPLATES` has them by name. A new one is a file here and a line in the table, and in that of the
targets that have it (`space/rules/template.py`). Whose nest changes gets another version in its
name, since records say what its numbers mean.
"""

from tilewright.schedule.templates.template import Template
from tilewright.schedule.templates.tensor_cores import TENSOR_CORES

TEMPLATES: dict[str, Template] = {t.name: t for t in (TENSOR_CORES,)}

__all__ = ["TEMPLATES", "TENSOR_CORES", "Template"]
