// What is there may change between the read and the exchange; then try again.
template <class T> __device__ __forceinline__ T tk_atomic_min(T* at, T x) {
    return atomicMin(at, x);
}
template <class T> __device__ __forceinline__ T tk_atomic_max(T* at, T x) {
    return atomicMax(at, x);
}
template <> __device__ __forceinline__ float tk_atomic_min(float* at, float x) {
    unsigned int seen = *tk_bits(at), tried;
    do {
        tried = seen;
        seen = atomicCAS(tk_bits(at), tried, __float_as_uint(tk_min(__uint_as_float(tried), x)));
    } while (seen != tried);
    return __uint_as_float(seen);
}
template <> __device__ __forceinline__ float tk_atomic_max(float* at, float x) {
    unsigned int seen = *tk_bits(at), tried;
    do {
        tried = seen;
        seen = atomicCAS(tk_bits(at), tried, __float_as_uint(tk_max(__uint_as_float(tried), x)));
    } while (seen != tried);
    return __uint_as_float(seen);
}
template <> __device__ __forceinline__ double tk_atomic_min(double* at, double x) {
    unsigned long long seen = *tk_bits(at), tried;
    do {
        tried = seen;
        const double least = tk_min(__longlong_as_double((long long)tried), x);
        seen = atomicCAS(tk_bits(at), tried, (unsigned long long)__double_as_longlong(least));
    } while (seen != tried);
    return __longlong_as_double((long long)seen);
}
template <> __device__ __forceinline__ double tk_atomic_max(double* at, double x) {
    unsigned long long seen = *tk_bits(at), tried;
    do {
        tried = seen;
        const double most = tk_max(__longlong_as_double((long long)tried), x);
        seen = atomicCAS(tk_bits(at), tried, (unsigned long long)__double_as_longlong(most));
    } while (seen != tried);
    return __longlong_as_double((long long)seen);
}
