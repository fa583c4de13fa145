"""How the iterations of a parallel region get to its threads.

Each thread has a contiguous share of 0..total, for the caches' sake, and takes it in steps. Who has
finished takes steps of the others' shares: a core that something else slows down, or that has the
dearer iterations (a border, a sparse row), does not keep the rest waiting.

How many iterations of each share are taken is counted in the region's context block, a cache line a
share; what the region works on follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm.builder import Builder
from tilewright.codegen.llvm.module import Module

LINE = 64
STEPS = 16  # of a share: what one thread waits for another at the end is at most one


def fork(
    m: Module, b: Builder, n: int, values: Sequence[str], total: int, local_bytes: int, cores: int
) -> None:
    """Call @region`n` on `cores` threads, which hand `values` to @work`n`."""
    context = b.fresh("a")
    size = LINE * cores + 8 * len(values)
    b.entry.append(f"  {context} = alloca [{size} x i8], align {LINE}")
    slots = [(LINE * i, "i64 0") for i in range(cores)]
    slots += [(LINE * cores + 8 * i, value) for i, value in enumerate(values)]
    for offset, value in slots:
        at = b.local(f"getelementptr i8, ptr {context}, i64 {offset}")
        b.do(f"store {value}, ptr {at}, align 8")
    call = m.declare("GOMP_parallel", "void", ["ptr", "ptr", "i32", "i32"])
    b.do(f"call void {call}(ptr @region{n}, ptr {context}, i32 {cores}, i32 0)")
    m.functions.append(region(m, n, values, total, local_bytes, cores))


def region(
    m: Module, n: int, values: Sequence[str], total: int, local_bytes: int, cores: int
) -> str:
    """What each thread runs. The last pointer of `values` is the scratch of all threads."""
    step = max(1, total // (cores * STEPS))
    kinds = [v.split(" ")[0] for v in values]
    scratch = max(i for i, kind in enumerate(kinds) if kind == "ptr")
    loads, names = [], []
    for i, kind in enumerate(kinds):
        loads += [
            f"  %at{i} = getelementptr i8, ptr %ctx, i64 {LINE * cores + 8 * i}",
            f"  %v{i} = load {kind}, ptr %at{i}, align 8",
        ]
        names.append(f"{kind} %v{i}")
    names[scratch] = "ptr %mine"
    thread, threads = (
        m.declare(name, "i32", []) for name in ("omp_get_thread_num", "omp_get_num_threads")
    )
    return f"""define internal void @region{n}(ptr %ctx) #0 {{
entry:
{chr(10).join(loads)}
  %me.32 = call i32 {thread}()
  %team.32 = call i32 {threads}()
  %me = zext i32 %me.32 to i64
  %team = zext i32 %team.32 to i64
  %offset = mul i64 %me, {local_bytes}
  %mine = getelementptr i8, ptr %v{scratch}, i64 %offset
  br label %share
share:
  %turn = phi i64 [ 0, %entry ], [ %turn.next, %empty ]
  %round = add i64 %me, %turn
  %whose = urem i64 %round, %team
  %whose.next = add i64 %whose, 1
  %first.work = mul i64 %whose, {total}
  %first = udiv i64 %first.work, %team
  %end.work = mul i64 %whose.next, {total}
  %end = udiv i64 %end.work, %team
  %line = mul i64 %whose, {LINE}
  %taken = getelementptr i8, ptr %ctx, i64 %line
  br label %take
take:
  %before = atomicrmw add ptr %taken, i64 {step} monotonic
  %lo = add i64 %first, %before
  %some = icmp ult i64 %lo, %end
  br i1 %some, label %run, label %empty
run:
  %up = add i64 %lo, {step}
  %cut = icmp ult i64 %end, %up
  %hi = select i1 %cut, i64 %end, i64 %up
  call void @work{n}({", ".join([*names, "i64 %lo", "i64 %hi"])})
  br label %take
empty:
  %turn.next = add i64 %turn, 1
  %more = icmp ult i64 %turn.next, %team
  br i1 %more, label %share, label %done
done:
  ret void
}}
"""
