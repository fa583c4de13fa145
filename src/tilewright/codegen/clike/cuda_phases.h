// mbarriers and copies of boxes (`nest/reference/mbarriers.py`) as functions. A tensor map is a parameter of
// the kernel; PTX wants the coordinates of a box with the one along memory first.
#ifndef TW_EMULATION
struct __align__(64) tw_tensor_map { unsigned long long of[16]; };

static __device__ __forceinline__ void tw_mbarrier_init(void* at, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :: "r"(tw_shared_address(at)), "r"(count) : "memory");
}

static __device__ __forceinline__ void tw_mbarrier_arrive(void* at) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :: "r"(tw_shared_address(at)) : "memory");
}

static __device__ __forceinline__ void tw_mbarrier_arrive_expect_tx(void* at, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(tw_shared_address(at)), "r"(bytes) : "memory");
}

static __device__ __forceinline__ void tw_mbarrier_try_wait_parity(void* at, int parity) {
    unsigned over;
    do {
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(over) : "r"(tw_shared_address(at)), "r"(parity) : "memory");
    } while (!over);
}

static __device__ __forceinline__ void tw_cp_async_bulk_tensor_3d(
    void* to, const tw_tensor_map& map, int batch, int row, int column, void* phase) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];"
                 :: "r"(tw_shared_address(to)), "l"(&map), "r"(column), "r"(row), "r"(batch),
                    "r"(tw_shared_address(phase)) : "memory");
}
#endif
