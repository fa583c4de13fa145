// The instructions of a nest in the emulation, by the names that kernels call (`warp.h` does them).
#pragma once

#define TW_EMULATION
#include <functional>
#include <map>
#include "shadow/warp.h"

namespace tw {
struct HalfOf { uint16_t bits; operator float() const {
    _Float16 value; memcpy(&value, &bits, sizeof bits); return (float)value; } };
struct BrainOf { uint16_t bits; operator float() const {
    uint32_t whole = (uint32_t)bits << 16; float f; memcpy(&f, &whole, sizeof f); return f; } };
}  // namespace tw

struct __half;
struct __nv_bfloat16;
inline void tw_mma_m16n8k16(float* c, __half const* left, __half const* right) {
    float sums[4];
    memcpy(sums, c, sizeof sums);
    tw::multiply<tw::HalfOf, 16>(c, left, right, sums);
}
inline void tw_mma_m16n8k16(float* c, __nv_bfloat16 const* left, __nv_bfloat16 const* right) {
    float sums[4];
    memcpy(sums, c, sizeof sums);
    tw::multiply<tw::BrainOf, 16>(c, left, right, sums);
}
inline void tw_ldmatrix_x4(void* to, void const* row) {
    tw::load_matrices<4, false>((unsigned*)to, row);
}
inline void tw_ldmatrix_x4_trans(void* to, void const* row) {
    tw::load_matrices<4, true>((unsigned*)to, row);
}
inline void tw_cp_async_4(void* to, void const* from, bool inside) {
    tw::copy_later(to, from, 4, inside);
}
inline void tw_cp_async_8(void* to, void const* from, bool inside) {
    tw::copy_later(to, from, 8, inside);
}
inline void tw_cp_async_16(void* to, void const* from, bool inside) {
    tw::copy_later(to, from, 16, inside);
}
inline void tw_cp_async_4(void* to) { memset(to, 0, 4); }
inline void tw_cp_async_8(void* to) { memset(to, 0, 8); }
inline void tw_cp_async_16(void* to) { memset(to, 0, 16); }
inline void tw_cp_async_commit_group() { tw::commit(); }
template <int left>
inline void tw_cp_async_wait_group() { tw::wait_copies(left); }

// ---- mbarriers and copies of boxes ---------------------------------------------------------

struct tw_tensor_map {
    const char* first;
    int bytes;  // of an element
    int shape[3];  // batches, rows, columns
    long long strides[3];  // bytes
    int rows, columns;
};

namespace tw {

struct Phase { int count, left, bytes, over; };
inline std::map<const void*, Phase> phases;
struct Box { tw_tensor_map map; char* to; int batch, row, column; const void* phase; };
inline std::vector<Box> boxes;  // on their way
struct Waited { const void* phase; int parity; };
inline Waited waited[MOST_THREADS];

inline Phase& phase_of(const void* at) {
    auto found = phases.find(at);
    if (found == phases.end()) fail("an mbarrier is used that nobody initialised");
    return found->second;
}
inline void ends(Phase& phase) {
    if (phase.left < 0) fail("more arrivals than an mbarrier counts");
    if (phase.left || phase.bytes) return;
    ++phase.over;
    phase.left = phase.count;
}
inline bool is_over(const void* at, int parity) { return (phase_of(at).over - 1 & 1) == parity; }

// A box is in its tile: rows of 128 bytes from a multiple of 1024 on, whose pieces are swizzled.
inline void arrive(Box const& box) {
    tw_tensor_map const& map = box.map;
    for (int r = 0; r < map.rows; ++r)
        for (int c = 0; c < map.columns; ++c) {
            int at[] = {box.batch, box.row + r, box.column + c};
            bool inside = true;
            const char* from = map.first;
            for (int d = 0; d < 3; ++d) {
                inside &= at[d] >= 0 && at[d] < map.shape[d];
                from += at[d] * map.strides[d];
            }
            uintptr_t to = (uintptr_t)box.to + (r * map.columns + c) * map.bytes;
            to ^= (to >> 7 & 7) << 4;
            if (inside) memcpy((char*)to, from, map.bytes);
            else memset((char*)to, 0, map.bytes);
        }
    Phase& phase = phase_of(box.phase);
    phase.bytes -= map.rows * map.columns * map.bytes;
    ends(phase);
}

inline void (*const before_phases)() = on_block;
inline const bool with_phases = [] {
    on_block = [] {
        if (before_phases) before_phases();
        phases.clear();
        boxes.clear();
    };
    phase_over = [](Fiber* f) { return is_over(waited[f->number].phase, waited[f->number].parity); };
    anything_later = [] {
        if (boxes.empty()) return false;
        int chosen = random_below((int)boxes.size());
        arrive(boxes[chosen]);
        boxes.erase(boxes.begin() + chosen);
        return true;
    };
    return true;
}();

}  // namespace tw

