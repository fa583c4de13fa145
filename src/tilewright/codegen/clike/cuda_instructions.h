// The instructions of a nest (`nest/instructions.py`) as functions. Operands are pointers to their
// first elements; a fragment in private storage is registers, once loops around it are unrolled.
#ifndef TW_EMULATION
static __device__ __forceinline__ unsigned tw_shared_address(const void* at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

#define TW_MMA_M16N8K16(element, name) \
    static __device__ __forceinline__ void tw_mma_m16n8k16( \
        float* c, const element* left, const element* right) { \
        const unsigned* a = (const unsigned*)left; \
        const unsigned* b = (const unsigned*)right; \
        asm volatile( \
            "mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 " \
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }
#ifdef __CUDA_FP16_H__
TW_MMA_M16N8K16(__half, "f16")
#endif
#ifdef __CUDA_BF16_H__
TW_MMA_M16N8K16(__nv_bfloat16, "bf16")
#endif

static __device__ __forceinline__ void tw_ldmatrix_x4(void* to, const void* row) {
    unsigned* r = (unsigned*)to;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(tw_shared_address(row)) : "memory");
}

static __device__ __forceinline__ void tw_ldmatrix_x4_trans(void* to, const void* row) {
    unsigned* r = (unsigned*)to;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(tw_shared_address(row)) : "memory");
}

// Where a copy is not `inside`, no memory is read: zeros are written. One from nowhere only writes.
#define TW_CP_ASYNC(bytes, cache, vector) \
    static __device__ __forceinline__ void tw_cp_async_##bytes( \
        void* to, const void* from, bool inside) { \
        asm volatile("cp.async." cache ".shared.global [%0], [%1], %2, %3;" \
                     :: "r"(tw_shared_address(to)), "l"(from), "n"(bytes), \
                        "r"(inside ? bytes : 0) : "memory"); \
    } \
    static __device__ __forceinline__ void tw_cp_async_##bytes(void* to) { \
        *(vector*)to = vector(); \
    }
TW_CP_ASYNC(4, "ca", int)
TW_CP_ASYNC(8, "ca", int2)
TW_CP_ASYNC(16, "cg", int4)

static __device__ __forceinline__ void tw_cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int left>
static __device__ __forceinline__ void tw_cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory");
}
#endif
