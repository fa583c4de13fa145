"""Small hand-written kernels as artifacts, for tests of what loads, runs and measures them."""

from __future__ import annotations

import functools

from llvmlite import binding as llvm

from tilewright.runtime import Artifact, BufferSpec, Packing
from tilewright.target import Target

# %n floats: out[i] = x[i] * w[i], in steps that two threads take; `@body` is some of them.
SCALE = """
declare void @tw_parallel(ptr, ptr, i64, i64, i32, ptr)

define internal void @body(ptr %buffers, i64 %from, i64 %to, i64 %member) {
  %x = load ptr, ptr %buffers
  %ws = getelementptr ptr, ptr %buffers, i64 1
  %w = load ptr, ptr %ws
  %ys = getelementptr ptr, ptr %buffers, i64 2
  %y = load ptr, ptr %ys
  br label %loop
loop:
  %i = phi i64 [ %from, %0 ], [ %next, %step ]
  %more = icmp slt i64 %i, %to
  br i1 %more, label %step, label %done
step:
  %xp = getelementptr float, ptr %x, i64 %i
  %xv = load float, ptr %xp
  %wp = getelementptr float, ptr %w, i64 %i
  %wv = load float, ptr %wp
  %v = fmul float %xv, %wv
  %yp = getelementptr float, ptr %y, i64 %i
  store float %v, ptr %yp
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}
define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
  %half = udiv i64 {n}, 2
  call void @tw_parallel(ptr @body, ptr %buffers, i64 {n}, i64 %half, i32 2, ptr null)
  ret void
}
"""

# One thread: out[i] = f(x[i]) for i < %count, where {body} computes %v from %xv.
MAP = """
define void @kernel(ptr %buffers, ptr %params, ptr %scratch) {
  %x = load ptr, ptr %buffers
  %ys = getelementptr ptr, ptr %buffers, i64 1
  %y = load ptr, ptr %ys
  br label %loop
loop:
  %i = phi i64 [ {first}, %0 ], [ %next, %{latch} ]
  %more = icmp slt i64 %i, {count}
  br i1 %more, label %step, label %done
step:
  %xp = getelementptr {type}, ptr %x, i64 %i
  %xv = load {type}, ptr %xp
  {body}
  %yp = getelementptr {type}, ptr %y, i64 %i
  store {type} %v, ptr %yp
  %next = add i64 %i, 1
  br label %loop
done:
  ret void
}
"""


@functools.cache
def object_code(ir: str, target: Target | None = None) -> bytes:
    """Compile IR text to an object file (for this machine by default)."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    facts = target or Target.parse("cpu")
    machine = llvm.Target.from_triple(facts.triple).create_target_machine(
        cpu=facts.cpu, features=facts.features, opt=1, reloc="pic"
    )
    code: bytes = machine.emit_object(
        llvm.parse_assembly(f'target triple = "{facts.triple}"\n{ir}')
    )
    return code


def fill_in(template: str, **words: object) -> str:
    """`template` with {word} replaced (braces of IR stay)."""
    for key, value in words.items():
        template = template.replace("{" + key + "}", str(value))
    return template


def scale_artifact(n: int = 1000) -> Artifact:
    """y = x * w, float32[n], w a constant; two threads."""
    x, w, y = (BufferSpec(name, (n,), "float32") for name in "xwy")
    code = object_code(fill_in(SCALE, n=n))
    host = str(Target.parse("cpu"))
    return Artifact("kernel", host, code, (x,), (w,), (y,), (Packing.identity(w),), 0)


def map_artifact(
    body: str,
    n: int,
    *,
    dtype: str = "float32",
    count: int | None = None,
    first: int = 0,
    declare: str = "",
    latch: str = "step",
) -> Artifact:
    """y[i] = body(x[i]) for first <= i < count (n by default); `body` sets %v from %xv.

    `latch` is the last block of `body` where it has several.
    """
    names = {"float32": "float", "float64": "double", "int32": "i32"}
    upto = n if count is None else count
    ir = fill_in(MAP, type=names[dtype], body=body, first=first, count=upto, latch=latch)
    x, y = BufferSpec("x", (n,), dtype), BufferSpec("y", (n,), dtype)
    host = str(Target.parse("cpu"))
    return Artifact("kernel", host, object_code(declare + ir), (x,), (), (y,), (), 0)
