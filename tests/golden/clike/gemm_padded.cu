#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

static __device__ __forceinline__ float tw_max_float(float a, float b) { return a > b || a != a ? a : b; }

extern "C" __global__ void __launch_bounds__(16)
kernel_0(
    const float* __restrict__ A,
    const float* __restrict__ B,
    float* __restrict__ D)
{
    __shared__ __align__(16) float A_C[96];
    __shared__ __align__(16) float B_C[96];
    const int D_i0_0 = (int)blockIdx.x / 2;
    const int D_i1_0 = (int)blockIdx.x % 2;
    const int D_i0_2 = (int)threadIdx.x / 4;
    const int D_i1_2 = (int)threadIdx.x % 4;
    float C[16];
    #pragma unroll
    for (int D_i0_1 = 0; D_i0_1 < 2; ++D_i0_1) {
        #pragma unroll
        for (int D_i1_1 = 0; D_i1_1 < 2; ++D_i1_1) {
            #pragma unroll
            for (int C_i_3 = 0; C_i_3 < 2; ++C_i_3) {
                #pragma unroll
                for (int C_j_3 = 0; C_j_3 < 2; ++C_j_3) {
                    C[C_i_3 * 2 + C_j_3 + D_i0_1 * 8 + D_i1_1 * 4] = 0.0f;
                }
            }
        }
    }
    #pragma unroll 1
    for (int C_k_0 = 0; C_k_0 < 3; ++C_k_0) {
        __syncthreads();
        #pragma unroll 1
        for (int A_C_d0_d1_0_0 = 0; A_C_d0_d1_0_0 < 3; ++A_C_d0_d1_0_0) {
            const int A_C_d0_d1_0_1 = (int)threadIdx.x;
            if (A_C_d0_d1_0_0 * 5 + D_i0_0 * 16 + (A_C_d0_d1_0_0 + A_C_d0_d1_0_1) / 3 < 27) {
                #pragma unroll
                for (int A_C_d0_d1_1 = 0; A_C_d0_d1_1 < 2; ++A_C_d0_d1_1) {
                    if (A_C_d0_d1_1 + C_k_0 * 6 + (A_C_d0_d1_0_0 + A_C_d0_d1_0_1) % 3 * 2 < 13) {
                        A_C[(A_C_d0_d1_0_0 + A_C_d0_d1_0_1) % 3 * 2 + (A_C_d0_d1_0_0 + A_C_d0_d1_0_1) / 3 * 6 + A_C_d0_d1_0_0 * 30 + A_C_d0_d1_1] = A[(A_C_d0_d1_0_0 + A_C_d0_d1_0_1) / 3 * 13 + (A_C_d0_d1_0_0 + A_C_d0_d1_0_1) % 3 * 2 + A_C_d0_d1_0_0 * 65 + A_C_d0_d1_1 + C_k_0 * 6 + D_i0_0 * 208];
                    }
                }
            }
        }
        #pragma unroll 1
        for (int B_C_d0_d1_0_0 = 0; B_C_d0_d1_0_0 < 3; ++B_C_d0_d1_0_0) {
            const int B_C_d0_d1_0_1 = (int)threadIdx.x;
            if (B_C_d0_d1_0_0 * 2 + C_k_0 * 6 + B_C_d0_d1_0_1 / 8 < 13) {
                #pragma unroll
                for (int B_C_d0_d1_1 = 0; B_C_d0_d1_1 < 2; ++B_C_d0_d1_1) {
                    if (B_C_d0_d1_1 + D_i1_0 * 16 + B_C_d0_d1_0_1 % 8 * 2 < 19) {
                        B_C[B_C_d0_d1_0_1 % 8 * 2 + B_C_d0_d1_0_1 / 8 * 16 + B_C_d0_d1_0_0 * 32 + B_C_d0_d1_1] = B[B_C_d0_d1_0_1 / 8 * 19 + B_C_d0_d1_0_1 % 8 * 2 + B_C_d0_d1_0_0 * 38 + B_C_d0_d1_1 + C_k_0 * 114 + D_i1_0 * 16];
                    }
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int C_k_1 = 0; C_k_1 < 2; ++C_k_1) {
            #pragma unroll 1
            for (int C_k_2 = 0; C_k_2 < 3; ++C_k_2) {
                if (C_k_0 * 6 + C_k_1 * 3 + C_k_2 < 13) {
                    #pragma unroll
                    for (int D_i0_1 = 0; D_i0_1 < 2; ++D_i0_1) {
                        #pragma unroll
                        for (int D_i1_1 = 0; D_i1_1 < 2; ++D_i1_1) {
                            #pragma unroll
                            for (int C_i_3 = 0; C_i_3 < 2; ++C_i_3) {
                                #pragma unroll
                                for (int C_j_3 = 0; C_j_3 < 2; ++C_j_3) {
                                    C[C_i_3 * 2 + C_j_3 + D_i0_1 * 8 + D_i1_1 * 4] += A_C[C_i_3 * 6 + C_k_1 * 3 + C_k_2 + D_i0_1 * 48 + D_i0_2 * 12] * B_C[C_j_3 + C_k_1 * 48 + C_k_2 * 16 + D_i1_1 * 8 + D_i1_2 * 2];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    #pragma unroll
    for (int D_i0_1 = 0; D_i0_1 < 2; ++D_i0_1) {
        #pragma unroll
        for (int D_i1_1 = 0; D_i1_1 < 2; ++D_i1_1) {
            #pragma unroll
            for (int D_i0_3 = 0; D_i0_3 < 2; ++D_i0_3) {
                if (D_i0_0 * 16 + D_i0_1 * 8 + D_i0_2 * 2 + D_i0_3 < 27) {
                    #pragma unroll
                    for (int D_i1_3 = 0; D_i1_3 < 2; ++D_i1_3) {
                        if (D_i1_0 * 16 + D_i1_1 * 8 + D_i1_2 * 2 + D_i1_3 < 19) {
                            D[D_i0_0 * 304 + D_i0_1 * 152 + D_i0_2 * 38 + D_i0_3 * 19 + D_i1_0 * 16 + D_i1_1 * 8 + D_i1_2 * 2 + D_i1_3] = tw_max_float(C[D_i0_1 * 8 + D_i0_3 * 2 + D_i1_1 * 4 + D_i1_3], 0.0f);
                        }
                    }
                }
            }
        }
    }
}
// Launch(kernel='kernel_0', blocks=4, threads=(16, 1), arguments=(0, 1, 2), shared_bytes=768)
