// Stands before CUTLASS's header of this name in the emulation.
#pragma once

#include "cutlass/arch/mma.h"
#include "emulated_mma.h"

namespace cutlass {
namespace arch {

template <>
struct Mma<
    gemm::GemmShape<16, 8, 8>, 32, half_t, layout::RowMajor, half_t, layout::ColumnMajor, float,
    layout::RowMajor, OpMultiplyAdd> : EmulatedMma<half_t, 8, Sm75> {};

}  // namespace arch
}  // namespace cutlass
