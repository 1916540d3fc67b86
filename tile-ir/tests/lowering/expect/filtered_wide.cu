// An array that a launch carries in its parameters, which lie in constant memory.
template <class T, int N>
struct __align__(16) tk_constant {
    T elems[N];
};
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
    float sum[4];
    float weights_s_next;
    #pragma unroll
    for (int tx_step = 0; tx_step < 4; ++tx_step) {
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
        // j of 4, shared out over the block
        if (thread < 4) {
            const int j = thread;
            weights_s_next = weights.elems[(p < 2 - 1 ? p + 1 : p) * 4 + j];
        }
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            #pragma unroll
            for (int tx_step = 0; tx_step < 4; ++tx_step) {
                const int tx = thread * 4 + tx_step;
                sum[tx_step] = __fmaf_rn(weights_s[stage * 4 + j], bx * 128 + tx + j < N ? x[bx * 128 + tx + j] : 0.0f, sum[tx_step]);
            }
        }
        // j of 4, shared out over the block
        if (thread < 4) {
            const int j = thread;
            weights_s[(1 - stage) * 4 + j] = weights_s_next;
        }
        stage = 1 - stage;
    }
    __syncthreads();
    {
        const int tx = thread * 4;
        const tk_vector<float, 4> tk_offsets_x4 = tk_at<4>(offsets + bx * 128 + tx);
        tk_vector<float, 4> tk_y_x4;
        #pragma unroll
        for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
            tk_y_x4.lane[tk_lane] = __fmaf_rn(tk_offsets_x4.lane[tk_lane], weights.elems[4 + 3], sum[tk_lane]);
        }
        tk_at<4>(y + bx * 128 + tx) = tk_y_x4;
    }
}
