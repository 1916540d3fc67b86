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
