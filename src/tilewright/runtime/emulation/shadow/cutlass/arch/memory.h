// Stands before CUTLASS's header of this name in the emulation.
#pragma once

#include "cutlass/cutlass.h"
#include "cutlass/array.h"
#include "cutlass/arch/cache_operation.h"
#include "cutlass/layout/matrix.h"
#include "warp.h"

#define CUTLASS_ENABLE_L2_PREFETCH 0

namespace cutlass {
namespace arch {

template <class Access, int bytes, CacheOperation::Kind cache = CacheOperation::Always>
struct global_load {
    global_load(Access& to, void const* from, bool valid) {
        if (valid) memcpy(&to, from, bytes);
    }
};

template <class Access, int bytes>
struct global_store {
    global_store(Access const& from, void* to, bool valid) {
        if (valid) memcpy(to, &from, bytes);
    }
};

inline int LaneId() { return tw::current->number % tw::WARP; }

inline unsigned cutlass_get_smem_pointer(void const* at) {
    if ((uintptr_t)at >> 32) tw::fail("an address of shared memory has more than 32 bits");
    return (unsigned)(uintptr_t)at;
}

template <int bytes>
inline void shared_load(void* to, uint32_t from) { memcpy(to, (void const*)(uintptr_t)from, bytes); }

template <int bytes>
inline void shared_store(uint32_t to, void const* from) { memcpy((void*)(uintptr_t)to, from, bytes); }

}  // namespace arch
}  // namespace cutlass

#include "cutlass/arch/memory_sm75.h"
#include "cutlass/arch/memory_sm80.h"
