#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

extern "C" __global__ void __launch_bounds__(48)
kernel_0(
    const float* __restrict__ x,
    float* __restrict__ s)
{
    __shared__ __align__(16) float s_threads[48];
    const int s_i_0 = (int)blockIdx.x;
    if ((int)threadIdx.x == 0) {
        s[s_i_0] = 0.0f;
    }
    const int s_k_f = (int)threadIdx.x;
    float s_rf[1];
    s_rf[0] = 0.0f;
    #pragma unroll
    for (int s_rf_k_r = 0; s_rf_k_r < 2; ++s_rf_k_r) {
        s_rf[0] += x[s_i_0 * 96 + s_k_f + s_rf_k_r * 48] * x[s_i_0 * 96 + s_k_f + s_rf_k_r * 48];
    }
    float s_partial = s_rf[0];
    __syncthreads();
    s_threads[(int)threadIdx.x] = s_partial;
    __syncthreads();
    if ((int)threadIdx.x < 16) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 32]; }
    __syncthreads();
    if ((int)threadIdx.x < 16) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 16]; }
    __syncthreads();
    if ((int)threadIdx.x < 8) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 8]; }
    __syncthreads();
    if ((int)threadIdx.x < 4) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 4]; }
    __syncthreads();
    if ((int)threadIdx.x < 2) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 2]; }
    __syncthreads();
    if ((int)threadIdx.x < 1) { s_threads[(int)threadIdx.x] = s_threads[(int)threadIdx.x] + s_threads[(int)threadIdx.x + 1]; }
    __syncthreads();
    s_partial = s_threads[0];
    if ((int)threadIdx.x == 0) {
        s[s_i_0] += s_partial;
    }
}
// Launch(kernel='kernel_0', blocks=4, threads=(48, 1), arguments=(0, 1), shared_bytes=192)
