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

extern "C" __global__ void __launch_bounds__(64) add(
    const float* __restrict__ a, // N
    const float* __restrict__ b, // N
    float* __restrict__ c, // N
    const int N
) {
    const int bx = blockIdx.x;
    const int thread = threadIdx.x;
    if (thread < 8) {
        const int tx = thread * 4;
        int i[4];
        #pragma unroll
        for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
            i[tk_lane] = bx * 32 + tx + tk_lane;
        }
        const tk_vector<float, 4> tk_a_x4 = tk_at<4>(a + i[0]);
        const tk_vector<float, 4> tk_b_x4 = tk_at<4>(b + i[0]);
        tk_vector<float, 4> tk_c_x4;
        #pragma unroll
        for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
            tk_c_x4.lane[tk_lane] = tk_a_x4.lane[tk_lane] + tk_b_x4.lane[tk_lane];
        }
        tk_at<4>(c + i[0]) = tk_c_x4;
    }
}
