inline float tw_max_float(float a, float b) { return a > b || a != a ? a : b; }

inline float tw_float16(float x) {
    ushort bits;
    vstore_half(x, 0, (__private half*)&bits);
    return vload_half(0, (const __private half*)&bits);
}

__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void
kernel_0(
    const __global half* restrict A,
    const __global half* restrict B,
    __global half* restrict D)
{
    __local __attribute__((aligned(16))) ushort A_C_acc[128];
    __local __attribute__((aligned(16))) ushort B_C_acc[128];
    const int D_i0_0 = (int)get_group_id(0) / 2;
    const int D_i1_0 = (int)get_group_id(0) % 2;
    const int D_i0_2 = (int)get_local_id(0) / 4;
    const int D_i1_2 = (int)get_local_id(0) % 4;
    float C_acc[16];
    #pragma unroll
    for (int D_i0_1 = 0; D_i0_1 < 2; ++D_i0_1) {
        #pragma unroll
        for (int D_i1_1 = 0; D_i1_1 < 2; ++D_i1_1) {
            #pragma unroll
            for (int C_acc_i_3 = 0; C_acc_i_3 < 2; ++C_acc_i_3) {
                #pragma unroll
                for (int C_acc_j_3 = 0; C_acc_j_3 < 2; ++C_acc_j_3) {
                    C_acc[C_acc_i_3 * 2 + C_acc_j_3 + D_i0_1 * 8 + D_i1_1 * 4] = 0.0f;
                }
            }
        }
    }
    #pragma unroll 1
    for (int C_acc_k_0 = 0; C_acc_k_0 < 2; ++C_acc_k_0) {
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 1
        for (int A_C_acc_d0_d1_0_0 = 0; A_C_acc_d0_d1_0_0 < 2; ++A_C_acc_d0_d1_0_0) {
            const int A_C_acc_d0_d1_0_1 = (int)get_local_id(0);
            {
                const ushort4 A_v = *(__global const ushort4*)(A + A_C_acc_d0_d1_0_1 / 2 * 16 + A_C_acc_d0_d1_0_1 % 2 * 4 + A_C_acc_d0_d1_0_0 * 128 + C_acc_k_0 * 8 + D_i0_0 * 256);
                *(__local ushort4*)(A_C_acc + A_C_acc_d0_d1_0_1 / 2 * 8 + A_C_acc_d0_d1_0_1 % 2 * 4 + A_C_acc_d0_d1_0_0 * 64) = A_v;
            }
        }
        #pragma unroll 1
        for (int B_C_acc_d0_d1_0_0 = 0; B_C_acc_d0_d1_0_0 < 2; ++B_C_acc_d0_d1_0_0) {
            const int B_C_acc_d0_d1_0_1 = (int)get_local_id(0);
            {
                const ushort4 B_v = *(__global const ushort4*)(B + B_C_acc_d0_d1_0_1 / 4 * 32 + B_C_acc_d0_d1_0_1 % 4 * 4 + B_C_acc_d0_d1_0_0 * 128 + C_acc_k_0 * 256 + D_i1_0 * 16);
                *(__local ushort4*)(B_C_acc + B_C_acc_d0_d1_0_1 / 4 * 16 + B_C_acc_d0_d1_0_1 % 4 * 4 + B_C_acc_d0_d1_0_0 * 64) = B_v;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll 1
        for (int C_acc_k_1 = 0; C_acc_k_1 < 2; ++C_acc_k_1) {
            #pragma unroll 1
            for (int C_acc_k_2 = 0; C_acc_k_2 < 4; ++C_acc_k_2) {
                #pragma unroll
                for (int D_i0_1 = 0; D_i0_1 < 2; ++D_i0_1) {
                    #pragma unroll
                    for (int D_i1_1 = 0; D_i1_1 < 2; ++D_i1_1) {
                        #pragma unroll
                        for (int C_acc_i_3 = 0; C_acc_i_3 < 2; ++C_acc_i_3) {
                            #pragma unroll
                            for (int C_acc_j_3 = 0; C_acc_j_3 < 2; ++C_acc_j_3) {
                                C_acc[C_acc_i_3 * 2 + C_acc_j_3 + D_i0_1 * 8 + D_i1_1 * 4] += vload_half(C_acc_i_3 * 8 + C_acc_k_1 * 4 + C_acc_k_2 + D_i0_1 * 64 + D_i0_2 * 16, (const __local half*)A_C_acc) * vload_half(C_acc_j_3 + C_acc_k_1 * 64 + C_acc_k_2 * 16 + D_i1_1 * 8 + D_i1_2 * 2, (const __local half*)B_C_acc);
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
                #pragma unroll
                for (int D_i1_3 = 0; D_i1_3 < 2; ++D_i1_3) {
                    vstore_half(tw_max_float(tw_float16(C_acc[D_i0_1 * 8 + D_i0_3 * 2 + D_i1_1 * 4 + D_i1_3]), 0.0f), D_i0_0 * 512 + D_i0_1 * 256 + D_i0_2 * 64 + D_i0_3 * 32 + D_i1_0 * 16 + D_i1_1 * 8 + D_i1_2 * 2 + D_i1_3, D);
                }
            }
        }
    }
}
