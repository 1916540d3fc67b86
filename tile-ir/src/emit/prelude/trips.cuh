// Iterations from start in steps of step below end.
template <class T> __device__ __forceinline__ T tk_trips(T start, T end, T step) {
    return step <= 0 ? 0 : tk_ceil_div(end - start, step);
}
