"""A build function for tests: good and bad OpenCL candidates of y[i] = 2·x[i] + 1, for SIZE
elements or the first S.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.contract.artifact import Artifact, BufferSpec, Launch
from tilewright.contract.sizes import Size
from tilewright.runtime.devices import target_at_hand

SIZE = 256
KERNEL = """__kernel void map(__global const float *restrict x, __global float *restrict y SIZES) {
    int i = get_global_id(0);
    STATEMENT
}
"""
STATEMENTS = {
    "good": "y[i] = 2.0f * x[i] + 1.0f;",
    "wrong": "y[i] = 2.0f * x[i] + (i == 77 ? 1.5f : 1.0f);",
    "unwritten": "if (i < 200) y[i] = 2.0f * x[i] + 1.0f;",
    "reads behind": "y[i] = 2.0f * x[i] + 1.0f + 0.0f * x[i + 1];",
    "writes behind": "y[i] = 2.0f * x[i] + 1.0f; if (i == 0) y[256] = 3.0f;",
    "crash": "y[i] = *(__global float *)(16L + i);",
    "hang": "volatile int n = 1; while (n) {} y[i] = 0.0f;",
    "not a program": "nothing here",
    "sized": "if (i < S) y[i] = 2.0f * x[i] + 1.0f;",
    "writes beyond": "y[i] = 2.0f * x[i] + 1.0f;",
    "reads beyond": "if (i < S) y[i] = 2.0f * x[i] + 1.0f + 0.0f * x[min(i + 1, 255)];",
    "unwritten beyond 100": "if (i < min(S, 100)) y[i] = 2.0f * x[i] + 1.0f;",
}


def build(data: bytes) -> bytes:
    """What builder processes call; a request is a name from `STATEMENTS`."""
    return candidate(data.decode()).to_bytes()


def candidate(kind: str) -> Artifact:
    """The artifact of one kind of candidate."""
    x, y = BufferSpec("x", (SIZE,), "float32"), BufferSpec("y", (SIZE,), "float32")
    code = KERNEL.replace("STATEMENT", STATEMENTS[kind]).replace("SIZES", "").encode()
    launch = Launch("map", SIZE // 64, (64, 1), (0, 1))
    target = str(target_at_hand("opencl"))
    return Artifact("map", target, code, (x,), (), (y,), (), 0, launches=(launch,))


def sized_candidate(kind: str) -> Artifact:
    """The same for S of SIZE elements."""
    fixed, sizes = candidate(kind), (Size("S", 1, SIZE),)
    code = KERNEL.replace("STATEMENT", STATEMENTS[kind]).replace("SIZES", ", int S").encode()
    count = ("floordiv", ("add", ("size", 0), 63), 64)
    launch = replace(fixed.launches[0], sizes=(0,), count=count)
    return replace(fixed, object_code=code, launches=(launch,), sizes=sizes)
