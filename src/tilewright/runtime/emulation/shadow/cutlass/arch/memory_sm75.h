// Stands before CUTLASS's header of this name in the emulation.
#pragma once

#include "cutlass/arch/memory.h"

namespace cutlass {
namespace arch {

template <class Layout, int count>
inline void ldsm(Array<unsigned, count>& to, void const* row) {
    constexpr bool transposed = platform::is_same<Layout, layout::ColumnMajor>::value;
    tw::load_matrices<count, transposed>(reinterpret_cast<unsigned*>(&to), row);
}

template <class Access>
inline void shared_load(Access& to, void const* from) { memcpy(&to, from, sizeof to); }

}  // namespace arch
}  // namespace cutlass
