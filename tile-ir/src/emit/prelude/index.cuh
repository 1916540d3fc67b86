// ceil(n / d), 0 where n is not positive.
template <class T> __device__ __forceinline__ T tk_ceil_div(T n, T d) {
    return n <= 0 || d <= 0 ? 0 : (n - 1) / d + 1;
}
// Iterations from start in steps of step below end.
template <class T> __device__ __forceinline__ T tk_trips(T start, T end, T step) {
    return step <= 0 ? 0 : tk_ceil_div<T>(end - start, step);
}