inline void tw_mbarrier_init(void* at, int count) { tw::phases[at] = {count, count, 0, 0}; }
inline void tw_mbarrier_arrive_expect_tx(void* at, int bytes) {
    tw::Phase& phase = tw::phase_of(at);
    phase.bytes += bytes;
    --phase.left;
    tw::ends(phase);
}
inline void tw_mbarrier_arrive(void* at) { tw_mbarrier_arrive_expect_tx(at, 0); }
inline void tw_mbarrier_try_wait_parity(void* at, int parity) {
    while (!tw::is_over(at, parity)) {
        tw::waited[tw::current->number] = {at, parity};
        tw::wait(tw::State::PHASE);
    }
}
inline void tw_cp_async_bulk_tensor_3d(
    void* to, tw_tensor_map const& map, int batch, int row, int column, void* phase) {
    if ((uintptr_t)to % 1024 || (uintptr_t)map.first % 16) tw::fail("a box is not aligned");
    tw::boxes.push_back({map, (char*)to, batch, row, column, phase});
}

// ---- wgmma ---------------------------------------------------------------------------------

namespace tw {

// What a thread has begun and not waited for: sums are made when it waits, or at once, by chance.
struct Later { std::vector<std::vector<std::function<void()>>> groups; std::vector<std::function<void()>> open; };
inline Later later[MOST_THREADS];
inline void (*const before_later)() = on_block;
inline const bool forgetting_later = [] {
    on_block = [] {
        if (before_later) before_later();
        for (Later& each : later) each = {};
    };
    return true;
}();

// An element of a window: rows of 128 bytes, whose pieces are swizzled from a multiple of 1024 on.
template <bool turned, int step>
inline uint16_t window_element(char const* first, int outer, int depth) {
    uintptr_t start = (uintptr_t)first, base = start & ~(uintptr_t)1023;
    uintptr_t at = turned ? start - base + outer / 64 * step + depth * 128 + outer % 64 * 2
                          : start - base + outer * 128 + depth * 2;
    at ^= (at >> 7 & 7) << 4;
    return *(uint16_t const*)(base + at);
}

template <int N, class As, bool left_turned, bool right_turned, int left_step, int right_step>
inline void multiply_group(float* c, char const* left, char const* right) {
    int number = current->number % 128, lane = number % 32;
    auto sums = [=] {
        for (int i = 0; i < N / 2; ++i) {
            int row = number / 32 * 16 + i % 4 / 2 * 8 + lane / 4;
            int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            float sum = c[i];
            for (int k = 0; k < 16; ++k)
                sum += float(As{window_element<left_turned, left_step>(left, row, k)}) *
                    float(As{window_element<right_turned, right_step>(right, column, k)});
            c[i] = sum;
        }
    };
    later[current->number].open.push_back(sums);
}

}  // namespace tw

inline void tw_wgmma_fence() { tw::exchange(0); }
inline void tw_wgmma_commit_group() {
    tw::Later& mine = tw::later[tw::current->number];
    if (tw::random_below(2)) {
        for (auto& each : mine.open) each();
        mine.open.clear();
    }
    mine.groups.push_back(std::move(mine.open));
    mine.open.clear();
}
template <int left>
inline void tw_wgmma_wait_group() {
    auto& groups = tw::later[tw::current->number].groups;
    for (; (int)groups.size() > left; groups.erase(groups.begin()))
        for (auto& each : groups.front()) each();
}
template <int count>
inline void tw_wgmma_sums(float*) {}
inline void tw_fence_proxy_async() {}

#define TW_WGMMA(N) \
    template <int lt, int rt, int ls, int rs> \
    inline void tw_wgmma_m64n##N##k16(float* c, __half const* a, __half const* b) { \
        tw::multiply_group<N, tw::HalfOf, lt, rt, ls, rs>(c, (char const*)a, (char const*)b); \
    } \
    template <int lt, int rt, int ls, int rs> \
    inline void tw_wgmma_m64n##N##k16(float* c, __nv_bfloat16 const* a, __nv_bfloat16 const* b) { \
        tw::multiply_group<N, tw::BrainOf, lt, rt, ls, rs>(c, (char const*)a, (char const*)b); \
    }
TW_WGMMA(64)
TW_WGMMA(128)
TW_WGMMA(192)
TW_WGMMA(256)
