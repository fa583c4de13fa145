#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

#ifndef tw_shuffle_xor
#define tw_shuffle_xor(value, lanes) __shfl_xor_sync(0xffffffffu, value, lanes)
#endif

extern "C" __global__ void __launch_bounds__(64)
kernel_0(
    const float* __restrict__ x,
    float* __restrict__ s)
{
    const int s_i_0 = (int)blockIdx.x;
    const int s_i_1 = (int)threadIdx.y;
    if ((int)threadIdx.x == 0) {
        s[s_i_0 * 2 + s_i_1] = 0.0f;
    }
    const int s_k_f = (int)threadIdx.x;
    float s_rf[1];
    s_rf[0] = 0.0f;
    #pragma unroll
    for (int s_rf_k_r = 0; s_rf_k_r < 2; ++s_rf_k_r) {
        s_rf[0] += x[s_i_0 * 128 + s_i_1 * 64 + s_k_f + s_rf_k_r * 32] * x[s_i_0 * 128 + s_i_1 * 64 + s_k_f + s_rf_k_r * 32];
    }
    float s_partial = s_rf[0];
    #pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        s_partial = s_partial + tw_shuffle_xor(s_partial, lanes);
    }
    if ((int)threadIdx.x == 0) {
        s[s_i_0 * 2 + s_i_1] += s_partial;
    }
}
// Launch(kernel='kernel_0', blocks=3, threads=(32, 2), arguments=(0, 1), shared_bytes=0)
