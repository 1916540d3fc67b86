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
// Begins a copy from global to shared memory; zeros where not `valid`.
template <int BYTES> __device__ __forceinline__ void tk_copy_async(void* to, const void* from, bool valid) {
    const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to);
    const int n = valid ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(n) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(from), "n"(BYTES), "r"(n) : "memory");
    }
}
// As `tk_copy_async` where `cond` holds; a predicate of the instruction.
template <int BYTES> __device__ __forceinline__ void tk_copy_async_if(
    bool cond, void* to, const void* from, bool valid
) {
    const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to);
    const int n = valid ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %3, 0; @p cp.async.cg.shared.global [%0], [%1], 16, %2; }" ::"r"(shared),
            "l"(from), "r"(n), "r"((int)cond) : "memory"
        );
    } else {
        asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %4, 0; @p cp.async.ca.shared.global [%0], [%1], %2, %3; }" ::"r"(shared),
            "l"(from), "n"(BYTES), "r"(n), "r"((int)cond) : "memory"
        );
    }
}
__device__ __forceinline__ void tk_commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for all but the newest `PENDING` groups of copies.
template <int PENDING> __device__ __forceinline__ void tk_wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}

extern "C" __global__ void __launch_bounds__(128) matmul(
    const float* __restrict__ a, // M x K
    const float* __restrict__ b, // K x N
    float* __restrict__ c, // M x N
    const int M,
    const int K,
    const int N
) {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    float* const a_s = reinterpret_cast<float*>(shared_memory); // tile 64 x 16, strides 1 and 68, 2 buffers
    float* const b_s = reinterpret_cast<float*>(shared_memory + 8704); // tile 16 x 32, 2 buffers
    float* const acc_parts = reinterpret_cast<float*>(shared_memory); // tile 1 x 64 x 32, in the place of a_s
    const unsigned int tk_rows = tk_ceil_div(M, 64);
    const unsigned int tk_columns = tk_ceil_div(N, 32);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    float acc[32];
    float a_s_slice_ty[8];
    float b_s_slice_tx[4];
    float a_s_next[8];
    #pragma unroll
    for (int ty_step_2 = 0; ty_step_2 < 2; ++ty_step_2) {
        #pragma unroll
        for (int ty_step = 0; ty_step < 4; ++ty_step) {
            #pragma unroll
            for (int tx_step = 0; tx_step < 4; ++tx_step) {
                acc[ty_step_2 * 16 + ty_step * 4 + tx_step] = 0.0f;
            }
        }
    }
    if (0 < tk_ceil_div(K, 16)) {
        // (i, k) of 64 x 16, shared out over the block
        #pragma unroll
        for (int i_step = 0; i_step < 2; ++i_step) {
            const int i = thread / 4 + i_step * 32;
            const int k = thread % 4 * 4;
            const tk_vector<float, 4> tk_a_x4 = tk_at<4>(a + (by * 64 + i) * K + k);
            #pragma unroll
            for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                a_s[i + (k + tk_lane) * 68] = tk_a_x4.lane[tk_lane];
            }
        }
        // (k, j) of 16 x 32, shared out over the block
        {
            const int k = thread / 8;
            const int j = thread % 8 * 4;
            tk_copy_async<16>(b_s + k * 32 + j, b + k * N + bx * 32 + j, true);
        }
    }
    tk_commit_copies();
    int stage = 0;
    // phase p
    #pragma unroll 1
    for (int p = 0; p < tk_ceil_div(K, 16); ++p) {
        tk_wait_for_copies<0>();
        __syncthreads();
        // (k, j) of 16 x 32, shared out over the block
        {
            const int k = thread / 8;
            const int j = thread % 8 * 4;
            tk_copy_async_if<16>(p < tk_ceil_div(K, 16) - 1, b_s + (1 - stage) * 512 + k * 32 + j, b + ((p + 1) * 16 + k) * N + bx * 32 + j, true);
        }
        tk_commit_copies();
        if (p < tk_ceil_div(K, 16) - 1) {
            // (i, k) of 64 x 16, shared out over the block
            #pragma unroll
            for (int i_step = 0; i_step < 2; ++i_step) {
                const int i = thread / 4 + i_step * 32;
                const int k = thread % 4 * 4;
                const tk_vector<float, 4> tk_a_x4 = tk_at<4>(a + (by * 64 + i) * K + (p + 1) * 16 + k);
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    a_s_next[i_step * 4 + tk_lane] = tk_a_x4.lane[tk_lane];
                }
            }
        }
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            // each (slice, ty) of the thread's items
            #pragma unroll
            for (int ty_step_2 = 0; ty_step_2 < 2; ++ty_step_2) {
                const int slice = thread / 64;
                const int ty = thread / 8 % 8 * 4 + ty_step_2 * 32;
                const tk_vector<float, 4> tk_a_s_x4 = tk_at<4>(a_s + stage * 1088 + ty + (slice * 8 + k) * 68);
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    a_s_slice_ty[ty_step_2 * 4 + tk_lane] = tk_a_s_x4.lane[tk_lane];
                }
            }
            // each (slice, tx) of the thread's items
            {
                const int slice = thread / 64;
                const int tx = thread % 8 * 4;
                const tk_vector<float, 4> tk_b_s_x4 = tk_at<4>(b_s + stage * 512 + (slice * 8 + k) * 32 + tx);
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    b_s_slice_tx[tk_lane] = tk_b_s_x4.lane[tk_lane];
                }
            }
            #pragma unroll
            for (int ty_step_2 = 0; ty_step_2 < 2; ++ty_step_2) {
                #pragma unroll
                for (int ty_step = 0; ty_step < 4; ++ty_step) {
                    #pragma unroll
                    for (int tk_tx_step = 0; tk_tx_step < 4; ++tk_tx_step) {
                        const int tx_step = ty_step % 2 ? 3 - tk_tx_step : tk_tx_step;
                        acc[ty_step_2 * 16 + ty_step * 4 + tx_step] = __fmaf_rn(a_s_slice_ty[ty_step_2 * 4 + ty_step], b_s_slice_tx[tx_step], acc[ty_step_2 * 16 + ty_step * 4 + tx_step]);
                    }
                }
            }
        }
        if (p < tk_ceil_div(K, 16) - 1) {
            // (i, k) of 64 x 16, shared out over the block
            #pragma unroll
            for (int i_step = 0; i_step < 2; ++i_step) {
                #pragma unroll
                for (int k_step = 0; k_step < 4; ++k_step) {
                    const int i = thread / 4 + i_step * 32;
                    const int k = thread % 4 * 4 + k_step;
                    a_s[(1 - stage) * 1088 + i + k * 68] = a_s_next[i_step * 4 + k_step];
                }
            }
        }
        stage = 1 - stage;
    }
    __syncthreads();
    #pragma unroll
    for (int ty_step_2 = 0; ty_step_2 < 2; ++ty_step_2) {
        #pragma unroll
        for (int ty_step = 0; ty_step < 4; ++ty_step) {
            const int slice = thread / 64;
            const int ty = thread / 8 % 8 * 4 + ty_step + ty_step_2 * 32;
            const int tx = thread % 8 * 4;
            if (slice > 0) {
                tk_vector<float, 4> tk_acc_parts_x4;
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    tk_acc_parts_x4.lane[tk_lane] = acc[ty_step_2 * 16 + ty_step * 4 + tk_lane];
                }
                tk_at<4>(acc_parts + (slice - 1) * 2048 + ty * 32 + tx) = tk_acc_parts_x4;
            }
        }
    }
    __syncthreads();
    #pragma unroll
    for (int ty_step_2 = 0; ty_step_2 < 2; ++ty_step_2) {
        #pragma unroll
        for (int ty_step = 0; ty_step < 4; ++ty_step) {
            const int slice = thread / 64;
            const int ty = thread / 8 % 8 * 4 + ty_step + ty_step_2 * 32;
            const int tx = thread % 8 * 4;
            if (slice == 0) {
                const tk_vector<float, 4> tk_acc_parts_x4 = tk_at<4>(acc_parts + ty * 32 + tx);
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    acc[ty_step_2 * 16 + ty_step * 4 + tk_lane] = acc[ty_step_2 * 16 + ty_step * 4 + tk_lane] + tk_acc_parts_x4.lane[tk_lane];
                }
                tk_vector<float, 4> tk_c_x4;
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 4; ++tk_lane) {
                    tk_c_x4.lane[tk_lane] = acc[ty_step_2 * 16 + ty_step * 4 + tk_lane];
                }
                tk_at<4>(c + (by * 64 + ty) * N + bx * 32 + tx) = tk_c_x4;
            }
        }
    }
}
