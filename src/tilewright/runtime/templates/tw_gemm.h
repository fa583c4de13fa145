// D[batch] = functor(A[batch] * B[batch]): one kernel for a single GEMM and for a batch of them.
#pragma once

#include "cutlass/gemm/kernel/default_gemm.h"
#include "cutlass/gemm/threadblock/threadblock_swizzle.h"
#include "tw_epilogue.h"

namespace tw {

// Extents, and elements from one matrix of a batch to the next.
struct GemmSizes {
    int m, n, k;
    int lda, ldb;
    int step_a, step_b;
};

template <
    class Element, class LayoutA, int AlignA, class LayoutB, int AlignB, int AlignD, class Arch,
    class Block, class Warp, class Instruction, int Stages, int Swizzle, class Operator>
struct Gemm {
    using Tiles = cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<Swizzle>;
    using Kernel = typename cutlass::gemm::kernel::DefaultGemm<
        Element, LayoutA, AlignA, Element, LayoutB, AlignB, cutlass::half_t,
        cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, Arch, Block, Warp, Instruction,
        Output<AlignD>, Tiles, Stages, false, Operator>::GemmKernel;
    using Mma = typename Kernel::Mma;

    template <int SharedBytes, class Functor>
    CUTLASS_DEVICE static void run(
        Element const* a, Element const* b, GemmSizes const& sizes, Functor const& functor,
        char* shared) {
        using Epilogue = FunctorEpilogue<typename Kernel::Epilogue, Functor>;
        union Shared {
            typename Mma::SharedStorage loop;
            typename Epilogue::SharedStorage epilogue;
        };
        static_assert(SameBytes<sizeof(Shared), SharedBytes>::value, "what the launch asks for");
        Shared& storage = *reinterpret_cast<Shared*>(shared);

        Tiles tiles;
        cutlass::gemm::GemmCoord grid = tiles.get_tiled_shape(
            {sizes.m, sizes.n, sizes.k}, {Block::kM, Block::kN, Block::kK}, 1);
        int const log_tile = tiles.get_log_tile(grid);
        cutlass::gemm::GemmCoord place = tiles.get_tile_offset(log_tile);
        if (grid.m() <= place.m() || grid.n() <= place.n()) return;
        int const batch = place.k();
        cutlass::MatrixCoord tile(place.m() * Block::kM, place.n() * Block::kN);
        int const thread = threadIdx.x, lane = threadIdx.x % 32;
        int const warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);

        typename Mma::IteratorA::Params params_a{LayoutA(sizes.lda)};
        typename Mma::IteratorB::Params params_b{LayoutB(sizes.ldb)};
        typename Mma::IteratorA iterator_a(
            params_a, const_cast<Element*>(a) + (int64_t)batch * sizes.step_a, {sizes.m, sizes.k},
            thread, {tile.row(), 0});
        typename Mma::IteratorB iterator_b(
            params_b, const_cast<Element*>(b) + (int64_t)batch * sizes.step_b, {sizes.k, sizes.n},
            thread, {0, tile.column()});
        Mma mma(storage.loop, thread, warp, lane);
        typename Mma::FragmentC accumulators;
        accumulators.clear();
        mma((sizes.k + Block::kK - 1) / Block::kK, accumulators, iterator_a, iterator_b,
            accumulators);

        Visitor<typename Kernel::Epilogue, Functor> visitor(
            functor, {sizes.m, sizes.n}, batch, tile, thread);
        Epilogue epilogue(storage.epilogue, thread, warp, lane);
        epilogue(visitor, accumulators);
    }
};

}  // namespace tw
