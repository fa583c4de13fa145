// D = functor(convolution of A with B) of NHWC tensors as an implicit GEMM: rows are positions of
// the output (image, row, column), columns its channels. B is [channels out, rows, columns,
// channels in].
#pragma once

#include "cutlass/conv/kernel/default_conv2d_fprop.h"
#include "cutlass/gemm/threadblock/threadblock_swizzle.h"
#include "tw_epilogue.h"

namespace tw {

struct ConvSizes {
    int n, h, w, c, k, r, s, p, q;
    int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;

    CUTLASS_DEVICE cutlass::conv::Conv2dProblemSize problem() const {
        return {n, h, w, c, k, r, s, p, q, pad_h, pad_w, stride_h, stride_w, dilation_h,
                dilation_w, cutlass::conv::Mode::kCrossCorrelation};
    }
};

template <
    class Element, int AlignA, int AlignB, int AlignD, class Arch, class Block, class Warp,
    class Instruction, int Stages, int Swizzle, class Operator>
struct Conv {
    using Tiles = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<Swizzle>;
    using Layout = cutlass::layout::TensorNHWC;
    using Kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
        Element, Layout, Element, Layout, cutlass::half_t, Layout, float,
        cutlass::arch::OpClassTensorOp,
        Arch, Block, Warp, Instruction, Output<AlignD>, Tiles, Stages, Operator,
        cutlass::conv::IteratorAlgorithm::kOptimized, cutlass::conv::StrideSupport::kStrided,
        AlignA, AlignB>::Kernel;
    using Mma = typename Kernel::Mma;

    // What the iterators look up. It lies in shared memory: their indices into it are not known
    // when they are compiled, and a thread's own copy would be in its slow memory.
    struct Lookup {
        cutlass::conv::Conv2dProblemSize problem;
        typename Mma::IteratorA::Params a;
        typename Mma::IteratorB::Params b;

        CUTLASS_DEVICE Lookup(ConvSizes const& sizes)
            : problem(sizes.problem()),
              a(Mma::IteratorA::getParams(
                  problem, Layout::packed({sizes.n, sizes.h, sizes.w, sizes.c}))),
              b(problem, Layout::packed({sizes.k, sizes.r, sizes.s, sizes.c})) {}
    };

    template <int SharedBytes, class Functor>
    CUTLASS_DEVICE static void run(
        Element const* a, Element const* b, ConvSizes const& sizes, Functor const& functor,
        char* shared) {
        using Epilogue = FunctorEpilogue<typename Kernel::Epilogue, Functor>;
        union Shared {
            typename Mma::SharedStorage loop;
            typename Epilogue::SharedStorage epilogue;
        };
        static_assert(SameBytes<sizeof(Shared), SharedBytes>::value, "what the launch asks for");
        Shared& storage = *reinterpret_cast<Shared*>(shared);
        __shared__ __align__(16) char lookup_bytes[sizeof(Lookup)];
        Lookup& lookup = *reinterpret_cast<Lookup*>(lookup_bytes);

        Tiles tiles;
        cutlass::gemm::GemmCoord extent(
            sizes.n * sizes.p * sizes.q, sizes.k, sizes.r * sizes.s * sizes.c);
        cutlass::gemm::GemmCoord grid =
            tiles.get_tiled_shape(extent, {Block::kM, Block::kN, Block::kK}, 1);
        int const log_tile = tiles.get_log_tile(grid);
        cutlass::gemm::GemmCoord place = tiles.get_tile_offset(log_tile);
        if (grid.m() <= place.m() || grid.n() <= place.n()) return;
        cutlass::MatrixCoord tile(place.m() * Block::kM, place.n() * Block::kN);
        int const thread = threadIdx.x, lane = threadIdx.x % 32;
        int const warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
        if (thread == 0) new (lookup_bytes) Lookup(sizes);
        __syncthreads();

        typename Mma::IteratorA iterator_a(lookup.a, lookup.problem, a, thread, {tile.row(), 0});
        typename Mma::IteratorB iterator_b(
            lookup.b, lookup.problem, b, thread, {0, tile.column()});
        Mma mma(storage.loop, thread, warp, lane);
        typename Mma::FragmentC accumulators;
        accumulators.clear();
        int const steps = cutlass::conv::implicit_gemm_k_iterations(
            cutlass::conv::Operator::kFprop, Block::kK, lookup.problem,
            cutlass::conv::IteratorAlgorithm::kOptimized);
        mma(steps, accumulators, iterator_a, iterator_b, accumulators);

        Visitor<typename Kernel::Epilogue, Functor> visitor(
            functor, {extent.m(), extent.n()}, 0, tile, thread);
        Epilogue epilogue(storage.epilogue, thread, warp, lane);
        epilogue(visitor, accumulators);
    }
};

}  // namespace tw
