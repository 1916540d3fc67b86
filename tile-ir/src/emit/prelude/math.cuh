// The part behind the point, exact; and 1 or -1 by the sign, of integers 0 of 0.
__device__ __forceinline__ float tk_fract(float x) { return x - truncf(x); }
__device__ __forceinline__ double tk_fract(double x) { return x - trunc(x); }
template <class T> __device__ __forceinline__ T tk_signum(T x) {
    return (T)((x > (T)0 ? 1 : 0) - (x < (T)0 ? 1 : 0));
}
template <> __device__ __forceinline__ float tk_signum(float x) {
    return x != x ? x : copysignf(1.0f, x);
}
template <> __device__ __forceinline__ double tk_signum(double x) {
    return x != x ? x : copysign(1.0, x);
}
