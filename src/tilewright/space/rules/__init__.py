"""The sketch rules of each kind of target, in the order in which they are tried.

A new rule is one file here and one line in a table; a target's backend names its table. Users put
theirs in front with
`Space(dag, target, rules=[mine, *CPU_RULES])`.
"""

from tilewright.space.derivation import Rule
from tilewright.space.rules.ansor import (
    ADD_CACHE_WRITE,
    ALWAYS_INLINE,
    INLINE_ALL,
    MULTI_LEVEL_TILING,
    REDUCTION_FACTORISATION,
    SKIP,
    TILING_WITH_FUSION,
)
from tilewright.space.rules.chain import CHAIN, CHAINED, LINKED
from tilewright.space.rules.constant_tensor import UNROLL_CONSTANT_TENSOR
from tilewright.space.rules.cross_thread import CROSS_THREAD_REDUCTION
from tilewright.space.rules.form import IN_FORM
from tilewright.space.rules.gpu_rows import BY_ROWS, ROW_REDUCTION
from tilewright.space.rules.gpu_tiling import GPU_CACHE_WRITE, GPU_TILING
from tilewright.space.rules.online_softmax import ONLINE_SOFTMAX
from tilewright.space.rules.pack_read import PACK_DOTS, PACK_READ, WIDEN_FACTOR
from tilewright.space.rules.skip_zeros import SKIP_ZEROS
from tilewright.space.rules.turned_tiles import TURNED_TILES
from tilewright.space.rules.winograd import WINOGRAD
from tilewright.target import Target

CPU_RULES = (
    LINKED,
    ALWAYS_INLINE,
    PACK_DOTS,
    WIDEN_FACTOR,
    CHAINED,
    IN_FORM,
    WINOGRAD,
    UNROLL_CONSTANT_TENSOR,
    SKIP_ZEROS,
    REDUCTION_FACTORISATION,
    ONLINE_SOFTMAX,
    CHAIN,
    PACK_READ,
    ADD_CACHE_WRITE,
    TILING_WITH_FUSION,
    MULTI_LEVEL_TILING,
    TURNED_TILES,
    SKIP,
)

GPU_RULES = (
    INLINE_ALL,
    ROW_REDUCTION,
    BY_ROWS,
    CROSS_THREAD_REDUCTION,
    GPU_CACHE_WRITE,
    GPU_TILING,
    SKIP,
)


def rules_of(target: Target) -> tuple[Rule, ...]:
    """The rules for a target."""
    rules: tuple[Rule, ...] = target.backend.rules.load()
    return rules


__all__ = ["CPU_RULES", "GPU_RULES", "rules_of"]
