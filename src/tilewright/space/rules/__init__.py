"""The sketch rules of a CPU, in the order in which they are tried.

A new rule is one file here and one line in the table; users put theirs in front with
`Space(dag, target, rules=[mine, *CPU_RULES])`.
"""

from tilewright.space.rules.constant_tensor import UNROLL_CONSTANT_TENSOR
from tilewright.space.rules.inline import ALWAYS_INLINE, SKIP
from tilewright.space.rules.pack_read import PACK_READ
from tilewright.space.rules.rfactor import REDUCTION_FACTORISATION
from tilewright.space.rules.skip_zeros import SKIP_ZEROS
from tilewright.space.rules.tiling import (
    ADD_CACHE_WRITE,
    MULTI_LEVEL_TILING,
    TILING_WITH_FUSION,
)

CPU_RULES = (
    ALWAYS_INLINE,
    UNROLL_CONSTANT_TENSOR,
    SKIP_ZEROS,
    REDUCTION_FACTORISATION,
    PACK_READ,
    ADD_CACHE_WRITE,
    TILING_WITH_FUSION,
    MULTI_LEVEL_TILING,
    SKIP,
)

__all__ = ["CPU_RULES"]
