"""How the iterations of a parallel region get to its threads.

    call void @tw_parallel(ptr @region1, ptr context, i64 total, i64 step, i32 threads, ptr loop)
      -> region1(context, begin, end, member)     some iterations, on one of the threads
           -> work1(values of the context, scratch of the member, begin, end)

Each thread has a contiguous share of 0..total, for the caches' sake, and takes it in steps. Who has
finished takes steps of the others' shares: a core that something else slows down, or that has the
dearer iterations (a border, a sparse row), does not keep the rest waiting. The pool of threads does
that (`runtime/c/pool.c`); `loop` is what it remembers of the region (`struct tw_loop`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module
from tilewright.runtime.native import PARALLEL

STEPS = 16  # of a share: what one thread waits for another at the end is at most one
DATA_OFFSET = 16  # bytes: of `data` in `struct tw_loop`
PARAMETERS = ["ptr", "ptr", "i64", "i64", "i32", "ptr"]


def fork(
    m: Module,
    b: Builder,
    n: int,
    values: Sequence[str],
    total: int | str,
    local_bytes: int,
    cores: int,
    constant: str | None = None,
) -> None:
    """Call @region`n` on `cores` threads, which hand `values` to @work`n`. `constant` points at one
    that it goes through and that caches do not hold.
    """
    context = b.fresh("a")
    b.entry.append(f"  {context} = alloca [{8 * len(values)} x i8], align 8")
    for i, value in enumerate(values):
        at = b.local(f"getelementptr i8, ptr {context}, i64 {8 * i}")
        b.do(f"store {value}, ptr {at}, align 8")
    step: int | str
    if isinstance(total, int):
        step = max(1, total // (cores * STEPS))
    else:
        steps = b.pure(f"udiv i64 {total}, {cores * STEPS}", total)
        step = b.pure(f"call i64 @llvm.umax.i64(i64 {steps}, i64 1)", steps)
    if constant is not None:
        place = f"getelementptr (i8, ptr @loop{n}, i64 {DATA_OFFSET})"
        b.do(f"store atomic ptr {constant}, ptr {place} monotonic, align 8")
    call = m.declare(PARALLEL, "void", PARAMETERS)
    b.do(
        f"call void {call}(ptr @region{n}, ptr {context}, i64 {total}, i64 {step}, i32 {cores}, "
        f"ptr @loop{n})"
    )
    m.globals[f"loop{n}"] = f"@loop{n} = internal global [4 x i64] zeroinitializer"
    m.functions.append(region(n, values, local_bytes))


def region(n: int, values: Sequence[str], local_bytes: int) -> str:
    """What a thread runs of it. The last pointer of `values` is the scratch of all threads."""
    kinds = [v.split(" ")[0] for v in values]
    scratch = max(i for i, kind in enumerate(kinds) if kind == "ptr")
    loads, names = [], []
    for i, kind in enumerate(kinds):
        loads += [
            f"  %at{i} = getelementptr i8, ptr %ctx, i64 {8 * i}",
            f"  %v{i} = load {kind}, ptr %at{i}, align 8",
        ]
        names.append(f"{kind} %v{i}")
    names[scratch] = "ptr %mine"
    return f"""define internal void @region{n}(ptr %ctx, i64 %lo, i64 %hi, i64 %member) #0 {{
{chr(10).join(loads)}
  %offset = mul i64 %member, {local_bytes}
  %mine = getelementptr i8, ptr %v{scratch}, i64 %offset
  call void @work{n}({", ".join([*names, "i64 %lo", "i64 %hi"])})
  ret void
}}
"""
