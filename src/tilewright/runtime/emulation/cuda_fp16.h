// Half precision of the emulation: what kernels use of CUDA's header of this name.
#pragma once

#ifdef TW_CUDA_HEADERS
#include_next <cuda_fp16.h>
#else
struct __half { _Float16 value; };
inline float __half2float(__half x) { return (float)x.value; }
inline __half __float2half_rn(float x) { return {(_Float16)x}; }
#endif
