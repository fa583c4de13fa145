// What becomes of an accumulator tile: a generated functor sees it a few elements at a time, each
// with its place in the problem, and stores what it makes of them.
//
//     functor(batch, row, column, accumulators[N])      columns column .. column + N - 1
//
// One that reduces columns makes one value of a row's, which is kept for every tile of columns;
// `finish` puts those of a row together and stores what a second functor makes of it.
#pragma once

#include "cutlass/epilogue/threadblock/default_epilogue_tensor_op.h"
#include "cutlass/epilogue/threadblock/epilogue_with_visitor.h"

#ifndef TW_SHARED
#define TW_SHARED(name) extern __shared__ __align__(128) char name[]
#endif

namespace tw {

// Whether two sizes are the same; a compiler's message names the type, and with it both.
template <int used, int given>
struct SameBytes {
    static bool const value = used == given;
    static_assert(used == given, "shared memory that is used and that is given");
};

// `Count` elements in memory, loaded and stored at once.
template <class T, int Count>
using Vector = cutlass::AlignedArray<T, Count, sizeof(T) * Count>;

template <int Count, class T>
CUTLASS_DEVICE Vector<T, Count> load(T const* from) {
    return *reinterpret_cast<Vector<T, Count> const*>(from);
}

template <int Count, class T>
CUTLASS_DEVICE void store(T* to, Vector<T, Count> const& values) {
    *reinterpret_cast<Vector<T, Count>*>(to) = values;
}

CUTLASS_DEVICE float widened(float x) { return x; }
CUTLASS_DEVICE float widened(cutlass::half_t x) { return float(x); }
CUTLASS_DEVICE float widened(cutlass::bfloat16_t x) { return float(x); }

// The visitor of `EpilogueWithVisitor` that hands accumulators to a functor. `Existing` is the
// default epilogue for the tile, whose way through shared memory it keeps.
template <class Existing, class Functor>
struct Visitor {
    using ThreadMap = typename Existing::OutputTileIterator::ThreadMap;
    using Accumulators = typename Existing::WarpTileIterator::Element;
    static int const kElementsPerAccess = ThreadMap::kElementsPerAccess;
    static int const kIterations = ThreadMap::Count::kTile;
    using Fragment = cutlass::Array<Accumulators, kElementsPerAccess>;

    Functor functor;
    cutlass::MatrixCoord extent;
    int batch, row, column;
    int step_row;
    int tile, visited_row;  // of a functor that reduces: columns' tile, and the row of `total`
    float total;

    CUTLASS_DEVICE Visitor(
        Functor const& functor, cutlass::MatrixCoord extent, int batch,
        cutlass::MatrixCoord tile, int thread)
        : functor(functor), extent(extent), batch(batch),
          tile(tile.column() / Existing::Shape::kN) {
        cutlass::MatrixCoord mine = tile + ThreadMap::initial_offset(thread);
        row = mine.row();
        column = mine.column();
        step_row = row;
    }

    // Rows of a thread in step `i` begin where the package's own output iterator has them after so
    // many increments.
    CUTLASS_DEVICE void begin_step(int i) {
        using Count = typename ThreadMap::Count;
        using Shape = typename ThreadMap::Shape;
        int of_group = i / Count::kRow, of_cluster = of_group / Count::kGroup;
        step_row = row + i * Shape::kRow +
            of_group * (Shape::kGroup - 1) * Shape::kRow * Count::kRow +
            of_cluster * Count::kGroup * Shape::kGroup * Count::kRow * Shape::kRow *
                (Shape::kCluster - 1);
    }

    CUTLASS_DEVICE void visit(int, int, int, int number, Fragment const& values) {
        cutlass::MatrixCoord offset = ThreadMap::iteration_offset(number);
        int at_row = step_row + offset.row(), at_column = column + offset.column();
        visited_row = at_row;
        if (at_row >= extent.row() || at_column >= extent.column()) return;
        if constexpr (Functor::reduces) {
            functor.template apply<kElementsPerAccess>(batch, at_row, at_column, values, total);
        } else {
            functor.template apply<kElementsPerAccess>(batch, at_row, at_column, values);
        }
    }

    CUTLASS_DEVICE void begin_row(int) {
        if constexpr (Functor::reduces) total = Functor::neutral();
    }

    // A row's columns are shared by neighbouring lanes of one warp.
    CUTLASS_DEVICE void end_row(int) {
        if constexpr (Functor::reduces) {
            using Detail = typename ThreadMap::Detail;
            int const lanes = Detail::kAccessWidth;
            static_assert((lanes & (lanes - 1)) == 0, "lanes of a row are a power of two");
            static_assert(Detail::RowArrangement::kWarpPartitionsColumn == 1, "a row has one warp");
            CUTLASS_PRAGMA_UNROLL
            for (int apart = lanes / 2; apart > 0; apart /= 2) {
                total = Functor::merge(total, __shfl_xor_sync(0xffffffff, total, apart));
            }
            if (threadIdx.x % lanes == 0 && visited_row < extent.row()) {
                functor.keep(tile, batch, visited_row, total);
            }
        }
    }

    CUTLASS_DEVICE void begin_epilogue() {}
    CUTLASS_DEVICE void end_step(int) {}
    CUTLASS_DEVICE void end_epilogue() {}
};

template <class Existing, class Functor>
using FunctorEpilogue = typename cutlass::epilogue::threadblock::
    EpilogueWithVisitorFromExistingEpilogue<Visitor<Existing, Functor>, Existing>::Epilogue;

int const FINISH_THREADS = 128;

// Partial values: tiles of columns, rows of all matrices of a batch, and of one.
struct PartialSizes {
    int tiles, all_rows, rows;
};

// Every thread makes the output of one row.
template <class Functor, class Finish>
CUTLASS_DEVICE void finish(float const* partial, PartialSizes const& sizes, Finish const& finish) {
    int const number = blockIdx.x * FINISH_THREADS + threadIdx.x;
    if (number >= sizes.all_rows) return;
    float total[1] = {Functor::neutral()};
    for (int tile = 0; tile < sizes.tiles; ++tile) {
        total[0] = Functor::merge(total[0], partial[int64_t(tile) * sizes.all_rows + number]);
    }
    finish.template apply<1>(number / sizes.rows, number % sizes.rows, 0, total);
}

// What the package's default epilogues want to know of an output operator. Whatever a functor makes
// of the sums, they go through shared memory as those of halves do, without bank conflicts.
template <int Count>
struct Output {
    using ElementOutput = cutlass::half_t;
    using ElementAccumulator = float;
    using ElementCompute = float;
    static int const kCount = Count;
};

}  // namespace tw
