// Neighbouring elements that one instruction moves, aligned to their size.
template <class T, int N> struct __align__(sizeof(T) * N) tk_vector { T lane[N]; };
template <int N, class T> __device__ __forceinline__ tk_vector<T, N>& tk_at(T* place) {
    return *reinterpret_cast<tk_vector<T, N>*>(place);
}
template <int N, class T> __device__ __forceinline__ const tk_vector<T, N>& tk_at(const T* place) {
    return *reinterpret_cast<const tk_vector<T, N>*>(place);
}
template <class T, int N> __device__ __forceinline__ tk_vector<T, N> tk_fill(T value) {
    tk_vector<T, N> all;
    #pragma unroll
    for (int i = 0; i < N; ++i) {
        all.lane[i] = value;
    }
    return all;
}
// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}

extern "C" __global__ void __launch_bounds__(64) matmul(
    const float* __restrict__ a, // M x K
    const float* __restrict__ b, // K x N
    float* __restrict__ c, // M x N
    const int M,
    const int K,
    const int N
) {
    __shared__ __align__(16) float a_s[1024]; // tile 32 x 32
    __shared__ __align__(16) float b_s[1024]; // tile 32 x 32
    const unsigned int tk_rows = tk_ceil_div(M, 32);
    const unsigned int tk_columns = tk_ceil_div(N, 32);
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
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 4; ++tx_step) {
            acc[ty_step * 4 + tx_step] = 0.0f;
        }
    }
    // phase p
    #pragma unroll 1
    for (int p = 0; p < tk_ceil_div(K, 32); ++p) {
        // (i, k) of 32 x 32, shared out over the block
        #pragma unroll
        for (int i_step = 0; i_step < 16; ++i_step) {
            const int i = thread / 32 + i_step * 2;
            const int k = thread % 32;
            a_s[i * 32 + k] = a[(by * 32 + i) * K + p * 32 + k];
        }
        // (k, j) of 32 x 32, shared out over the block
        #pragma unroll
        for (int k_step = 0; k_step < 16; ++k_step) {
            const int k = thread / 32 + k_step * 2;
            const int j = thread % 32;
            b_s[k * 32 + j] = b[(p * 32 + k) * N + bx * 32 + j];
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; ++k) {
            // each ty of the thread's items
            #pragma unroll
            for (int ty_step = 0; ty_step < 4; ++ty_step) {
                const int ty = thread / 8 * 4 + ty_step;
                a_s_ty[ty_step] = a_s[ty * 32 + k];
            }
            // each tx of the thread's items
            {
                const int tx = thread % 8 * 4;
                const tk_vector<float, 4> tk_b_s_x4 = tk_at<4>(b_s + k * 32 + tx);
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    b_s_tx[tk_lane] = tk_b_s_x4.lane[tk_lane];
                }
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
        __syncthreads();
    }
    #pragma unroll
    for (int ty_step = 0; ty_step < 4; ++ty_step) {
        const int ty = thread / 8 * 4 + ty_step;
        const int tx = thread % 8 * 4;
        tk_vector<float, 4> tk_c_x4;
        #pragma unroll
        for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
            tk_c_x4.lane[tk_lane] = acc[ty_step * 4 + tk_lane];
        }
        tk_at<4>(c + (by * 32 + ty) * N + bx * 32 + tx) = tk_c_x4;
    }
}
