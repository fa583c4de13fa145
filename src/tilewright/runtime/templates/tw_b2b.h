// Two contractions in one kernel: D = functor(between(A * B0) * B1). What is between stays in
// registers or in shared memory. One block has all columns of its rows, so `m` alone is cut.
//
// `between(value, bias)` is generated; the bias of a column is 0 where there is none.
#pragma once

#include "cutlass/epilogue/thread/scale_type.h"
#include "cutlass/gemm/threadblock/threadblock_swizzle.h"
#include "kernel/default_b2b_gemm.h"
#include "kernel/default_b2b_gemm_smem_accumulator.h"
#include "tw_epilogue.h"

namespace tw {

using OneByOne = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<1>;

// What the package calls on a few accumulators of the first contraction.
template <class Element, class Function, int Count>
struct Between {
    using ElementOutput = Element;
    using ElementAccumulator = float;
    using ElementCompute = Element;
    using FragmentAccumulator = cutlass::Array<float, Count>;
    using FragmentOutput = cutlass::Array<Element, Count>;
    using FragmentScaleBias = cutlass::Array<Element, Count>;
    static int const kCount = Count;
    static cutlass::epilogue::thread::ScaleType::Kind const kScale =
        cutlass::epilogue::thread::ScaleType::OnlyAlphaScaling;
    struct Params {};

    CUTLASS_DEVICE Between(Params const& = {}) {}
    CUTLASS_DEVICE static bool is_source_needed() { return false; }

    CUTLASS_DEVICE FragmentOutput operator()(
        FragmentAccumulator const& values, FragmentScaleBias const&,
        FragmentScaleBias const& bias) const {
        FragmentOutput found;
        CUTLASS_PRAGMA_UNROLL
        for (int i = 0; i < Count; ++i) found[i] = Element(Function::of(values[i], widened(bias[i])));
        return found;
    }
};

struct B2bGemmSizes {
    int m, k0, n0, n1;
    int lda, ldb0, ldb1;
    int bias;  // columns that have one
};

template <
    class Element, class LayoutB0, int AlignA, class LayoutB1, int AlignB, int AlignD, class Arch,
    class Block0, class Warp0, class Block1, class Warp1, class Instruction, int Stages, bool Smem,
    class Function>
struct B2bGemm {
    static_assert(
        cutlass::platform::is_same<LayoutB0, LayoutB1>::value, "the package has one layout of both");
    static int const kCount = Instruction::kM * Instruction::kN / 32;
    using Kernel = typename cutlass::gemm::kernel::DefaultB2bGemm<
        Element, cutlass::layout::RowMajor, AlignA, Element, LayoutB0, AlignB,
        cutlass::half_t, cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, Arch, Block0, Block1,
        Warp0, Warp1, Instruction, Between<Element, Function, kCount>, Output<AlignD>,
        OneByOne, Stages, cutlass::arch::OpMultiplyAdd, Smem>::B2bGemmKernel;
    using Mma = typename Kernel::B2bMma;

    template <int SharedBytes, class Functor>
    CUTLASS_DEVICE static void run(
        Element const* a, Element const* b0, Element const* bias, Element const* b1,
        B2bGemmSizes const& sizes, Functor const& functor, char* shared) {
        using Epilogue = FunctorEpilogue<typename Kernel::Epilogue, Functor>;
        union Shared {
            typename Mma::B2bMmaSharedStorage loop;
            typename Epilogue::SharedStorage epilogue;
        };
        static_assert(SameBytes<sizeof(Shared), SharedBytes>::value, "what the launch asks for");
        Shared& storage = *reinterpret_cast<Shared*>(shared);
        int const row = blockIdx.x * Block0::kM;
        int const thread = threadIdx.x, lane = threadIdx.x % 32;
        int const warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);

        typename Mma::IteratorA0::Params params_a{cutlass::layout::RowMajor(sizes.lda)};
        typename Mma::IteratorB0::Params params_b0{LayoutB0(sizes.ldb0)};
        typename Mma::IteratorB1::Params params_b1{LayoutB1(sizes.ldb1)};
        typename Mma::IteratorA0 iterator_a(
            params_a, const_cast<Element*>(a), {sizes.m, sizes.k0}, thread, {row, 0});
        typename Mma::IteratorB0 iterator_b0(
            params_b0, const_cast<Element*>(b0), {sizes.k0, sizes.n0}, thread, {0, 0});
        typename Mma::IteratorB1 iterator_b1(
            params_b1, const_cast<Element*>(b1), {sizes.n0, sizes.n1}, thread, {0, 0});
        typename Mma::IteratorAccumulatorScaleBias iterator_scale(
            const_cast<Element*>(bias), {1, 0}, thread, warp, {0, 0});
        typename Mma::IteratorAccumulatorScaleBias iterator_bias(
            const_cast<Element*>(bias), {1, sizes.bias}, thread, warp, {0, 0});

        Mma mma(storage.loop, thread, warp, lane, sizes.n0);
        typename Mma::FragmentC0 zero;
        typename Mma::FragmentC1 accumulators;
        zero.clear();
        accumulators.clear();
        mma((sizes.k0 + Block0::kK - 1) / Block0::kK, accumulators, iterator_a, iterator_b0,
            iterator_scale, iterator_bias, iterator_b1, zero, {});

        Visitor<typename Kernel::Epilogue, Functor> visitor(
            functor, {sizes.m, sizes.n1}, 0, {row, 0}, thread);
        Epilogue epilogue(storage.epilogue, thread, warp, lane);
        epilogue(visitor, accumulators);
    }
};

}  // namespace tw
