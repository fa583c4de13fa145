"""A build function for tests: good and bad OpenCL candidates of y[i] = 2·x[i] + 1."""

from __future__ import annotations

from tilewright.contract.artifact import Artifact, BufferSpec, Launch
from tilewright.runtime.devices import target_at_hand

SIZE = 256
KERNEL = """__kernel void map(__global const float *restrict x, __global float *restrict y) {
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
}


def build(data: bytes) -> bytes:
    """What builder processes call; a request is a name from `STATEMENTS`."""
    return candidate(data.decode()).to_bytes()


def candidate(kind: str) -> Artifact:
    """The artifact of one kind of candidate."""
    x, y = BufferSpec("x", (SIZE,), "float32"), BufferSpec("y", (SIZE,), "float32")
    code = KERNEL.replace("STATEMENT", STATEMENTS[kind]).encode()
    launch = Launch("map", SIZE // 64, (64, 1), (0, 1))
    target = str(target_at_hand("opencl"))
    return Artifact("map", target, code, (x,), (), (y,), (), 0, launches=(launch,))
