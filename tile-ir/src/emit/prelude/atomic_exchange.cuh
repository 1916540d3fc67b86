// Values change places as their bits.
__device__ __forceinline__ unsigned int tk_to_bits(int x) { return (unsigned int)x; }
__device__ __forceinline__ unsigned int tk_to_bits(unsigned int x) { return x; }
__device__ __forceinline__ unsigned int tk_to_bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned long long tk_to_bits(long long x) {
    return (unsigned long long)x;
}
__device__ __forceinline__ unsigned long long tk_to_bits(unsigned long long x) { return x; }
__device__ __forceinline__ unsigned long long tk_to_bits(double x) {
    return (unsigned long long)__double_as_longlong(x);
}
template <class T, class B> __device__ __forceinline__ T tk_of_bits(T*, B bits) { return (T)bits; }
__device__ __forceinline__ float tk_of_bits(float*, unsigned int bits) {
    return __uint_as_float(bits);
}
__device__ __forceinline__ double tk_of_bits(double*, unsigned long long bits) {
    return __longlong_as_double((long long)bits);
}
template <class T> __device__ __forceinline__ T tk_atomic_swap(T* at, T x) {
    return tk_of_bits(at, atomicExch(tk_bits(at), tk_to_bits(x)));
}
template <class T>
__device__ __forceinline__ T tk_atomic_compare_exchange(T* at, T expected, T x) {
    return tk_of_bits(at, atomicCAS(tk_bits(at), tk_to_bits(expected), tk_to_bits(x)));
}
