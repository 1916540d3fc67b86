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

extern "C" __global__ void __launch_bounds__(64) saxpy(
    const double* __restrict__ x, // N
    double* __restrict__ y, // N
    const double alpha,
    const int N
) {
    const int bx = blockIdx.x;
    const int thread = threadIdx.x;
    if (thread < 8) {
        #pragma unroll
        for (int tx_step = 0; tx_step < 4; tx_step += 2) {
            const int tx = thread * 4 + tx_step;
            int i[2];
            #pragma unroll
            for (int tk_lane = 0; tk_lane < 2; ++tk_lane) {
                i[tk_lane] = bx * 32 + tx + tk_lane;
            }
            const tk_vector<double, 2> tk_x_x2 = tk_at<2>(x + i[0]);
            const tk_vector<double, 2> tk_y_x2 = tk_at<2>(y + i[0]);
            tk_vector<double, 2> tk_y_x2_2;
            #pragma unroll
            for (int tk_lane = 0; tk_lane < 2; ++tk_lane) {
                tk_y_x2_2.lane[tk_lane] = __fma_rn(alpha, tk_x_x2.lane[tk_lane], tk_y_x2.lane[tk_lane]);
            }
            tk_at<2>(y + i[0]) = tk_y_x2_2;
        }
    }
}
