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

extern "C" __global__ void __launch_bounds__(256) transpose(
    const float* __restrict__ a, // R x C
    float* __restrict__ b, // C x R
    const int R,
    const int C
) {
    __shared__ __align__(16) float s[2336]; // tile 72 x 32, strides 1 and 73
    const unsigned int tk_rows = tk_ceil_div(R, 64);
    const unsigned int tk_columns = tk_ceil_div(C, 32);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    if (by * 64 + 71 < R && bx * 32 + 31 < C) {
        // (i, j) of 72 x 32, shared out over the block
        #pragma unroll
        for (int i_step = 0; i_step < 9; ++i_step) {
            const int i = thread / 32 + i_step * 8;
            const int j = thread % 32;
            s[i + j * 73] = a[(by * 64 + i) * C + bx * 32 + j];
        }
    } else {
        // (i, j) of 72 x 32, shared out over the block
        #pragma unroll
        for (int i_step = 0; i_step < 9; ++i_step) {
            const int i = thread / 32 + i_step * 8;
            const int j = thread % 32;
            s[i + j * 73] = (by * 64 + i < R && bx * 32 + j < C) ? a[(by * 64 + i) * C + bx * 32 + j] : 0.0f;
        }
    }
    __syncthreads();
    if (bx * 32 + 31 < C && by * 64 + 70 < R) {
        // (j, i) of 32 x 64, shared out over the block
        #pragma unroll
        for (int j_step = 0; j_step < 2; ++j_step) {
            const int j = thread / 8 % 4 + thread / 64 * 4 + j_step * 16;
            const int i = thread % 8 * 4 + thread / 32 % 2 * 32;
            const int shift = -((bx * 32 + j) * R + by * 64) & 7;
            tk_vector<float, 4> tk_b_x4;
            #pragma unroll
            for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                tk_b_x4.lane[tk_lane] = s[shift + i + tk_lane + j * 73];
            }
            tk_at<4>(b + (bx * 32 + j) * R + by * 64 + shift + i) = tk_b_x4;
        }
    } else {
        // (j, i) of 32 x 64, shared out over the block
        #pragma unroll
        for (int j_step = 0; j_step < 8; ++j_step) {
            const int j = thread / 64 + j_step * 4;
            const int i = thread % 64;
            const int shift = -((bx * 32 + j) * R + by * 64) & 7;
            if (bx * 32 + j < C && by * 64 + shift + i < R) {
                b[(bx * 32 + j) * R + by * 64 + shift + i] = s[shift + i + j * 73];
            }
        }
    }
    if (by == 0) {
        // (j, i) of 32 x 8, shared out over the block
        {
            const int j = thread / 8;
            const int i = thread % 8;
            const int shift = -((bx * 32 + j) * R + by * 64) & 7;
            if (i < shift) {
                if (bx * 32 + j < C && by * 64 + i < R) {
                    b[(bx * 32 + j) * R + by * 64 + i] = s[i + j * 73];
                }
            }
        }
    }
}
