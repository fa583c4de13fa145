// Copies a tensor to where its rows are padded: dimensions in another order, the last one filled up
// with zeros to a multiple of 8 elements.
#pragma once

#include "cutlass/array.h"
#include "cutlass/numeric_types.h"

namespace tw {

int const PACKED_RANK = 6;
int const PACKED_THREADS = 128;

// Extents of what is written, of what there is of it, and elements between neighbours there.
struct PackSizes {
    int to[PACKED_RANK], from[PACKED_RANK], stride[PACKED_RANK];
};

// Every thread writes 8 elements of a row.
template <class Element>
CUTLASS_DEVICE void pack(Element const* from, Element* to, PackSizes const& sizes) {
    int const COUNT = 8;
    int64_t const number = int64_t(blockIdx.x) * PACKED_THREADS + threadIdx.x;
    int64_t rest = number * COUNT, start = 0;
    int const last = PACKED_RANK - 1;
    int const first = int(rest % sizes.to[last]);
    rest /= sizes.to[last];
    bool inside = true;
    CUTLASS_PRAGMA_UNROLL
    for (int d = last - 1; d >= 0; --d) {
        int const at = int(rest % sizes.to[d]);
        rest /= sizes.to[d];
        inside &= at < sizes.from[d];
        start += int64_t(at) * sizes.stride[d];
    }
    if (rest) return;
    cutlass::AlignedArray<Element, COUNT, sizeof(Element) * COUNT> found;
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < COUNT; ++i) {
        bool const here = inside && first + i < sizes.from[last];
        found[i] = here ? from[start + int64_t(first + i) * sizes.stride[last]] : Element(0);
    }
    *reinterpret_cast<decltype(found)*>(to + number * COUNT) = found;
}

}  // namespace tw
