// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}

extern "C" __global__ void __launch_bounds__(256) matmul(
    const float* __restrict__ a, // M x K
    const float* __restrict__ b, // K x N
    float* __restrict__ c, // M x N
    const int M,
    const int K,
    const int N
) {
    __shared__ __align__(16) float a_s[1024]; // tile 64 x 16
    __shared__ __align__(16) float b_s[512]; // tile 16 x 32
    const unsigned int tk_rows = tk_ceil_div(M, 64);
    const unsigned int tk_columns = tk_ceil_div(N, 32);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    float acc[8];
    float a_s_ty[4];
    float b_s_tx[2];
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 2; ++tx_step) {
            acc[ty_step * 2 + tx_step] = 0.0f;
        }
    }
    // phase p
    #pragma unroll 1
    for (int p = 0; p < tk_ceil_div(K, 16); ++p) {
        // (i, k) of 64 x 16, shared out over the block
        #pragma unroll
        for (int i_step = 0; i_step < 4; ++i_step) {
            const int i = thread / 16 + i_step * 16;
            const int k = thread % 16;
            a_s[i * 16 + k] = a[(by * 64 + i) * K + p * 16 + k];
        }
        // (k, j) of 16 x 32, shared out over the block
        #pragma unroll
        for (int k_step = 0; k_step < 2; ++k_step) {
            const int k = thread / 32 + k_step * 8;
            const int j = thread % 32;
            b_s[k * 32 + j] = b[(p * 16 + k) * N + bx * 32 + j];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; ++k) {
            // each ty of the thread's items
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 16 + ty_step * 16;
                a_s_ty[ty_step] = a_s[ty * 16 + k];
            }
            // each tx of the thread's items
            #pragma unroll
            for (int tx_step = 0; tx_step < 2; ++tx_step) {
                const int tx = thread % 16 + tx_step * 16;
                b_s_tx[tx_step] = b_s[k * 32 + tx];
            }
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                #pragma unroll
                for (int tk_tx_step = 0; tk_tx_step < 2; ++tk_tx_step) {
                    const int tx_step = ty_step % 2 ? 1 - tk_tx_step : tk_tx_step;
                    acc[ty_step * 2 + tx_step] = __fmaf_rn(a_s_ty[ty_step], b_s_tx[tx_step], acc[ty_step * 2 + tx_step]);
                }
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 2; ++tx_step) {
            const int ty = thread / 16 + ty_step * 16;
            const int tx = thread % 16 + tx_step * 16;
            c[(by * 64 + ty) * N + bx * 32 + tx] = acc[ty_step * 2 + tx_step];
        }
    }
}
