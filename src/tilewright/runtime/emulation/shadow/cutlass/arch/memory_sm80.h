// Stands before CUTLASS's header of this name in the emulation.
#pragma once

#include "cutlass/arch/memory.h"

namespace cutlass {
namespace arch {

template <int bytes, CacheOperation::Kind cache = CacheOperation::Always>
struct cp_async {
    cp_async(void* to, void const* from, bool valid = true) {
        if (valid) tw::copy_later(to, from, bytes, true);
    }
};

template <int bytes, CacheOperation::Kind cache = CacheOperation::Always>
struct cp_async_zfill {
    cp_async_zfill(void* to, void const* from, bool valid = true) {
        tw::copy_later(to, from, bytes, valid);
    }
};

template <int bytes, CacheOperation::Kind cache = CacheOperation::Always>
struct cp_async_nan;

template <class Element, bool hermitian = false>
struct cp_async_diag;

inline void cp_async_fence() { tw::commit(); }

template <int left>
inline void cp_async_wait() { tw::wait_copies(left); }

}  // namespace arch
}  // namespace cutlass
