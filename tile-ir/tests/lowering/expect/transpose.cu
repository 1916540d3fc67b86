// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}
// Iterations from start in steps of step below end.
template <class T> __device__ __forceinline__ T tk_trips(T start, T end, T step) {
    return step <= 0 ? 0 : tk_ceil_div<T>(end - start, step);
}
extern "C" __global__ void __launch_bounds__(256)
transpose(const float* __restrict__ a, float* __restrict__ b, const int R, const int C)
{
    __shared__ __align__(16) float s[1056]; // tile 32 x 32
    unsigned int block_number = blockIdx.x;
    const unsigned int tk_rows = (unsigned int)tk_ceil_div<int>(R, 32);
    const unsigned int tk_columns = (unsigned int)tk_ceil_div<int>(C, 32);
    unsigned int tk_plane = block_number / (tk_rows * tk_columns);
    block_number %= tk_rows * tk_columns;
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = block_number / (8u * tk_columns) * 8u;
    const unsigned int tk_band = tk_rows - tk_first < 8u ? tk_rows - tk_first : 8u;
    block_number -= tk_first * tk_columns;
    const int by = (int)(tk_first + block_number % tk_band);
    const int bx = (int)(block_number / tk_band);
    {
        const int tk_i_of_thread = (int)threadIdx.x / 32;
        const int tk_j_of_thread = (int)threadIdx.x % 32;
        #pragma unroll
        for (int tk_r0 = 0; tk_r0 < 4; ++tk_r0) {
            const int i = tk_i_of_thread + tk_r0 * 8;
            const int j = tk_j_of_thread;
            s[i * 33 + j] = (by * 32 + i < R && bx * 32 + j < C) ? a[(by * 32 + i) * C + bx * 32 + j] : 0.0f;
        }
    }
    __syncthreads();
    {
        const int tk_j_of_thread = (int)threadIdx.x / 32;
        const int tk_i_of_thread = (int)threadIdx.x % 32;
        #pragma unroll
        for (int tk_r0 = 0; tk_r0 < 4; ++tk_r0) {
            const int j = tk_j_of_thread + tk_r0 * 8;
            const int i = tk_i_of_thread;
            if (bx * 32 + j < C && by * 32 + i < R) { b[(bx * 32 + j) * R + by * 32 + i] = s[i * 33 + j]; }
        }
    }
}
