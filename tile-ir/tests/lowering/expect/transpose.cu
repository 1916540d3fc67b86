// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}

extern "C" __global__ void __launch_bounds__(256) transpose(
    const float* __restrict__ a, // R x C
    float* __restrict__ b, // C x R
    const int R,
    const int C
) {
    __shared__ __align__(16) float s[1056]; // tile 32 x 32, strides 33 and 1
    const unsigned int tk_rows = tk_ceil_div(R, 32);
    const unsigned int tk_columns = tk_ceil_div(C, 32);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    // (i, j) of 32 x 32, shared out over the block
    #pragma unroll
    for (int i_step = 0; i_step < 4; ++i_step) {
        const int i = thread / 32 + i_step * 8;
        const int j = thread % 32;
        s[i * 33 + j] = (by * 32 + i < R && bx * 32 + j < C) ? a[(by * 32 + i) * C + bx * 32 + j] : 0.0f;
    }
    __syncthreads();
    // (j, i) of 32 x 32, shared out over the block
    #pragma unroll
    for (int j_step = 0; j_step < 4; ++j_step) {
        const int j = thread / 32 + j_step * 8;
        const int i = thread % 32;
        if (bx * 32 + j < C && by * 32 + i < R) {
            b[(bx * 32 + j) * R + by * 32 + i] = s[i * 33 + j];
        }
    }
}
