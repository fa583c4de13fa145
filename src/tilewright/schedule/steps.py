"""The transform steps: one small class each, in one table.

`STEPS` names them: a new one is a class of `loop_steps`, `stage_steps` or a file of its own, and
one line here.

    Split("C", "i", (4, 8))       i              ->  i.0, i.1 (4), i.2 (8)
    FollowSplit("D", "i", "C", "i", 2)           ->  i.0, i.1 (4*8): as far as D's loops go
    Fuse("C", ("i", "j"))         i, j           ->  i@j
    Reorder("C", (("i",), ("j",)))               tile levels, outermost first
    ComputeAt("B", "C", 1)        B is computed inside C's loops up to tile level 1
    StoreAt("B", "C", 1)          its storage is there, also when it is computed deeper inside
    Mark("C", "unroll_step", 16)                 loops of C may be written out, up to 16 statements
    Annotate("C", "i.0", "block")                that loop is run by the blocks of a GPU
    CacheWrite("C")               C = f(A)       ->  C.local = f(A); C = C.local
    CacheRead("A", ("C",))        C = f(A)       ->  A.C = A; C = f(A.C)
    WidenRead("C", "A")                          A.C = int16(A); C = sum_k A.C * B
    PackRead("C", "B", "k", "j", 4)              C = sum_k A * B  ->  B.C[k, j*4]; C = sum_k A * B.C
    RFactor("C", "k", 16)         C = sum_k      ->  C.rf[.., k.f] = sum_{k.r}; C = sum_{k.f} C.rf
    Winograd("C", ("h", "w"), 4)  C = sum_{r,s,c}  ->  C.data, C.products, C.inverse; C = a copy
    WinogradGrid("C", ("h", "w"), 4)             the same where h and w vary with sizes
    OnlineSoftmax("C", 64)        C = sum_k p * v  ->  in chunks of 64, each with its own maximum
    SkipZeros("C")                C = sum_k select(k % 2 == 0, ..)  ->  C = sum_{k.q} ..   k = 2*k.q
    UseForm("C", "running", 16)   C = sum_k select(k <= i, a, 0)  ->  one sum that runs along i

A fetch that the threads of a block share out is made of these:

    CacheRead("A", ("C",))   ComputeAt("A.C", "C", 1)   SetScope("A.C", "shared")
    Fuse("A.C", ("d0", "d1"))   Split("A.C", "d0@d1", (32, 4))       32 threads, 4 elements each
    Annotate("A.C", "d0@d1.1", "thread.x")   Annotate("A.C", "d0@d1.2", "vector")
"""

from tilewright.schedule.form_step import UseForm
from tilewright.schedule.loop_steps import (
    Annotate,
    ComputeAt,
    ComputeRoot,
    FollowFusedSplit,
    FollowSplit,
    Fuse,
    LayoutRewrite,
    Mark,
    Parallel,
    Reorder,
    SetScope,
    Split,
    StoreAt,
)
from tilewright.schedule.online_softmax_step import OnlineSoftmax
from tilewright.schedule.stage_steps import (
    CacheRead,
    CacheWrite,
    ComputeInline,
    PackRead,
    RFactor,
    SkipZeros,
    WidenRead,
)
from tilewright.schedule.state import Step, extent_int
from tilewright.schedule.winograd_step import Winograd, WinogradGrid

__all__ = [
    "STEPS",
    "Annotate",
    "CacheRead",
    "CacheWrite",
    "ComputeAt",
    "ComputeInline",
    "ComputeRoot",
    "FollowFusedSplit",
    "FollowSplit",
    "Fuse",
    "LayoutRewrite",
    "Mark",
    "OnlineSoftmax",
    "PackRead",
    "Parallel",
    "RFactor",
    "Reorder",
    "SetScope",
    "SkipZeros",
    "Split",
    "Step",
    "StoreAt",
    "UseForm",
    "WidenRead",
    "Winograd",
    "WinogradGrid",
    "extent_int",
]

STEPS: dict[str, type[Step]] = {
    cls.name: cls
    for cls in (
        Split, FollowSplit, FollowFusedSplit, Fuse, Reorder, ComputeAt, StoreAt,
        ComputeRoot, ComputeInline, CacheWrite, CacheRead, PackRead, WidenRead, RFactor, SkipZeros,
        Winograd,
        WinogradGrid, OnlineSoftmax, Annotate, Parallel, SetScope, Mark, LayoutRewrite, UseForm,
    )
}  # fmt: skip
