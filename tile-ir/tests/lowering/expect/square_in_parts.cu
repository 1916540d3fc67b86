// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}

extern "C" __global__ void __launch_bounds__(256) square(
    const float* __restrict__ a, // N x N
    const float* __restrict__ b, // N x N
    float* __restrict__ c, // N x N
    const int N
) {
    __shared__ __align__(16) float a_s[2048]; // tile 64 x 16, 2 buffers
    __shared__ __align__(16) float b_s[2048]; // tile 16 x 64, 2 buffers
    const unsigned int tk_rows = tk_ceil_div(N, 64);
    const unsigned int tk_columns = tk_ceil_div(N, 64);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    float acc[16];
    float a_s_ty[4];
    float b_s_tx[4];
    float a_s_next[4];
    float b_s_next[4];
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 4; ++tx_step) {
            acc[ty_step * 4 + tx_step] = 0.0f;
        }
    }
    if (0 < tk_ceil_div(N, 64) * 4) {
        // (ty, tx) of 64 x 16, shared out over the block
        #pragma unroll
        for (int ty_step = 0; ty_step < 4; ++ty_step) {
            const int ty = thread / 16 + ty_step * 16;
            const int tx = thread % 16;
            a_s[ty * 16 + tx] = (by * 64 + ty < N && tx < N) ? a[(by * 64 + ty) * N + tx] : 0.0f;
        }
        // (ty, tx) of 16 x 64, shared out over the block
        #pragma unroll
        for (int ty_step = 0; ty_step < 4; ++ty_step) {
            const int ty = thread / 64 + ty_step * 4;
            const int tx = thread % 64;
            b_s[ty * 64 + tx] = (ty < N && bx * 64 + tx < N) ? b[ty * N + bx * 64 + tx] : 0.0f;
        }
    }
    int stage = 0;
    // phase p
    {
        const int tk_end2 = tk_ceil_div(N, 64) * 4;
        #pragma unroll 1
        for (int p = 0; p < tk_end2; ++p) {
            __syncthreads();
            // (ty, tx) of 64 x 16, shared out over the block
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 16 + ty_step * 16;
                const int tx = thread % 16;
                a_s_next[ty_step] = (by * 64 + ty < N && (p < tk_ceil_div(N, 64) * 4 - 1 ? p + 1 : p) * 16 + tx < N) ? a[(by * 64 + ty) * N + (p < tk_ceil_div(N, 64) * 4 - 1 ? p + 1 : p) * 16 + tx] : 0.0f;
            }
            // (ty, tx) of 16 x 64, shared out over the block
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 64 + ty_step * 4;
                const int tx = thread % 64;
                b_s_next[ty_step] = ((p < tk_ceil_div(N, 64) * 4 - 1 ? p + 1 : p) * 16 + ty < N && bx * 64 + tx < N) ? b[((p < tk_ceil_div(N, 64) * 4 - 1 ? p + 1 : p) * 16 + ty) * N + bx * 64 + tx] : 0.0f;
            }
            #pragma unroll
            for (int k = 0; k < 16; ++k) {
                // each ty of the thread's items
                #pragma unroll
                for (int ty_step = 0; ty_step < 4; ++ty_step) {
                    const int ty = thread / 16 + ty_step * 16;
                    a_s_ty[ty_step] = a_s[stage * 1024 + ty * 16 + k];
                }
                // each tx of the thread's items
                #pragma unroll
                for (int tx_step = 0; tx_step < 4; ++tx_step) {
                    const int tx = thread % 16 + tx_step * 16;
                    b_s_tx[tx_step] = b_s[stage * 1024 + k * 64 + tx];
                }
                #pragma unroll
                for (int ty_step = 0; ty_step < 4; ++ty_step) {
                    #pragma unroll
                    for (int tk_tx_step = 0; tk_tx_step < 4; ++tk_tx_step) {
                        const int tx_step = ty_step % 2 ? 3 - tk_tx_step : tk_tx_step;
                        acc[ty_step * 4 + tx_step] = __fmaf_rn(a_s_ty[ty_step], b_s_tx[tx_step], acc[ty_step * 4 + tx_step]);
                    }
                }
            }
            // (ty, tx) of 64 x 16, shared out over the block
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 16 + ty_step * 16;
                const int tx = thread % 16;
                a_s[(1 - stage) * 1024 + ty * 16 + tx] = a_s_next[ty_step];
            }
            // (ty, tx) of 16 x 64, shared out over the block
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 64 + ty_step * 4;
                const int tx = thread % 64;
                b_s[(1 - stage) * 1024 + ty * 64 + tx] = b_s_next[ty_step];
            }
            stage = 1 - stage;
        }
    }
    __syncthreads();
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 4; ++tx_step) {
            const int ty = thread / 16 + ty_step * 16;
            const int tx = thread % 16 + tx_step * 16;
            if (by * 64 + ty < N && bx * 64 + tx < N) {
                c[(by * 64 + ty) * N + bx * 64 + tx] = acc[ty_step * 4 + tx_step];
            }
        }
    }
}
