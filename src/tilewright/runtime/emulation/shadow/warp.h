// Instructions of a warp, for the emulation: what CUTLASS writes as PTX.
//
// Copies from global to shared memory run when their thread waits for them, or before, as chance
// has it: a wait that is missing shows, and so does a stage that is overwritten too early.
#pragma once

#include <stdint.h>
#include <string.h>
#include <vector>
#include "cuda_emulation.h"

#define TW_SHARED(name) char* name = tw::dynamic_shared

namespace tw {

// ---- ldmatrix ------------------------------------------------------------------------------

// `count` matrices of 8 x 8 elements of 2 bytes; lane 8 i + r has the address of row r of matrix i.
template <int count, bool transposed>
inline void load_matrices(unsigned* to, void const* row) {
    Slot* warp = exchange(row);
    int lane = current->number % WARP;
    for (int i = 0; i < count; ++i) {
        uint16_t pair[2];
        for (int e = 0; e < 2; ++e) {
            int r = transposed ? lane % 4 * 2 + e : lane / 4;
            int c = transposed ? lane / 4 : lane % 4 * 2 + e;
            uint16_t const* from = (uint16_t const*)shown<void const*>(warp, 8 * i + r);
            pair[e] = from[c];
        }
        memcpy(&to[i], pair, sizeof pair);
    }
}

// ---- mma.sync ------------------------------------------------------------------------------

// d = a * b + c of 16 x 8 by K; `Words` registers of A, half as many of B, with `Per` elements each.
// PTX names the places: A's row is the lane's group (and 8 more), B's column too.
template <class Element, int K>
inline void multiply(float* d, void const* a, void const* b, float const* c) {
    constexpr int PER = 4 / sizeof(Element);  // elements of a register
    constexpr int COLUMNS = 4 * PER;          // of K that the four lanes of a group hold at once
    constexpr int PARTS = K / COLUMNS;
    struct Operands { Element a[2 * PARTS * PER], b[PARTS * PER]; } mine;
    memcpy(mine.a, a, sizeof mine.a);
    memcpy(mine.b, b, sizeof mine.b);
    Slot* warp = exchange(mine);
    int lane = current->number % WARP, group = lane / 4;
    for (int i = 0; i < 4; ++i) {
        int column = lane % 4 * 2 + i % 2;
        float sum = c[i];
        for (int part = 0; part < PARTS; ++part) {
            for (int q = 0; q < 4; ++q) {
                Operands const* left = (Operands const*)&warp[group * 4 + q];
                Operands const* right = (Operands const*)&warp[column * 4 + q];
                for (int e = 0; e < PER; ++e) {
                    sum += float(left->a[(2 * part + i / 2) * PER + e]) *
                        float(right->b[part * PER + e]);
                }
            }
        }
        d[i] = sum;
    }
}

// ---- cp.async ------------------------------------------------------------------------------

struct Copy { char* to; char const* from; int bytes; bool valid; };

inline void run(Copy const& copy) {
    if (copy.valid) memcpy(copy.to, copy.from, copy.bytes);
    else memset(copy.to, 0, copy.bytes);
}

struct Copies {
    std::vector<std::vector<Copy>> groups;  // committed, the oldest first
    std::vector<Copy> open;
};
inline Copies copies[MOST_THREADS];
inline const bool forgetting = [] {
    on_block = [] {
        for (Copies& each : copies) each = {};
    };
    return true;
}();

inline void copy_later(void* to, void const* from, int bytes, bool valid) {
    Copy copy{(char*)to, (char const*)from, bytes, valid};
    if (random_below(4) == 0) run(copy);
    else copies[current->number].open.push_back(copy);
}

inline void commit() {
    Copies& mine = copies[current->number];
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
}

inline void wait_copies(int left) {
    std::vector<std::vector<Copy>>& groups = copies[current->number].groups;
    for (left += short_waits; (int)groups.size() > left; groups.erase(groups.begin()))
        for (Copy const& copy : groups.front()) run(copy);
}

}  // namespace tw

template <class T>
inline T __shfl_sync(unsigned, T value, int lane) {
    return tw::shown<T>(tw::exchange(value), lane);
}
template <class T>
inline T __shfl_xor_sync(unsigned, T value, int lanes) {
    return tw::shuffle_xor(value, lanes);
}
inline void __syncwarp(unsigned = 0) { tw::exchange(0); }
inline void __threadfence() {}
inline bool __syncthreads_and(bool) {
    tw::fail("a semaphore between blocks is not emulated");
}
