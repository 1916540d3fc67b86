// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}
// Iterations from start in steps of step below end.
template <class T> __device__ __forceinline__ T tk_trips(T start, T end, T step) {
    return step <= 0 ? 0 : tk_ceil_div<T>(end - start, step);
}
extern "C" __global__ void __launch_bounds__(256)
matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, const int M, const int K, const int N)
{
    __shared__ __align__(16) float a_s[1024]; // tile 64 x 16
    __shared__ __align__(16) float b_s[512]; // tile 16 x 32
    unsigned int block_number = blockIdx.x;
    const unsigned int tk_rows = (unsigned int)tk_ceil_div<int>(M, 64);
    const unsigned int tk_columns = (unsigned int)tk_ceil_div<int>(N, 32);
    unsigned int tk_plane = block_number / (tk_rows * tk_columns);
    block_number %= tk_rows * tk_columns;
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = block_number / (8u * tk_columns) * 8u;
    const unsigned int tk_band = tk_rows - tk_first < 8u ? tk_rows - tk_first : 8u;
    block_number -= tk_first * tk_columns;
    const int by = (int)(tk_first + block_number % tk_band);
    const int bx = (int)(block_number / tk_band);
    float acc[8];
    {
        const int tk_ty_of_thread = (int)threadIdx.x / 16;
        const int tk_tx_of_thread = (int)threadIdx.x % 16;
        #pragma unroll
        for (int tk_r1 = 0; tk_r1 < 4; ++tk_r1) {
            #pragma unroll
            for (int tk_r0 = 0; tk_r0 < 2; ++tk_r0) {
                const int ty = tk_ty_of_thread + tk_r1 * 16;
                const int tx = tk_tx_of_thread + tk_r0 * 16;
                acc[tk_r0 + tk_r1 * 2] = 0.0f;
            }
        }
    }
    #pragma unroll 1
    for (int p = 0; p < tk_ceil_div<int>(K, 16); ++p) {
        {
            const int tk_i_of_thread = (int)threadIdx.x / 16;
            const int tk_k_of_thread = (int)threadIdx.x % 16;
            #pragma unroll
            for (int tk_r0 = 0; tk_r0 < 4; ++tk_r0) {
                const int i = tk_i_of_thread + tk_r0 * 16;
                const int k = tk_k_of_thread;
                a_s[i * 16 + k] = a[(by * 64 + i) * K + p * 16 + k];
            }
        }
        {
            const int tk_k_of_thread = (int)threadIdx.x / 32;
            const int tk_j_of_thread = (int)threadIdx.x % 32;
            #pragma unroll
            for (int tk_r0 = 0; tk_r0 < 2; ++tk_r0) {
                const int k = tk_k_of_thread + tk_r0 * 8;
                const int j = tk_j_of_thread;
                b_s[k * 32 + j] = b[(p * 16 + k) * N + bx * 32 + j];
            }
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 16; ++k) {
            {
                const int tk_ty_of_thread = (int)threadIdx.x / 16;
                const int tk_tx_of_thread = (int)threadIdx.x % 16;
                #pragma unroll
                for (int tk_r1 = 0; tk_r1 < 4; ++tk_r1) {
                    #pragma unroll
                    for (int tk_r0 = 0; tk_r0 < 2; ++tk_r0) {
                        const int ty = tk_ty_of_thread + tk_r1 * 16;
                        const int tx = tk_tx_of_thread + tk_r0 * 16;
                        acc[tk_r0 + tk_r1 * 2] = __fmaf_rn(a_s[ty * 16 + k], b_s[k * 32 + tx], acc[tk_r0 + tk_r1 * 2]);
                    }
                }
            }
        }
        __syncthreads();
    }
    {
        const int tk_ty_of_thread = (int)threadIdx.x / 16;
        const int tk_tx_of_thread = (int)threadIdx.x % 16;
        #pragma unroll
        for (int tk_r1 = 0; tk_r1 < 4; ++tk_r1) {
            #pragma unroll
            for (int tk_r0 = 0; tk_r0 < 2; ++tk_r0) {
                const int ty = tk_ty_of_thread + tk_r1 * 16;
                const int tx = tk_tx_of_thread + tk_r0 * 16;
                c[(by * 64 + ty) * N + bx * 32 + tx] = acc[tk_r0 + tk_r1 * 2];
            }
        }
    }
}
