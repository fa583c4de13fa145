// A convolution and a 1 x 1 convolution of its result in one kernel, NHWC (see tw_b2b.h).
#pragma once

#include "kernel/default_b2b_conv2d_fprop.h"
#include "kernel/default_b2b_conv2d_fprop_sm75.h"
#include "kernel/default_b2b_conv2d_fprop_sm80.h"
#include "kernel/default_b2b_conv2d_fprop_smem_accumulator_sm75.h"
#include "kernel/default_b2b_conv2d_fprop_smem_accumulator_sm80.h"
#include "tw_b2b.h"
#include "tw_conv.h"

namespace tw {

// The first convolution, and the channels of the second one's result.
struct B2bConvSizes {
    ConvSizes first;
    int k1;
    int bias;  // channels that have one

    CUTLASS_DEVICE cutlass::conv::Conv2dProblemSize second() const {
        return {first.n, first.p, first.q, first.k, k1, 1, 1, first.p, first.q, 0, 0, 1, 1, 1, 1,
                cutlass::conv::Mode::kCrossCorrelation};
    }
};

template <
    class Element, int AlignD, class Arch, class Block0, class Warp0, class Block1, class Warp1,
    class Instruction, int Stages, bool Smem, class Function>
struct B2bConv {
    using Layout = cutlass::layout::TensorNHWC;
    static int const kCount = Instruction::kM * Instruction::kN / 32;
    using Kernel = typename cutlass::conv::kernel::DefaultB2bConv2dFprop<
        Element, Layout, Element, Layout, cutlass::half_t, Layout, float,
        cutlass::arch::OpClassTensorOp,
        Arch, Block0, Block1, Warp0, Warp1, Instruction, Between<Element, Function, kCount>,
        Output<AlignD>, OneByOne, Stages, cutlass::arch::OpMultiplyAdd,
        cutlass::conv::IteratorAlgorithm::kOptimized, Smem>::Kernel;
    using Mma = typename Kernel::B2bMma;

    struct Lookup {
        cutlass::conv::Conv2dProblemSize problem0, problem1;
        typename Mma::IteratorA0::Params a0;
        typename Mma::IteratorB0::Params b0;
        typename Mma::IteratorB1::Params b1;

        CUTLASS_DEVICE Lookup(B2bConvSizes const& sizes)
            : problem0(sizes.first.problem()),
              problem1(sizes.second()),
              a0(Mma::IteratorA0::getParams(
                  problem0, Layout::packed({problem0.N, problem0.H, problem0.W, problem0.C}))),
              b0(problem0, Layout::packed({problem0.K, problem0.R, problem0.S, problem0.C})),
              b1(problem1, Layout::packed({problem1.K, 1, 1, problem1.C})) {}
    };

    template <int SharedBytes, class Functor>
    CUTLASS_DEVICE static void run(
        Element const* a, Element const* b0, Element const* bias, Element const* b1,
        B2bConvSizes const& sizes, Functor const& functor, char* shared) {
        using Epilogue = FunctorEpilogue<typename Kernel::Epilogue, Functor>;
        union Shared {
            typename Mma::B2bMmaSharedStorage loop;
            typename Epilogue::SharedStorage epilogue;
        };
        static_assert(SameBytes<sizeof(Shared), SharedBytes>::value, "what the launch asks for");
        Shared& storage = *reinterpret_cast<Shared*>(shared);
        __shared__ __align__(16) char lookup_bytes[sizeof(Lookup)];
        Lookup& lookup = *reinterpret_cast<Lookup*>(lookup_bytes);
        int const row = blockIdx.x * Block0::kM;
        int const thread = threadIdx.x, lane = threadIdx.x % 32;
        int const warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
        if (thread == 0) new (lookup_bytes) Lookup(sizes);
        __syncthreads();

        typename Mma::IteratorA0 iterator_a(lookup.a0, lookup.problem0, a, thread, {row, 0});
        typename Mma::IteratorB0 iterator_b0(lookup.b0, lookup.problem0, b0, thread, {0, 0});
        typename Mma::IteratorB1 iterator_b1(lookup.b1, lookup.problem1, b1, thread, {0, 0});
        typename Mma::IteratorAccumulatorScaleBias iterator_scale(
            const_cast<Element*>(bias), {1, 0}, thread, warp, {0, 0});
        typename Mma::IteratorAccumulatorScaleBias iterator_bias(
            const_cast<Element*>(bias), {1, sizes.bias}, thread, warp,
            {0, 0});

        Mma mma(storage.loop, thread, warp, lane);
        typename Mma::FragmentC0 zero;
        typename Mma::FragmentC1 accumulators;
        zero.clear();
        accumulators.clear();
        int const steps = cutlass::conv::implicit_gemm_k_iterations(
            cutlass::conv::Operator::kFprop, Block0::kK, lookup.problem0,
            cutlass::conv::IteratorAlgorithm::kOptimized);
        mma(steps, accumulators, iterator_a, iterator_b0, iterator_scale, iterator_bias,
            iterator_b1, zero, {});

        cutlass::MatrixCoord extent(sizes.first.n * sizes.first.p * sizes.first.q, sizes.k1);
        Visitor<typename Kernel::Epilogue, Functor> visitor(functor, extent, 0, {row, 0}, thread);
        Epilogue epilogue(storage.epilogue, thread, warp, lane);
        epilogue(visitor, accumulators);
    }
};

}  // namespace tw
