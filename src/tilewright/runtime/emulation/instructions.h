// The instructions of a nest in the emulation, by the names that kernels call (`warp.h` does them).
#pragma once

#define TW_EMULATION
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
inline void tw_cp_async_commit_group() { tw::commit(); }
template <int left>
inline void tw_cp_async_wait_group() { tw::wait_copies(left); }
