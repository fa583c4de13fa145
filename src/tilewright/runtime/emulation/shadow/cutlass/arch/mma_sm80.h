// Stands before CUTLASS's header of this name in the emulation.
#pragma once

#include "cutlass/arch/mma.h"
#include "emulated_mma.h"

namespace cutlass {
namespace arch {

template <>
struct Mma<
    gemm::GemmShape<16, 8, 16>, 32, half_t, layout::RowMajor, half_t, layout::ColumnMajor, float,
    layout::RowMajor, OpMultiplyAdd> : EmulatedMma<half_t, 16, Sm80> {};

template <>
struct Mma<
    gemm::GemmShape<16, 8, 16>, 32, bfloat16_t, layout::RowMajor, bfloat16_t, layout::ColumnMajor,
    float, layout::RowMajor, OpMultiplyAdd> : EmulatedMma<bfloat16_t, 16, Sm80> {};

template <>
struct Mma<
    gemm::GemmShape<16, 8, 8>, 32, bfloat16_t, layout::RowMajor, bfloat16_t, layout::ColumnMajor,
    float, layout::RowMajor, OpMultiplyAdd> : EmulatedMma<bfloat16_t, 8, Sm80> {};

template <>
struct Mma<
    gemm::GemmShape<16, 8, 8>, 32, tfloat32_t, layout::RowMajor, tfloat32_t, layout::ColumnMajor,
    float, layout::RowMajor, OpMultiplyAdd> : EmulatedMma<tfloat32_t, 8, Sm80> {};

}  // namespace arch
}  // namespace cutlass
