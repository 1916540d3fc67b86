// Division is total: x / 0 and x % 0 are 0, and the smallest value / -1 wraps.
template <class T> __device__ __forceinline__ T tk_div(T a, T b) {
    if (b == 0) { return 0; }
    if ((T)-1 < (T)0 && b == (T)-1) { return (T)(0ull - (unsigned long long)a); }
    return (T)(a / b);
}
template <class T> __device__ __forceinline__ T tk_rem(T a, T b) {
    if (b == 0 || ((T)-1 < (T)0 && b == (T)-1)) { return 0; }
    return (T)(a % b);
}
