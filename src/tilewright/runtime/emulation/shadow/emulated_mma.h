// The multiply-add of a warp as CUTLASS's templates know it; included after its `arch/mma.h`.
#pragma once

#include "cutlass/layout/matrix.h"
#include "cutlass/numeric_types.h"
#include "warp.h"

namespace cutlass {
namespace arch {

// mma.sync of 16 x 8 x K with sums in float, which is all that our templates use.
template <class Element, int K, class Tag>
struct EmulatedMma {
    using Shape = gemm::GemmShape<16, 8, K>;
    using ElementA = Element;
    using LayoutA = layout::RowMajor;
    using FragmentA = Array<Element, 16 * K / 32>;
    using ElementB = Element;
    using LayoutB = layout::ColumnMajor;
    using FragmentB = Array<Element, 8 * K / 32>;
    using ElementC = float;
    using LayoutC = layout::RowMajor;
    using FragmentC = Array<float, 4>;
    using Operator = OpMultiplyAdd;
    using ArchTag = Tag;

    void operator()(
        FragmentC& d, FragmentA const& a, FragmentB const& b, FragmentC const& c) const {
        tw::multiply<Element, K>(
            reinterpret_cast<float*>(&d), &a, &b, reinterpret_cast<float const*>(&c));
    }
};

}  // namespace arch
}  // namespace cutlass
