"""Wrappers of `wgmma` in CUDA C++, one for each number of columns that a kernel uses.

    wrapper(128, "float16", "__half")     tw_wgmma_m64n128k16<turned or not, steps>(c, a, b)

All sums of a thread are operands of one instruction, half as many as there are columns. A factor is
given by a descriptor of its window in shared memory (PTX ISA, "matrix descriptor"): where it
begins, how far apart eight rows of 128 bytes are, and, where rows of the tile are not along the
depth, how far apart 64 of its rows (or columns) are. It is CuTe's `make_gmma_desc`.

An instruction says that it writes its sums, though they are there after a wait only: what reads
them is bound to come after the wait by `tw_wgmma_sums`, an empty statement that may change them.
"""

from __future__ import annotations

PTX_NAMES = {"float16": "f16", "bfloat16": "bf16"}

WINDOW = """\
// Rows of 128 bytes with the swizzle of as many; `step` is from 64 elements across to the next.
static __device__ __forceinline__ unsigned long long tw_window(const void* first, int step) {
    unsigned long long start = (tw_shared_address(first) & 0x3ffff) >> 4;
    return start | (unsigned long long)(step >> 4) << 16 | 64ull << 32 | 1ull << 62;
}
"""
DESCRIPTOR = (
    f"""\
#ifndef TW_EMULATION
{WINDOW}"""
    + """\
static __device__ __forceinline__ void tw_wgmma_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void tw_wgmma_commit_group() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int left>
static __device__ __forceinline__ void tw_wgmma_wait_group() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(left) : "memory");
}
template <int count>
static __device__ __forceinline__ void tw_wgmma_sums(float* c) {
    #pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(c[i]) :: "memory");
}
static __device__ __forceinline__ void tw_fence_proxy_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
#endif
"""
)


def wrapper(columns: int, dtype: str, element: str) -> str:
    """The function for so many columns of sums; `element` is the dtype's C type."""
    count, kind = columns // 2, PTX_NAMES[dtype]
    sums = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"+f"(c[{i}])' for i in range(count))
    a, b, scale, turned = (f"%{count + i}" for i in range(4))
    return f"""\
#ifndef TW_EMULATION
template <int left_turned, int right_turned, int left_step, int right_step>
static __device__ __forceinline__ void tw_wgmma_m64n{columns}k16(
    float* c, const {element}* left, const {element}* right) {{
    asm volatile(
        "{{.reg .pred p; setp.ne.b32 p, {scale}, 0; "
        "wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} "
        "{{{sums}}}, {a}, {b}, p, 1, 1, {turned}, %{count + 4};}}"
        : {outputs}
        : "l"(tw_window(left, left_step)), "l"(tw_window(right, right_step)), "r"(1),
          "n"(left_turned), "n"(right_turned));
}}
#endif
"""
