// An array that a launch carries in its parameters, which lie in constant memory.
template <class T, int N>
struct __align__(16) tk_constant {
    T elems[N];
};

extern "C" __global__ void __launch_bounds__(256) filtered(
    const float* __restrict__ x, // N
    const __grid_constant__ tk_constant<float, 8> weights, // 2 x 4
    const float* __restrict__ offsets, // N
    float* __restrict__ y, // N
    const int N
) {
    __shared__ __align__(16) float weights_s[4]; // tile 4
    const int bx = blockIdx.x;
    const int thread = threadIdx.x;
    float sum;
    {
        const int tx = thread;
        if (tx < 128) {
            sum = 0.0f;
        }
    }
    // phase p
    #pragma unroll 1
    for (int p = 0; p < 2; ++p) {
        // j of 4, shared out over the block
        if (thread < 4) {
            const int j = thread;
            weights_s[j] = weights.elems[p * 4 + j];
        }
        __syncthreads();
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            {
                const int tx = thread;
                if (tx < 128) {
                    sum = __fmaf_rn(weights_s[j], bx * 128 + tx + j < N ? x[bx * 128 + tx + j] : 0.0f, sum);
                }
            }
        }
        __syncthreads();
    }
    {
        const int tx = thread;
        if (tx < 128) {
            if (bx * 128 + tx < N) {
                y[bx * 128 + tx] = __fmaf_rn(bx * 128 + tx < N ? offsets[bx * 128 + tx] : 0.0f, weights.elems[4 + 3], sum);
            }
        }
    }
}
