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
