// Integers wrap, so that signed ones are updated as their bits.
__device__ __forceinline__ unsigned int* tk_bits(int* at) {
    return reinterpret_cast<unsigned int*>(at);
}
__device__ __forceinline__ unsigned int* tk_bits(unsigned int* at) { return at; }
__device__ __forceinline__ unsigned int* tk_bits(float* at) {
    return reinterpret_cast<unsigned int*>(at);
}
__device__ __forceinline__ unsigned long long* tk_bits(long long* at) {
    return reinterpret_cast<unsigned long long*>(at);
}
__device__ __forceinline__ unsigned long long* tk_bits(unsigned long long* at) { return at; }
__device__ __forceinline__ unsigned long long* tk_bits(double* at) {
    return reinterpret_cast<unsigned long long*>(at);
}
// All give the value before the update.
template <class T> __device__ __forceinline__ T tk_atomic_add(T* at, T x) {
    return static_cast<T>(atomicAdd(tk_bits(at), static_cast<decltype(*tk_bits(at) + 0)>(x)));
}
template <class T> __device__ __forceinline__ T tk_atomic_sub(T* at, T x) {
    return static_cast<T>(atomicAdd(tk_bits(at), 0 - static_cast<decltype(*tk_bits(at) + 0)>(x)));
}
template <> __device__ __forceinline__ float tk_atomic_add(float* at, float x) {
    return atomicAdd(at, x);
}
template <> __device__ __forceinline__ float tk_atomic_sub(float* at, float x) {
    return atomicAdd(at, -x);
}
template <> __device__ __forceinline__ double tk_atomic_add(double* at, double x) {
    return atomicAdd(at, x);
}
template <> __device__ __forceinline__ double tk_atomic_sub(double* at, double x) {
    return atomicAdd(at, -x);
}
template <class T> __device__ __forceinline__ T tk_atomic_and(T* at, T x) {
    return static_cast<T>(atomicAnd(tk_bits(at), static_cast<decltype(*tk_bits(at) + 0)>(x)));
}
template <class T> __device__ __forceinline__ T tk_atomic_or(T* at, T x) {
    return static_cast<T>(atomicOr(tk_bits(at), static_cast<decltype(*tk_bits(at) + 0)>(x)));
}
template <class T> __device__ __forceinline__ T tk_atomic_xor(T* at, T x) {
    return static_cast<T>(atomicXor(tk_bits(at), static_cast<decltype(*tk_bits(at) + 0)>(x)));
}
