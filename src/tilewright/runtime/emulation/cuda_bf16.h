// Brain floats of the emulation: what kernels use of CUDA's header of this name.
#pragma once

#ifdef TW_CUDA_HEADERS
#include_next <cuda_bf16.h>
#else
#include <stdint.h>
#include <string.h>
struct __nv_bfloat16 { uint16_t bits; };
inline float __bfloat162float(__nv_bfloat16 x) {
    uint32_t whole = (uint32_t)x.bits << 16;
    float f;
    memcpy(&f, &whole, sizeof f);
    return f;
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
    uint32_t whole;
    memcpy(&whole, &x, sizeof whole);
    if (x != x) return {0x7fff};
    return {(uint16_t)((whole + 0x7fff + (whole >> 16 & 1)) >> 16)};
}
#endif
