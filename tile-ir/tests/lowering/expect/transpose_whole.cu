// 16-bit floats are carried as their bits; arithmetic is done in float and rounded once.
struct tk_f16 { unsigned short bits; };
struct tk_bf16 { unsigned short bits; };

__device__ __forceinline__ float tk_float(tk_f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
__device__ __forceinline__ float tk_float(tk_bf16 x) {
    return __uint_as_float((unsigned int)x.bits << 16);
}
__device__ __forceinline__ tk_f16 tk_f16_of(float x) {
    tk_f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
__device__ __forceinline__ tk_bf16 tk_bf16_of(float x) {
    const unsigned int bits = __float_as_uint(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return tk_bf16{(unsigned short)((bits >> 16) | 0x40u)};
    }
    return tk_bf16{(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}
// The float nearest to zero with a sticky last bit: rounding it again rounds x once.
__device__ __forceinline__ float tk_to_odd(double x) {
    const float y = __double2float_rz(x);
    return (double)y == x || x != x ? y : __uint_as_float(__float_as_uint(y) | 1u);
}
__device__ __forceinline__ tk_f16 tk_f16_of(double x) { return tk_f16_of(tk_to_odd(x)); }
__device__ __forceinline__ tk_bf16 tk_bf16_of(double x) { return tk_bf16_of(tk_to_odd(x)); }
__device__ __forceinline__ double tk_odd_double(long long x) {
    const double y = __ll2double_rz(x);
    return (long long)y == x ? y : __longlong_as_double(__double_as_longlong(y) | 1LL);
}
__device__ __forceinline__ double tk_odd_double(unsigned long long x) {
    const double y = __ull2double_rz(x);
    return (unsigned long long)y == x ? y : __longlong_as_double(__double_as_longlong(y) | 1LL);
}
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
    const tk_f16* __restrict__ a, // R x C
    tk_f16* __restrict__ b, // C x R
    const int R,
    const int C
) {
    __shared__ __align__(16) tk_f16 s[7120]; // tile 80 x 87, strides 89 and 1
    const unsigned int tk_rows = tk_ceil_div(R, 64);
    const unsigned int tk_columns = tk_ceil_div(C, 64);
    // bands of 8 rows of blocks share operands in L2
    const unsigned int tk_first = blockIdx.x / (8 * tk_columns) * 8;
    const unsigned int tk_band = tk_rows - tk_first < 8 ? tk_rows - tk_first : 8;
    const unsigned int tk_within = blockIdx.x - tk_first * tk_columns;
    const int by = tk_first + tk_within % tk_band;
    const int bx = tk_within / tk_band;
    const int thread = threadIdx.x;
    const int lead = (by * 64 * C + bx * 64) & 7;
    const int turn = (C - 89) & 7;
    if (by * 64 + 79 < R && 0 <= bx * 64 + -7 && bx * 64 + 71 < C) {
        // (i, j) of 80 x 72, shared out over the block
        if (thread < 180) {
            #pragma unroll
            for (int i_step = 0; i_step < 4; ++i_step) {
                const int i = thread / 9 + i_step * 20;
                const int j = thread % 9 * 8;
                const int before = (lead + i * (C & 7)) & 7;
                const tk_vector<tk_f16, 8> tk_a_x8 = tk_at<8>(a + (by * 64 + i) * C + bx * 64 + j - before);
                tk_vector<tk_f16, 8> tk_s_x8;
                #pragma unroll
                for (int tk_lane = 0; tk_lane < 8; ++tk_lane) {
                    tk_s_x8.lane[tk_lane] = tk_a_x8.lane[tk_lane];
                }
                tk_at<8>(s + i * 89 + ((lead + i * turn) & 7) + 8 + j - before) = tk_s_x8;
            }
        }
    } else {
        if (by * 64 + 79 < R && bx * 64 + 63 < C) {
            // (i, j) of 80 x 64, shared out over the block
            #pragma unroll
            for (int i_step = 0; i_step < 20; ++i_step) {
                const int i = thread / 64 + i_step * 4;
                const int j = thread % 64;
                s[i * 89 + ((lead + i * turn) & 7) + 8 + j] = a[(by * 64 + i) * C + bx * 64 + j];
            }
        } else {
            // (i, j) of 80 x 64, shared out over the block
            #pragma unroll
            for (int i_step = 0; i_step < 20; ++i_step) {
                const int i = thread / 64 + i_step * 4;
                const int j = thread % 64;
                s[i * 89 + ((lead + i * turn) & 7) + 8 + j] = (by * 64 + i < R && bx * 64 + j < C) ? a[(by * 64 + i) * C + bx * 64 + j] : tk_f16{0x0000};
            }
        }
    }
    __syncthreads();
    if (bx * 64 + 63 < C && by * 64 + 78 < R) {
        // (j, i) of 64 x 64, shared out over the block
        #pragma unroll
        for (int j_step = 0; j_step < 2; ++j_step) {
            const int j = thread / 8 % 4 + thread / 32 * 4 + j_step * 32;
            const int i = thread % 8 * 8;
            const int shift_2 = -((bx * 64 + j) * R + by * 64) & 15;
            tk_vector<tk_f16, 8> tk_b_x8;
            #pragma unroll
            for (int tk_lane = 0; tk_lane < 8; ++tk_lane) {
                tk_b_x8.lane[tk_lane] = s[(shift_2 + i + tk_lane) * 89 + ((lead + (shift_2 + i + tk_lane) * turn) & 7) + 8 + j];
            }
            tk_at<8>(b + (bx * 64 + j) * R + by * 64 + shift_2 + i) = tk_b_x8;
        }
    } else {
        // (j, i) of 64 x 64, shared out over the block
        #pragma unroll
        for (int j_step = 0; j_step < 16; ++j_step) {
            const int j = thread / 64 + j_step * 4;
            const int i = thread % 64;
            const int shift_2 = -((bx * 64 + j) * R + by * 64) & 15;
            if (bx * 64 + j < C && by * 64 + shift_2 + i < R) {
                b[(bx * 64 + j) * R + by * 64 + shift_2 + i] = s[(shift_2 + i) * 89 + ((lead + (shift_2 + i) * turn) & 7) + 8 + j];
            }
        }
    }
    if (by == 0) {
        if (bx * 64 + 63 < C && by * 64 + 15 < R) {
            // (j, i) of 64 x 16, shared out over the block
            #pragma unroll
            for (int j_step = 0; j_step < 4; ++j_step) {
                const int j = thread / 16 + j_step * 16;
                const int i = thread % 16;
                const int shift = -((bx * 64 + j) * R + by * 64) & 15;
                if (i < shift) {
                    b[(bx * 64 + j) * R + by * 64 + i] = s[i * 89 + ((lead + i * turn) & 7) + 8 + j];
                }
            }
        } else {
            // (j, i) of 64 x 16, shared out over the block
            #pragma unroll
            for (int j_step = 0; j_step < 4; ++j_step) {
                const int j = thread / 16 + j_step * 16;
                const int i = thread % 16;
                const int shift = -((bx * 64 + j) * R + by * 64) & 15;
                if (i < shift) {
                    if (bx * 64 + j < C && by * 64 + i < R) {
                        b[(bx * 64 + j) * R + by * 64 + i] = s[i * 89 + ((lead + i * turn) & 7) + 8 + j];
                    }
                }
            }
        }
    }
}
