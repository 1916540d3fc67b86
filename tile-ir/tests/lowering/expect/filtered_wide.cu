// An array that a launch carries in its parameters, which lie in constant memory.
template <class T, int N>
struct __align__(16) tk_constant {
    T elems[N];
};

extern "C" __global__ void __launch_bounds__(32) filtered(
    const float* __restrict__ x, // N
    const __grid_constant__ tk_constant<float, 8> weights, // 2 x 4
    const float* __restrict__ offsets, // N
    float* __restrict__ y, // N
    const int N
) {
    __shared__ __align__(16) float weights_s[8]; // tile 4, 2 buffers
    const int bx = blockIdx.x;
    const int thread = threadIdx.x;
    int i[4];
    float sum[4];
    float weights_s_next;
    #pragma unroll
    for (int tx_step = 0; tx_step < 4; ++tx_step) {
        const int tx = thread * 4 + tx_step;
        i[tx_step] = bx * 128 + tx;
        sum[tx_step] = 0.0f;
    }
    if (0 < 2) {
        // j of 4, shared out over the block
        if (thread < 4) {
            const int j = thread;
            weights_s[j] = weights.elems[j];
        }
    }
    int stage = 0;
    // phase p
    #pragma unroll 1
    for (int p = 0; p < 2; ++p) {
        __syncthreads();
        if (p < 2 - 1) {
            // j of 4, shared out over the block
            if (thread < 4) {
                const int j = thread;
                weights_s_next = weights.elems[(p + 1) * 4 + j];
            }
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            #pragma unroll
            for (int tx_step = 0; tx_step < 4; ++tx_step) {
                sum[tx_step] = __fmaf_rn(weights_s[stage * 4 + j], (0 <= i[tx_step] + j && i[tx_step] + j < N) ? x[i[tx_step] + j] : 0.0f, sum[tx_step]);
            }
        }
        if (p < 2 - 1) {
            // j of 4, shared out over the block
            if (thread < 4) {
                const int j = thread;
                weights_s[(1 - stage) * 4 + j] = weights_s_next;
            }
        }
        stage = 1 - stage;
    }
    __syncthreads();
    #pragma unroll
    for (int tx_step = 0; tx_step < 4; ++tx_step) {
        if (0 <= i[tx_step] && i[tx_step] < N) {
            y[i[tx_step]] = __fmaf_rn((0 <= i[tx_step] && i[tx_step] < N) ? offsets[i[tx_step]] : 0.0f, weights.elems[4 + 3], sum[tx_step]);
        }
    }
}
